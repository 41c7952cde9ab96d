"""Times of work on a GPU by CUPTI, through torch's profiler: it loads the library that torch comes with, and shares it.

Registered a second time by us, CUPTI would stop reporting to a profiler of the user's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any


def device_ms(call: Callable[[], Any], calls: int) -> list[float] | None:
    """Milliseconds that kernels and copies of each of so many calls took on the GPU; None where CUPTI cannot tell."""
    import torch

    if torch._C._autograd._profiler_enabled():  # of the user, and there is one at a time
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
                for _ in range(calls):
                    call()
                torch.cuda.synchronize()
        return by_call(_spans(profile), calls)
    except (RuntimeError, AssertionError):  # no library, no permission, another profiler
        return None


def _spans(profile: Any) -> list[tuple[float, float]]:
    """(start, duration) in microseconds of what ran on the device."""
    import torch

    events = [event for event in profile.events() if event.device_type == torch._C._autograd.DeviceType.CUDA]
    return [(float(event.time_range.start), float(event.time_range.elapsed_us())) for event in events]


def by_call(spans: Sequence[tuple[float, float]], calls: int) -> list[float] | None:
    """Sums of the durations by call; calls that all launch the same follow each other. None where they do not."""
    each, rest = divmod(len(spans), calls)
    if each == 0 or rest != 0:
        return None
    durations = [duration for _, duration in sorted(spans)]
    times = [sum(durations[first : first + each]) / 1e3 for first in range(0, len(durations), each)]
    return times if min(times) > 0.0 else None
