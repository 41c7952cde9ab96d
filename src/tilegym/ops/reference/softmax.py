"""Reference of softmax."""

from __future__ import annotations

from typing import Any

import torch

from tilegym.backend import register_impl


@register_impl("softmax", backend="pytorch")
def softmax(x: torch.Tensor, **_: Any) -> torch.Tensor:
    """Softmax over the last dimension."""
    return torch.softmax(x, dim=-1).contiguous()


def softmax_f64(x: torch.Tensor, **_: Any) -> torch.Tensor:
    """softmax in float64."""
    return torch.softmax(x.double(), dim=-1)
