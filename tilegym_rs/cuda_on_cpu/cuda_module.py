"""torch.cuda as tests use it: one device of the target's capability, whose work is done when a call returns."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from tilegym_rs.cuda_on_cpu.patches import Patches

_NAME = "CPU device"


def apply(patches: Patches) -> None:
    """Replaces the functions of torch.cuda that need a driver."""
    for name, value in _functions().items():
        patches.set(torch.cuda, name, value)
    # torch.compile asks torch.accelerator, too, and would then ask a driver for streams and generators.
    patches.set(torch.accelerator, "is_available", lambda: False)
    patches.set(torch.accelerator, "current_accelerator", lambda *_, **__: None)
    patches.set(torch.accelerator, "device_count", lambda: 0)


def capability() -> tuple[int, int]:
    """Compute capability of the target whose bytecode the CPU device gets."""
    import tilegym_rs

    target = tilegym_rs.cpu_target()
    found = re.fullmatch(r"sm_(\d+)(\d)", target)
    if found is None:
        raise ValueError(f"target of the CPU device: wanted one like sm_90, got {target!r}")
    return int(found[1]), int(found[2])


def _functions() -> dict[str, Any]:
    stream = SimpleNamespace(
        cuda_stream=0, **{name: _nothing() for name in ("synchronize", "wait_stream", "wait_event", "record_event")}
    )
    return {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "_lazy_init": _nothing(),
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": _nothing(),
        "get_device_capability": lambda *_: capability(),
        "get_device_name": lambda *_: _NAME,
        "get_device_properties": lambda *_: _properties(),
        "synchronize": _nothing(),
        "empty_cache": _nothing(),
        "manual_seed": lambda seed: torch.default_generator.manual_seed(seed),
        "manual_seed_all": lambda seed: torch.default_generator.manual_seed(seed),
        "get_rng_state": lambda *_: torch.get_rng_state(),
        "set_rng_state": lambda state, *_: torch.set_rng_state(state),
        "current_stream": lambda *_: stream,
        "default_stream": lambda *_: stream,
        "Stream": lambda *_, **__: stream,
        "stream": lambda *_: contextlib.nullcontext(),
        "device": lambda *_: contextlib.nullcontext(),
        "is_current_stream_capturing": lambda: False,
        "mem_get_info": lambda *_: _memory(),
        "reset_peak_memory_stats": _reset_peak,
        "memory_stats": lambda *_: {"allocated_bytes.all.peak": _peak()},
        "max_memory_allocated": lambda *_: _peak(),
        "memory_allocated": lambda *_: _peak(),
    }


def _nothing() -> Callable[..., None]:
    """All work is done already. A function object of its own for each name: torch._dynamo refuses one under two."""
    return lambda *_, **__: None


def _properties() -> SimpleNamespace:
    import tilegym_rs

    major, minor = capability()
    return SimpleNamespace(
        name=_NAME,
        major=major,
        minor=minor,
        multi_processor_count=tilegym_rs.sm_count(-1),
        total_memory=_memory()[1],
        warp_size=32,
    )


def _memory() -> tuple[int, int]:
    """Free and total bytes of the machine."""
    page = os.sysconf("SC_PAGE_SIZE")
    return page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES")


def _status(field: str) -> int:
    for line in _lines(Path("/proc/self/status")):
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def _lines(path: Path) -> Iterator[str]:
    with contextlib.suppress(OSError):
        yield from path.read_text().splitlines()


def _peak() -> int:
    return _status("VmHWM")


def _reset_peak(*_: Any) -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
