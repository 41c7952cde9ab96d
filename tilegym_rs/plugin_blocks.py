"""The block of lines that is printed for a timing, and what a report says of its test for it."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import pytest

from tilegym_rs.cuda_on_cpu.scaling import scaling_of
from tilegym_rs.validation import records

_MODES = {"cpu": "CPU device, no time of a GPU", "gpu": "GPU"}
HEADING = "Performance Test Results"
CASE_ATTRIBUTE = "tilegym_rs_case"


@dataclasses.dataclass(frozen=True)
class Case:
    """What a report says of its test besides pytest's own fields."""

    concerns_backend: bool = False
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)
    device: str = ""
    op: str = ""

    def to_plain(self) -> dict[str, Any]:
        """The fields as a dictionary of plain values."""
        plain_case = records.plain(dataclasses.asdict(self))
        assert isinstance(plain_case, dict)
        return plain_case


def blocks(report: pytest.TestReport, case: Case, found: list[records.Record]) -> list[list[str]]:
    """One block of lines per timing of a passed test."""
    parameters = [f"  {name}: {value}" for name, value in case.parameters.items()]
    parameters += [f"  scaled: {scaling_of(report)}"] if scaling_of(report) else []
    head = [HEADING, f"  case: {report.nodeid}", *parameters]
    ours = [
        [*head, *_record_lines(record, record.timing, case.parameters)] for record in found if record.timing is not None
    ]
    established = [
        [*head, f"  device: {case.device}", *_benchmark_lines(backend, mode, fields)]
        for backend, mode, fields in records.benchmarks(report.user_properties)
    ]
    return ours + established


def _record_lines(record: records.Record, timing: records.Timing, shown: dict[str, Any]) -> list[str]:
    fields = {
        "op": record.op,
        "backend": record.backend,
        "dtype": record.dtype,
        "shape": record.shape,
        "device": record.device,
        "error": record.error,
        "worst tile block": _worst_block(record.blocks),
        "tolerance": record.tolerance,
        "median": f"{timing.median!r} ms",
        "q25": f"{timing.q25!r} ms",
        "q75": f"{timing.q75!r} ms",
        "min": f"{timing.min!r} ms",
        "calls": timing.calls,
        "method": timing.method,
        "warm-up": f"{timing.warmup} calls",
        "mode": _MODES.get(record.mode, record.mode),
        "configuration": ", ".join(f"{name}={value}" for name, value in record.configuration.items()) or "none",
        "compile": f"{timing.compile_ms!r} ms, apart from the times above",
    }
    return [f"  {name}: {value}" for name, value in fields.items() if name not in shown and value is not None]


def _worst_block(blocks: dict[str, Any]) -> str | None:
    """Which tile block has the largest error; None where no blocks are known or none has an error."""
    if "worst" not in blocks:
        return None
    place, extents = (tuple(blocks[name]) for name in ("worst", "extents"))
    return f"{place} of {extents} elements, error {blocks['worst_max_abs']:.3g}"


def _benchmark_lines(backend: str, mode: str, fields: dict[str, Any]) -> list[str]:
    lines = [f"  framework: {backend}", f"  mode: {mode}", f"  median: {fields['median']!r} ms"]
    spread = [
        f"  {name}: {fields[name]!r} ms" for name in ("q25", "q75", "min", "max", "mean", "std") if name in fields
    ]
    others = [f"  {name}: {fields[name]!r}" for name in ("nrep", "peak_mem_mb", "kernel_name") if name in fields]
    return lines + spread + others


def current_device() -> str:
    """The device that torch uses in this process, without importing it."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda"):
        return "CPU device"
    try:
        return str(torch.cuda.get_device_name()) if torch.cuda.is_initialized() else "CPU device"
    except (RuntimeError, AssertionError):
        return "CPU device"
