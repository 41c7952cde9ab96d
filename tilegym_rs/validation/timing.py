"""Times of warm calls, each from launch to completion."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from tilegym_rs.validation.records import Timing

MIN_CALLS = 5
_MAX_CALLS = 50
_BUDGET_SECONDS = 0.1


def time_warm_calls(call: Callable[[], Any], device_type: str, compile_ms: float = 0.0) -> Timing:
    """Times at least five calls of something that has run before; more while a tenth of a second lasts.

    Args:
        call: launches the op; on a CPU device it returns when the result is there.
        device_type: "cpu" or "cuda".
        compile_ms: what the first call spent compiling, passed on.
    """
    measure = _cuda_call_ms if device_type == "cuda" else _host_call_ms
    call()
    times: list[float] = []
    end = time.perf_counter() + _BUDGET_SECONDS
    while len(times) < MIN_CALLS or (len(times) < _MAX_CALLS and time.perf_counter() < end):
        times.append(measure(call))
    return summarize(times, _method(device_type), compile_ms)


def summarize(times: list[float], method: str, compile_ms: float = 0.0) -> Timing:
    """Median and spread of times in milliseconds.

    Raises:
        ValueError: a time is zero or negative, or there are fewer than two.
    """
    q25, median, q75 = statistics.quantiles(times, n=4, method="inclusive")
    return Timing(median, q25, q75, min(times), statistics.fmean(times), len(times), method, compile_ms)


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


def _method(device_type: str) -> str:
    clock = "CUDA events" if device_type == "cuda" else "wall clock"
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    shared = f", device shared by {workers} workers" if workers > 1 else ""
    return f"{clock}, warm calls, caches not flushed{shared}"
