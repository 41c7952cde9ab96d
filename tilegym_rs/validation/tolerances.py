"""Tolerances of an op: its own, from reference/analysis.json, else those of the dtype."""

from __future__ import annotations

from tilegym_rs.validation import analysis
from tilegym_rs.validation.compare import Tolerance

# The established table: rtol, atol.
DEFAULTS: dict[str, Tolerance] = {
    "float64": Tolerance(atol=1e-10, rtol=1e-7),
    "float32": Tolerance(rtol=1e-5, atol=1e-8),
    "float16": Tolerance(rtol=1e-2, atol=1e-2),
    "bfloat16": Tolerance(rtol=1e-2, atol=2e-2),
    "float8_e4m3fn": Tolerance(rtol=1e-1, atol=1e-1),
    "float8_e5m2": Tolerance(rtol=5e-1, atol=5e-1),
    **{name: Tolerance(rtol=0.0, atol=0.0) for name in ("int64", "int32", "int16", "int8", "uint8", "bool")},
}

_SPELLINGS = {
    "float64": ("float64", "f64", "fp64", "torch.float64"),
    "float32": ("float32", "f32", "fp32", "torch.float32"),
    "float16": ("float16", "f16", "fp16", "torch.float16"),
    "bfloat16": ("bfloat16", "bf16", "torch.bfloat16"),
    "float8_e4m3fn": ("float8_e4m3fn", "f8e4m3fn", "fp8_e4m3", "torch.float8_e4m3fn"),
    "float8_e5m2": ("float8_e5m2", "f8e5m2", "fp8_e5m2", "torch.float8_e5m2"),
}


def spellings(dtype: str) -> tuple[str, ...]:
    """The names under which analysis.json may speak of a dtype, such as "float32"."""
    return _SPELLINGS.get(dtype, (dtype, f"torch.{dtype}"))


def tolerance_for(op: str, dtype: str) -> Tolerance:
    """The tolerance for results of `dtype` ("float32"): the op's own where it states one.

    Raises:
        LookupError: the op states none, and there is none for that dtype.
        ValueError: what the op states is no tolerance.
    """
    table = analysis.of(op).get("correctness_tolerance", {})
    for spelling in spellings(dtype):
        if spelling in table:
            return _stated(op, spelling, table[spelling])
    if dtype in DEFAULTS:
        return DEFAULTS[dtype]
    raise LookupError(
        f"{op}: wanted a correctness_tolerance for {dtype} in reference/analysis.json, got {sorted(table)}, and there "
        f"is no general one; add an entry with atol and rtol"
    )


def _stated(op: str, dtype: str, entry: object) -> Tolerance:
    try:
        found = Tolerance(float(entry["atol"]), float(entry["rtol"]))  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        found = Tolerance(-1.0, -1.0)
    if not (found.atol >= 0 and found.rtol >= 0):
        raise ValueError(
            f"{op}: reference/analysis.json: correctness_tolerance of {dtype}: wanted numbers atol and rtol of at "
            f"least 0, got {entry!r}"
        )
    return found
