"""What happens below a call of an op: launches, compilations, the configuration that its wrapper chose."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

# Keywords of a launch that are, whatever the op, extents of a tile over the trailing dimensions of the result.
_BLOCKS = (("bm", "bn"), ("block_m", "block_n"), ("block_size",), ("tile_size",))


@dataclasses.dataclass
class Observation:
    """Filled while the call runs."""

    launches: int = 0
    compile_ms: float = 0.0
    configuration: dict[str, int] = dataclasses.field(default_factory=dict)
    last_error: str = ""


def block_of(op: str, configuration: Mapping[str, int], inputs: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Extents of a tile block over the trailing dimensions of the op's result; None where nothing tells.

    "comparison" in analysis.json may say it: "block": ["tile_m", "query:4"], entries being numbers, names of what the
    wrapper launches with, or a tensor of the call and one of its dimensions. Else the usual names are known.
    """
    from tilegym_rs.validation import analysis

    stated = analysis.of(op).get("comparison", {}).get("block")
    if stated is None:
        names = next((names for names in _BLOCKS if all(configuration.get(name, 0) > 0 for name in names)), None)
        return tuple(configuration[name] for name in names) if names else None
    try:
        found = tuple(_extent(entry, configuration, inputs) for entry in stated)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    return found if all(extent > 0 for extent in found) else None


def _extent(entry: object, configuration: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    name, _, dimension = str(entry).partition(":")
    if dimension:
        return int(inputs[name].shape[int(dimension)])
    return configuration[name] if name in configuration else int(name)


@contextlib.contextmanager
def observed() -> Iterator[Observation]:
    """Counts what the calls in its body launch and compile."""
    import tilegym_rs

    seen = Observation()
    before = tilegym_rs.counters()
    launches, nanoseconds = int(before.launches), before.compile_nanoseconds
    try:
        yield seen
    finally:
        after = tilegym_rs.counters()
        seen.launches = int(after.launches) - launches
        seen.compile_ms = (after.compile_nanoseconds - nanoseconds) / 1e6
        if seen.launches == 0:
            seen.last_error = tilegym_rs.last_error()


def configuration_of(call: Callable[[], Any]) -> dict[str, int]:
    """The integers that the wrapper launches with, found by a call that launches nothing; empty where it fails.

    The real call goes the way of every other call: it is not watched.
    """
    found: dict[str, int] = {}
    with _replaced(lambda: _Silent(found)), contextlib.suppress(Exception):
        call()
    return found


@contextlib.contextmanager
def _replaced(library: Callable[[], Any]) -> Iterator[None]:
    """Puts another kernel library below the wrappers."""
    from tilegym.backend.cutile_rs import utils

    original = utils.kernel_library
    utils.kernel_library = library
    utils.forget_plans()
    try:
        yield
    finally:
        utils.kernel_library = original
        utils.forget_plans()


class _Silent:
    """A kernel library that only remembers options."""

    def __init__(self, found: dict[str, int]) -> None:
        self._found = found

    def __getattr__(self, op: str) -> Any:
        return lambda *_, **options: self._found.update({k: v for k, v in options.items() if type(v) is int})


def engine_nanoseconds() -> int:
    """The CPU device's clock, summed over its launches; 0 where nothing ran on it."""
    import tilegym_rs

    library = tilegym_rs.library() if int(tilegym_rs.counters().launches) else None
    device = getattr(library, "cpu_device", None)
    return int(device.launch_totals().nanoseconds) if device is not None else 0
