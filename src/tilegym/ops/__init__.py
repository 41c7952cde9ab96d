"""The ops, and the backends that implement them. Importing it registers every implementation; it builds nothing."""

from __future__ import annotations

from tilegym.ops import cutile, cutile_rs, reference
from tilegym.ops.ops import attention_sink, bmm, get_swiglu, matmul, silu_and_mul, softmax, swiglu

__all__ = [
    "attention_sink",
    "bmm",
    "cutile",
    "cutile_rs",
    "get_swiglu",
    "matmul",
    "reference",
    "silu_and_mul",
    "softmax",
    "swiglu",
]
