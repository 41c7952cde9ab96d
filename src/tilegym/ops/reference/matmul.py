"""Reference of matmul."""

from __future__ import annotations

from typing import Any

import torch

from tilegym.backend import register_impl


@register_impl("matmul", backend="pytorch")
def matmul(a: torch.Tensor, b: torch.Tensor, trans_a: bool = False, trans_b: bool = False, **_: Any) -> torch.Tensor:
    """A @ B of two matrices."""
    return (a.t() if trans_a else a) @ (b.t() if trans_b else b)


def matmul_f64(
    a: torch.Tensor, b: torch.Tensor, trans_a: bool = False, trans_b: bool = False, **_: Any
) -> torch.Tensor:
    """matmul in float64."""
    return matmul(a.double(), b.double(), trans_a, trans_b)
