"""silu_and_mul and swiglu as torch operators."""

from __future__ import annotations

from typing import Any

import torch

from tilegym.ops.cutile_rs.autograd.operator import decoded, define


def _gradients(gate: torch.Tensor, up: torch.Tensor, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Of silu(gate) * up, in float32."""
    g, d = gate.float(), gradient.float()
    sigmoid = torch.sigmoid(g)
    return d * up.float() * sigmoid * (1 + g * (1 - sigmoid)), d * g * sigmoid


def _run_halves(input: torch.Tensor, configs: str) -> Any:
    from tilegym.ops.cutile_rs.silu_and_mul import silu_and_mul

    return silu_and_mul(input, kernel_configs=decoded(configs))


def _fake_halves(input: torch.Tensor, configs: str) -> torch.Tensor:
    return input.new_empty((*input.shape[:-1], input.shape[-1] // 2))


def _save_halves(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
    ctx.save_for_backward(inputs[0])


def _backward_halves(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
    (input,) = ctx.saved_tensors
    half = input.shape[-1] // 2
    return torch.cat(_gradients(input[..., :half], input[..., half:], gradient), -1).to(input.dtype), None


silu_and_mul_operator = define(
    "silu_and_mul(Tensor input, str configs) -> Tensor",
    run=_run_halves,
    fake=_fake_halves,
    save=_save_halves,
    backward=_backward_halves,
)


def _run_pair(a: torch.Tensor, b: torch.Tensor, configs: str) -> Any:
    from tilegym.ops.cutile_rs.swiglu import swiglu

    return swiglu(a, b, kernel_configs=decoded(configs))


def _fake_pair(a: torch.Tensor, b: torch.Tensor, configs: str) -> torch.Tensor:
    return torch.empty_like(a, memory_format=torch.contiguous_format)


def _save_pair(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
    ctx.save_for_backward(*inputs[:2])


def _backward_pair(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
    a, b = ctx.saved_tensors
    da, db = _gradients(a, b, gradient)
    return da.to(a.dtype), db.to(b.dtype), None


swiglu_operator = define(
    "swiglu(Tensor a, Tensor b, str configs) -> Tensor",
    run=_run_pair,
    fake=_fake_pair,
    save=_save_pair,
    backward=_backward_pair,
)
