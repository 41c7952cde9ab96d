"""Wrappers of the Rust kernels, backend "cutile-rs".

Importing a wrapper registers it; the kernel library is loaded at the first call.
"""

from __future__ import annotations

from tilegym.ops.cutile_rs import attention_sink, bmm, matmul, silu_and_mul, softmax, swiglu

__all__ = ["attention_sink", "bmm", "matmul", "silu_and_mul", "softmax", "swiglu"]
