"""Times of warm calls: kernels by the CPU device's own clock, CUPTI or CUDA events, the rest by the wall clock."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from tilegym_rs.validation import cupti
from tilegym_rs.validation.records import Timing

MIN_CALLS = 5
_MAX_CALLS = 50
_BUDGET_SECONDS = 0.1
_CALIBRATIONS = 5


def time_warm_calls(
    call: Callable[[], Any],
    device_type: str,
    compile_ms: float = 0.0,
    engine_nanoseconds: Callable[[], int] | None = None,
) -> Timing:
    """Times at least five calls of something that has run before; more while a tenth of a second lasts.

    Args:
        call: launches the op; on a CPU device it returns when the result is there.
        device_type: "cpu" or "cuda".
        compile_ms: what the first call spent compiling, passed on.
        engine_nanoseconds: the CPU device's clock, where the op runs there. A call that does not move it is timed by
            the wall clock.
    """
    if device_type == "cuda":
        return _time_on_gpu(call, compile_ms)
    call()
    wall: list[float] = []
    engine: list[float] = []
    calibration: list[float] = []
    end = time.perf_counter() + _BUDGET_SECONDS
    while len(wall) < MIN_CALLS or (len(wall) < _MAX_CALLS and time.perf_counter() < end):
        before = engine_nanoseconds() if engine_nanoseconds else 0
        wall.append(_host_call_ms(call))
        engine.append(((engine_nanoseconds() if engine_nanoseconds else 0) - before) / 1e6)
        if len(calibration) < _CALIBRATIONS:
            calibration.append(_host_call_ms(_fixed_work))
    by_engine = min(engine) > 0.0
    return _summary(
        engine if by_engine else wall,
        "engine" if by_engine else "wall",
        compile_ms,
        wall=tuple(wall) if by_engine else (),
        calibration=tuple(calibration),
    )


def _time_on_gpu(call: Callable[[], Any], compile_ms: float) -> Timing:
    """By CUPTI, whose times are those of the kernels alone, else by CUDA events around each call."""
    call()
    events: list[float] = []
    end = time.perf_counter() + _BUDGET_SECONDS
    while len(events) < MIN_CALLS or (len(events) < _MAX_CALLS and time.perf_counter() < end):
        events.append(_cuda_call_ms(call))
    kernels = cupti.device_ms(call, len(events))
    if kernels is None:
        return _summary(events, "cuda events", compile_ms)
    return _summary(kernels, "cupti", compile_ms, wall=tuple(events))


def _summary(times: list[float], clock: str, compile_ms: float, **others: Any) -> Timing:
    return summarize(times, _method(clock), compile_ms, clock=clock, shared=_workers() > 1, **others)


def summarize(times: list[float], method: str, compile_ms: float = 0.0, **others: Any) -> Timing:
    """Median and spread of times in milliseconds.

    Raises:
        ValueError: a time is zero or negative, or there are fewer than two.
    """
    q25, median, q75 = statistics.quantiles(times, n=4, method="inclusive")
    mean = statistics.fmean(times)
    return Timing(median, q25, q75, min(times), mean, len(times), method, compile_ms, samples=tuple(times), **others)


def _fixed_work() -> int:
    return sum(range(20000))


def _host_call_ms(call: Callable[[], Any]) -> float:
    start = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - start) / 1e6


def _cuda_call_ms(call: Callable[[], Any]) -> float:
    import torch

    start, end = (torch.Event("cuda", enable_timing=True) for _ in range(2))
    start.record()
    call()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end))


def _workers() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


_CLOCKS = {
    "engine": "engine clock of the CPU device",
    "cupti": "CUPTI, work on the device",
    "cuda events": "CUDA events",
    "wall": "wall clock",
}


def _method(clock: str) -> str:
    shared = f", device shared by {_workers()} workers" if _workers() > 1 else ""
    return f"{_CLOCKS[clock]}, warm calls, caches not flushed{shared}"
