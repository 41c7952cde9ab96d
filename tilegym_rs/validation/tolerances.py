"""Tolerances of an op, from its kernel's reference/analysis.json."""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any

from tilegym_rs.validation.compare import Tolerance

_SPELLINGS = {
    "float32": ("float32", "f32", "fp32", "torch.float32"),
    "float16": ("float16", "f16", "fp16", "torch.float16"),
    "bfloat16": ("bfloat16", "bf16", "torch.bfloat16"),
}


def tolerance_for(op: str, dtype: str) -> Tolerance:
    """The tolerance for results of `dtype` ("float32").

    Raises:
        LookupError: the op states none for that dtype.
    """
    table = _table(op)
    for spelling in _SPELLINGS.get(dtype, (dtype,)):
        if spelling in table:
            return Tolerance(float(table[spelling]["atol"]), float(table[spelling]["rtol"]))
    raise LookupError(
        f"{op}: reference/analysis.json states no correctness_tolerance for {dtype}; it has {list(table)}"
    )


@functools.cache
def _table(op: str) -> dict[str, Any]:
    path = resources.files("tilegym.ops.cutile_rs") / f"{op}_kernel" / "reference" / "analysis.json"
    try:
        analysis = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LookupError(f"{op}: there is no {path}, which states the tolerances") from None
    table: dict[str, Any] = analysis["correctness_tolerance"]
    return table
