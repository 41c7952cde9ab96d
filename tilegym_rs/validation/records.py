"""Records of comparisons and timings, as they travel from a test to the report and lie in a file.

Workers send them as the plain values of pytest's user_properties, so a record is a dictionary of int, float, str, bool,
None, and lists or dictionaries of those. No dependency on pytest, PyTorch or tilegym.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

# Names of user properties. BENCHMARK is the established one: {backend: {"forward": {"median": ms, ...}}}.
COMPARISON = "tilegym_comparison"
BENCHMARK = "benchmark"

PASS, FAIL, NOT_COMPARED, ERROR = "pass", "FAIL", "not compared", "ERROR"
FAILURES = (FAIL, ERROR)

# What a file says of itself; docs/file-formats.md describes the fields.
SCHEMA, VERSION = "tilegym-rs.record", 1


@dataclasses.dataclass(frozen=True)
class Timing:
    """Times of warm calls in milliseconds, and how they were taken.

    compile_ms is what the first call spent compiling kernels, apart from the times; 0 where all were ready. `clock` is
    what the times were read from: "engine" (the CPU device's own), "cupti" (work on the GPU), "cuda events" or "wall".
    `wall` holds calls by the wall clock where that is another one, or by CUDA events beside CUPTI; `calibration` times
    of a fixed piece of work between them, which tell a slower machine from a slower op.
    """

    median: float
    q25: float
    q75: float
    min: float
    mean: float
    calls: int
    method: str
    compile_ms: float = 0.0
    clock: str = "wall"
    warmup: int = 1
    cache: str = "warm"
    shared: bool = False
    samples: tuple[float, ...] = ()
    wall: tuple[float, ...] = ()
    calibration: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.min > 0.0:
            raise ValueError(f"timing: wanted times above zero, got a minimum of {self.min} ms from {self.method}")


@dataclasses.dataclass(frozen=True)
class Record:
    """One comparison of an op with a reference."""

    op: str
    backend: str
    dtype: str
    shape: str
    device: str
    verdict: str
    error: float | None = None
    tolerance: str = ""
    message: str = ""
    timing: Timing | None = None
    mode: str = "cpu"
    reference: str = "pytorch float64"
    case: str = "values"
    layout: str = ""
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    configuration: dict[str, int] = dataclasses.field(default_factory=dict)
    errors: dict[str, float] = dataclasses.field(default_factory=dict)
    blocks: dict[str, Any] = dataclasses.field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """The fields as a dictionary of plain values."""
        plain_record = plain(dataclasses.asdict(self))
        assert isinstance(plain_record, dict)
        return plain_record

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Record:
        """The inverse of to_plain. Fields of a later version are left out."""
        known = {field.name for field in dataclasses.fields(cls)}
        timing = values.get("timing")
        kept = {name: value for name, value in values.items() if name in known}
        return cls(**{**kept, "timing": _timing(timing) if timing else None})

    @property
    def subject(self) -> str:
        """The op and what it was called with, for a line of text."""
        options = " ".join(f"{name}={value}" for name, value in self.options.items())
        return " ".join(filter(None, [self.op, self.dtype, self.shape, self.layout, options]))


def _timing(values: Mapping[str, Any]) -> Timing:
    known = {field.name for field in dataclasses.fields(Timing)}
    lists = ("samples", "wall", "calibration")
    kept: dict[str, Any] = {k: tuple(v) if k in lists else v for k, v in values.items() if k in known}
    return Timing(**kept)


# execnet, by which xdist's workers report, packs negative integers into 32 bits and fails below these.
_LEAST_SENDABLE = -(2**31)


def plain(value: Any) -> Any:
    """The value in plain Python types. Anything else becomes its text: an object that a worker process cannot send
    would end the whole session."""
    if value is None or type(value) in (bool, float, str):
        return value
    if type(value) is int:
        return value if value >= _LEAST_SENDABLE else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(entry) for entry in value]
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> int | float | str:
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        scalar = value.item()
        return scalar if type(scalar) in (int, float) else str(scalar)
    return str(value)


def plain_properties(properties: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """User properties with plain values."""
    return [(str(name), plain(value)) for name, value in properties]


def comparisons(properties: Iterable[tuple[str, Any]]) -> list[Record]:
    """The comparisons among user properties."""
    return [Record.from_plain(value) for name, value in properties if name == COMPARISON]


def benchmarks(properties: Iterable[tuple[str, Any]]) -> list[tuple[str, str, dict[str, Any]]]:
    """(backend, mode, fields) of every usable timing among user properties in the established form."""
    found = []
    for name, value in properties:
        if name != BENCHMARK or not isinstance(value, Mapping):
            continue
        for backend, modes in value.items():
            for mode, fields in modes.items() if isinstance(modes, Mapping) else ():
                if isinstance(fields, Mapping) and _is_time(fields.get("median")):
                    found.append((str(backend), str(mode), dict(fields)))
    return found


def _is_time(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value) and value > 0
