"""Reference of bmm."""

from __future__ import annotations

from typing import Any

import torch

from tilegym.backend import register_impl


@register_impl("bmm", backend="pytorch")
def bmm(
    a: torch.Tensor, b: torch.Tensor, transpose_a: bool = False, transpose_b: bool = False, **_: Any
) -> torch.Tensor:
    """A[q] @ B[q] for every batch q."""
    return torch.bmm(a.mT if transpose_a else a, b.mT if transpose_b else b)


def bmm_f64(
    a: torch.Tensor, b: torch.Tensor, transpose_a: bool = False, transpose_b: bool = False, **_: Any
) -> torch.Tensor:
    """bmm in float64."""
    return bmm(a.double(), b.double(), transpose_a, transpose_b)
