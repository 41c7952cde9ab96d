"""Paired timing: two callables alternate in one run, so that drift of the machine's speed cancels in the ratio."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Pair:
    """Medians of one paired measurement.

    Times are milliseconds per call, launch to completion; `ratio` is the median of the per-round ratios ours / theirs
    (lower is faster), `ratio_low` and `ratio_high` its quartiles.
    """

    name: str
    ours_ms: float
    theirs_ms: float
    ratio: float
    ratio_low: float
    ratio_high: float
    rounds: int
    peer: str

    def row(self) -> str:
        """One line of the printed table."""
        spread = f"{self.ratio_low:.2f}-{self.ratio_high:.2f}"
        return f"{self.name:<34}{self.ours_ms:>10.3f}{self.theirs_ms:>12.3f}{self.ratio:>9.3f}  {spread:<13}{self.peer}"

    def as_json(self) -> dict[str, object]:
        """Plain values for a JSON record."""
        return asdict(self)


HEADER = f"{'case':<34}{'ours ms':>10}{'peer ms':>12}{'ratio':>9}  {'quartiles':<13}peer"


def _milliseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - start) / 1e6


def measure(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    peer: str,
    *,
    seconds: float = 3.0,
    min_rounds: int = 5,
    max_rounds: int = 300,
    warmup: int = 3,
    repeat: int = 1,
) -> Pair:
    """Alternate `ours` and `theirs` until `seconds` are used, after `warmup` uncounted rounds.

    Args:
        name: label of the case.
        ours, theirs: calls that return when their result is there.
        peer: what `theirs` is.
        repeat: calls of ours a round, of which the median counts: for a peer so slow, or with threads that spin on so
            long, that a single call of ours would measure what the peer left behind.
        seconds: time to spend, the limits on rounds permitting.

    Returns:
        Medians and the quartiles of the ratio.
    """
    for _ in range(warmup):
        ours()
        theirs()
    a: list[float] = []
    b: list[float] = []
    end = time.perf_counter() + seconds
    while len(a) < min_rounds or (len(a) < max_rounds and time.perf_counter() < end):
        a.append(statistics.median(_milliseconds(ours) for _ in range(repeat)))
        b.append(_milliseconds(theirs))
    ratios = [x / y for x, y in zip(a, b, strict=True)]
    low, _, high = statistics.quantiles(ratios, n=4)
    return Pair(name, statistics.median(a), statistics.median(b), statistics.median(ratios), low, high, len(a), peer)


def machine(threads: int) -> dict[str, object]:
    """The processor, its vector extensions and the thread count: what a ratio depends on."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    flags = next((value.split() for key, value in fields.items() if key.strip() == "flags"), [])
    model = next((value.strip() for key, value in fields.items() if key.strip() == "model name"), platform.processor())
    wanted = ("avx", "fma", "f16c", "amx")
    return {"cpu": model, "cpu_flags": [f for f in flags if f.startswith(wanted)], "threads": threads}
