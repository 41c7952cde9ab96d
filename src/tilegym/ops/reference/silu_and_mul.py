"""Reference of silu_and_mul."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import silu

from tilegym.backend import register_impl


@register_impl("silu_and_mul", backend="pytorch")
def silu_and_mul(input: torch.Tensor, out: torch.Tensor | None = None, **_: Any) -> torch.Tensor:
    """SiLU of the first half times the second half, each step rounded to the input's dtype."""
    gate, value = _halves(input)
    result = silu(gate) * value
    return result.contiguous() if out is None else out.copy_(result)


def silu_and_mul_f64(input: torch.Tensor, out: torch.Tensor | None = None, **_: Any) -> torch.Tensor:
    """silu_and_mul in float64, without a rounding between its steps."""
    gate, value = _halves(input.double())
    return silu(gate) * value


def _halves(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if input.dim() == 0 or input.shape[-1] % 2:
        raise ValueError(f"silu_and_mul: input: wanted an even last dimension, got shape {tuple(input.shape)}")
    gate, value = input.chunk(2, dim=-1) if input.shape[-1] else (input, input)
    return gate, value
