"""Events, graphs and profiles by the wall clock: a call on the CPU device returns when its work is done."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import torch

from tilegym_rs.cuda_on_cpu.patches import Patches


def apply(patches: Patches) -> None:
    """Replaces the clocks of torch.cuda and the profiler's view of a GPU."""
    patches.set(torch.cuda, "Event", Event)
    patches.set(torch.cuda, "CUDAGraph", Graph)
    patches.set(torch.cuda, "graph", Graph.capture)
    patches.set(torch.cuda, "_sleep", lambda cycles: None)
    patches.set(torch.profiler, "profile", _profile(torch.profiler.profile))


class Clock:
    """Seconds that work has taken: the wall clock, and what replayed graphs would have added."""

    replayed = 0.0

    @classmethod
    def now(cls) -> float:
        """Seconds since some moment."""
        return time.perf_counter() + cls.replayed


class Event:
    """torch.cuda.Event of work that is done when it is recorded."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self._at = 0.0

    def record(self, *_: Any) -> None:
        """Takes the time."""
        self._at = Clock.now()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds between the two records."""
        return (end._at - self._at) * 1e3

    def synchronize(self) -> None:
        """Nothing is pending."""

    def wait(self, *_: Any) -> None:
        """Nothing is pending."""

    def query(self) -> bool:
        """Whether all work before the record is done."""
        return True


class Graph:
    """torch.cuda.CUDAGraph that remembers how long its body took; a replay lets the clock jump by that."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self._seconds = 0.0

    def replay(self) -> None:
        """Lets the clock jump."""
        Clock.replayed += self._seconds

    @staticmethod
    @contextlib.contextmanager
    def capture(graph: Graph, *_: Any, **__: Any) -> Iterator[None]:
        """torch.cuda.graph: times its body."""
        start = time.perf_counter()
        yield
        graph._seconds = time.perf_counter() - start


def _profile(original: Any) -> Any:
    """torch.profiler.profile, but for one that asks for nothing except the GPU's activity."""

    def profile(*args: Any, activities: Any = None, **kwargs: Any) -> Any:
        asked = set(activities) if activities is not None else set()
        if asked == {torch.profiler.ProfilerActivity.CUDA}:
            return WallClockProfile()
        return original(*args, activities=activities, **kwargs)

    return profile


class WallClockProfile:
    """A profile with one device event: all that ran inside it."""

    def __enter__(self) -> WallClockProfile:
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self._seconds = time.perf_counter() - self._start

    def step(self) -> None:
        """There is no schedule to go on with."""

    def key_averages(self, *_: Any, **__: Any) -> list[SimpleNamespace]:
        """The event, with its time in microseconds under the names that profiles use."""
        microseconds = self._seconds * 1e6
        return [
            SimpleNamespace(
                key="cpu_device_wall_clock",
                count=1,
                self_device_time_total=microseconds,
                device_time_total=microseconds,
                device_type=torch._C._autograd.DeviceType.CUDA,
            )
        ]

    def events(self) -> list[SimpleNamespace]:
        """As key_averages."""
        return self.key_averages()
