"""Picks the fastest of several configurations of a kernel, once per key and process.

On the CPU device nothing is tuned: its times say nothing about a GPU, so the first configuration is used.
"""

from __future__ import annotations

import functools
import os
import statistics
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from tilegym.autotune import is_autotune_disabled
from tilegym.backend.cutile_rs import utils
from tilegym.logger import get_logger

_logger = get_logger(__name__)

# `tilegym-rs aot` runs programs with it, to learn what they would launch on a GPU.
_RECORDING = bool(os.environ.get("TILEGYM_RS_CACHE_RECORD"))

_cache: dict[tuple[str, Any, str], _Winner] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class TunedResult:
    """What a tuned call returned.

    Attributes:
        best_config: the configuration in use.
        output: what `kernel_fn(best_config)` returned.
        tuning_record: (configuration, median ms) for each that ran; empty where nothing was timed.
        cache_hit: whether the choice had been made before.
        failures: (configuration, reason) for each that could not run.
    """

    best_config: Any
    output: Any
    tuning_record: list[tuple[Any, float]] = field(default_factory=list)
    cache_hit: bool = False
    failures: list[tuple[Any, str]] = field(default_factory=list)


@dataclass(frozen=True)
class _Winner:
    config: Any
    record: list[tuple[Any, float]]
    failures: list[tuple[Any, str]]


def autotune_launch(
    kernel_fn: Callable[[Any], Any],
    configs: Sequence[Any],
    key: Any,
    kernel_name: str = "unknown",
    warmup: int = 2,
    rep: int = 10,
    kernel_filter: object = None,
    *,
    device: torch.device | None = None,
) -> TunedResult:
    """Runs a kernel with the best of `configs`, timing them at the first call for `key` on a GPU.

    Args:
        kernel_fn: launches the kernel with one configuration and returns its output.
        configs: candidates, the one to use untuned first.
        key: whatever decides the choice (shapes, dtypes, strides); the device and the candidates are added to it.
        kernel_name: names the kernel in the cache and in messages.
        warmup: calls before timing, per candidate.
        rep: timed calls per candidate.
        kernel_filter: accepted for callers of the profiler-based tuner, without effect.
        device: the tensors' device; None is the current GPU, or the CPU device where there is none.

    Raises:
        ValueError: `configs` is empty.
        RuntimeError: no candidate ran.
    """
    winner, hit = _choose(kernel_fn, configs, key, kernel_name, warmup, rep, device)
    return TunedResult(winner.config, kernel_fn(winner.config), winner.record, hit, winner.failures)


def choose_config(
    kernel_fn: Callable[[Any], Any],
    configs: Sequence[Any],
    key: Any,
    kernel_name: str = "unknown",
    *,
    device: torch.device | None = None,
) -> Any:
    """The configuration that autotune_launch would use; the kernel runs only where it has to be timed."""
    return _choose(kernel_fn, configs, key, kernel_name, 2, 10, device)[0].config


def _choose(
    kernel_fn: Callable[[Any], Any],
    configs: Sequence[Any],
    key: Any,
    name: str,
    warmup: int,
    rep: int,
    device: torch.device | None,
) -> tuple[_Winner, bool]:
    """The choice, and whether it had been made before."""
    if not configs:
        raise ValueError(f"{name}: wanted at least one configuration to choose from, got none")
    if device is None:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if len(configs) == 1 or device.type != "cuda" or is_autotune_disabled():
        if _RECORDING and not is_autotune_disabled():
            _launch_others(kernel_fn, configs[1:], name)
        return _Winner(configs[0], [], []), False
    cache_key = (name, key, _search_space(device, tuple(configs)))
    winner = _cache.get(cache_key)
    if winner is not None:
        return winner, True
    winner = _tune(kernel_fn, configs, name, warmup, rep, device)
    with _lock:
        return _cache.setdefault(cache_key, winner), False


def _launch_others(kernel_fn: Callable[[Any], Any], configs: Sequence[Any], name: str) -> None:
    """Launches what a GPU would choose from, so that it is compiled ahead of time."""
    for config in configs:
        try:
            kernel_fn(config)
        except RuntimeError as error:
            _logger.warning("%s: configuration %s cannot run: %s", name, config, error)


def _search_space(device: torch.device, configs: tuple[Any, ...]) -> str:
    """Device and candidates as text. Writing it takes longer than a launch, so it is kept where it can be."""
    if device.index is None:
        device = torch.device(device.type, torch.cuda.current_device())
    try:
        return _kept_text(device, configs)
    except TypeError:  # a candidate without a hash
        return f"{_device_text(device)} {configs!r}"


@functools.lru_cache(maxsize=1024)
def _kept_text(device: torch.device, configs: tuple[Any, ...]) -> str:
    return f"{_device_text(device)} {configs!r}"


def _device_text(device: torch.device) -> str:
    return f"{torch.cuda.get_device_name(device)}:{device.index}"


def _tune(
    kernel_fn: Callable[[Any], Any], configs: Sequence[Any], name: str, warmup: int, rep: int, device: torch.device
) -> _Winner:
    record: list[tuple[Any, float]] = []
    failures: list[tuple[Any, str]] = []
    for config in configs:
        try:
            record.append((config, _time_on_gpu(functools.partial(kernel_fn, config), warmup, rep, device)))
        except RuntimeError as error:
            # A configuration that the compiler or the device refuses is a loss for it, not for the search.
            failures.append((config, str(error)))
            _logger.warning("%s: configuration %s cannot run: %s", name, config, error)
    if not record:
        reasons = "; ".join(f"{config}: {reason}" for config, reason in failures)
        raise RuntimeError(f"{name}: none of {len(configs)} configurations ran: {reasons}")
    best, milliseconds = min(record, key=lambda row: row[1])
    _logger.info("%s: %s is the fastest of %d configurations, %.4f ms", name, best, len(configs), milliseconds)
    return _Winner(best, record, failures)


def _time_on_gpu(call: Callable[[], Any], warmup: int, rep: int, device: torch.device) -> float:
    """Median ms of a call by CUDA events, with the L2 cache flushed before each."""
    with torch.cuda.device(device):
        # Larger than any L2 so far (H200: 50 MB, B200: 126 MB).
        flush = torch.empty(256 << 20, dtype=torch.int8, device=device)
        for _ in range(max(warmup, 1)):
            call()
        times: list[float] = []
        for _ in range(max(rep, 1)):
            flush.zero_()
            start, end = (torch.Event(device, enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
    return statistics.median(times)


def clear_cache(kernel_name: str | None = None, key: Any = None) -> None:
    """Forgets choices: all, those of one kernel, those of one key, or those of one key of one kernel."""
    with _lock:
        for cached in list(_cache):
            if kernel_name in (None, cached[0]) and (key is None or key == cached[1]):
                del _cache[cached]
    utils.forget_plans()


def get_cache_stats() -> dict[str, dict[str, Any]]:
    """Per tuned key: the chosen configuration, its median ms, how many ran and how many failed."""
    with _lock:
        return {
            str(key): {
                "best_config": str(winner.config),
                "best_ms": min(milliseconds for _, milliseconds in winner.record),
                "n_tested": len(winner.record),
                "n_failed": len(winner.failures),
            }
            for key, winner in _cache.items()
        }
