"""Reference of swiglu."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import silu

from tilegym.backend import register_impl


@register_impl("swiglu", backend="pytorch")
def swiglu(a: torch.Tensor, b: torch.Tensor, **_: Any) -> torch.Tensor:
    """silu(a) * b, each step rounded to the inputs' dtype."""
    return (silu(a) * b).contiguous()


def swiglu_f64(a: torch.Tensor, b: torch.Tensor, **_: Any) -> torch.Tensor:
    """swiglu in float64, without a rounding between its steps."""
    return silu(a.double()) * b.double()
