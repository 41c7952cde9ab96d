"""How far one run's times are from another's: ratios of medians with bootstrap intervals, and a verdict over all."""

from __future__ import annotations

import dataclasses
import math
import statistics
import zlib
from collections.abc import Iterable

import numpy as np

from tilegym_rs.validation.records import Record, Timing

# On the geometric mean of ours / baseline.
LIMITS = ((1.05, "DONE"), (1.10, "MILD_GAP"), (1.50, "MODERATE_GAP"))
LARGEST = "LARGE_GAP"

_ROUNDS = 4000
# Of a ratio that is 1, an interval this wide misses once in a thousand comparisons.
_CONFIDENCE = 0.999
# An interval of fewer samples than this says nothing.
_FEWEST_SAMPLES = 5
# Smaller differences are not told from noise, however many samples there are.
_LEAST_DIFFERENCE = 0.05


@dataclasses.dataclass(frozen=True)
class Row:
    """One op with one input in both runs; `low` and `high` bound the ratio ours / baseline."""

    subject: str
    device: str
    clock: str
    ours_ms: float
    baseline_ms: float
    ratio: float
    low: float
    high: float
    noise: float
    """Relative difference that the machines' own speeds explain."""

    @property
    def verdict(self) -> str:
        """ "faster" or "slower" only where neither the spread nor the machines explain the ratio."""
        if math.isinf(self.high):
            return "too few samples"
        margin = max(_LEAST_DIFFERENCE, self.noise)
        if self.high < 1 / (1 + margin):
            return "faster"
        return "slower" if self.low > 1 + margin else "same"


@dataclasses.dataclass(frozen=True)
class Gap:
    """The rows of one device, their geometric mean, and records that have no partner: of ours, and of the baseline."""

    device: str
    rows: tuple[Row, ...]
    missing: tuple[str, ...] = ()
    only_in_baseline: tuple[str, ...] = ()

    @property
    def geomean(self) -> float:
        """Geometric mean of the ratios."""
        return math.exp(statistics.fmean(math.log(row.ratio) for row in self.rows))

    @property
    def verdict(self) -> str:
        """DONE needs a partner for every record: what was left out could be what is slow."""
        found = next((name for limit, name in LIMITS if self.geomean <= limit), LARGEST)
        return LIMITS[1][1] if found == LIMITS[0][1] and (self.missing or self.only_in_baseline) else found


def compare_runs(ours: Iterable[Record], baseline: Iterable[Record]) -> list[Gap]:
    """One Gap for each device that both runs were made on.

    Raises:
        ValueError: there are no times, or none of one device in both.
    """
    left, right = _timed(ours), _timed(baseline)
    for name, found in (("ours", left), ("baseline", right)):
        if not found:
            raise ValueError(f"records: {name}: wanted records with times, got none; run pytest with --print-record")
    devices = sorted({key[0] for key in left} & {key[0] for key in right})
    if not devices:
        raise ValueError(
            f"records: wanted times of one device, got ours of {_devices(left)} and the baseline's of "
            f"{_devices(right)}; times of different devices say nothing about each other"
        )
    return [_gap(device, left, right) for device in devices]


_Key = tuple[str, str]
_Samples = np.ndarray[tuple[int], np.dtype[np.float64]]


def _timed(records: Iterable[Record]) -> dict[_Key, list[Timing]]:
    """Times by (device, subject). Those of several records of one subject are pooled; shared devices are left out."""
    found: dict[_Key, list[Timing]] = {}
    for record in records:
        if record.timing is not None and not record.timing.shared:
            found.setdefault((f"{record.device} ({record.mode})", record.subject), []).append(record.timing)
    return found


def _devices(found: Iterable[_Key]) -> str:
    return ", ".join(sorted({device for device, _ in found}))


def _gap(device: str, left: dict[_Key, list[Timing]], right: dict[_Key, list[Timing]]) -> Gap:
    keys = [key for key in left if key[0] == device]
    rows = tuple(_row(key, left[key], right[key]) for key in keys if key in right)
    if not rows:
        raise ValueError(f"records: wanted an op with the same input in both runs on {device}, got none")
    missing = tuple(key[1] for key in keys if key not in right)
    return Gap(device, rows, missing, tuple(key[1] for key in right if key[0] == device and key not in left))


def _row(key: _Key, ours: list[Timing], baseline: list[Timing]) -> Row:
    clock = _common_clock(ours, baseline)
    a, b = _samples(ours, clock), _samples(baseline, clock)
    ratio = float(np.median(a) / np.median(b))
    low, high = _interval(a, b, zlib.crc32(key[1].encode()))
    return Row(
        key[1], key[0], clock, float(np.median(a)), float(np.median(b)), ratio, low, high, _noise(ours, baseline)
    )


def _common_clock(ours: list[Timing], baseline: list[Timing]) -> str:
    """The clock of all of them, else one that all were read from beside their own."""
    clocks = {timing.clock for timing in (*ours, *baseline)}
    if len(clocks) == 1:
        return clocks.pop()
    return "cuda events" if clocks == {"cupti", "cuda events"} else "wall"


def _samples(timings: list[Timing], clock: str) -> _Samples:
    found: list[float] = []
    for timing in timings:
        own = timing.samples or (timing.median,)
        found += own if timing.clock == clock else timing.wall or own
    return np.asarray(found, dtype=np.float64)


def _interval(x: _Samples, y: _Samples, seed: int) -> tuple[float, float]:
    """Percentile bootstrap of the ratio of medians; the same for the same samples. Of too few: any ratio."""
    if min(len(x), len(y)) < _FEWEST_SAMPLES:
        return 0.0, math.inf
    random = np.random.default_rng(seed)
    tops = np.median(x[random.integers(0, len(x), (_ROUNDS, len(x)))], axis=1)
    bottoms = np.median(y[random.integers(0, len(y), (_ROUNDS, len(y)))], axis=1)
    outside = 50 * (1 - _CONFIDENCE)
    low, high = np.percentile(tops / bottoms, [outside, 100 - outside])
    return float(low), float(high)


def _noise(ours: list[Timing], baseline: list[Timing]) -> float:
    """What a fixed piece of work, timed between the calls, says of the machines: difference and spread."""
    a = np.asarray([time for timing in ours for time in timing.calibration])
    b = np.asarray([time for timing in baseline for time in timing.calibration])
    if not len(a) or not len(b):
        return 0.0
    together = np.concatenate([a, b])
    return float(np.max(together) / np.min(together) - 1)
