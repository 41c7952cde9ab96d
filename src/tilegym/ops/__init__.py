"""The ops, and the backends that implement them. Importing it registers every implementation; it builds nothing."""

from __future__ import annotations

from tilegym.ops import cutile_rs, reference
from tilegym.ops.ops import matmul, silu_and_mul, softmax

__all__ = ["cutile_rs", "matmul", "reference", "silu_and_mul", "softmax"]
