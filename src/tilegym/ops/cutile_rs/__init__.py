"""Wrappers of the Rust kernels, backend "cutile-rs".

Importing a wrapper registers it; the kernel library is loaded at the first call.
"""

from __future__ import annotations

from tilegym.ops.cutile_rs import matmul, silu_and_mul, softmax

__all__ = ["matmul", "silu_and_mul", "softmax"]
