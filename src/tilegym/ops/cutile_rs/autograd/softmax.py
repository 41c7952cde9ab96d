"""softmax as a torch operator."""

from __future__ import annotations

from typing import Any

import torch

from tilegym.ops.cutile_rs.autograd.operator import decoded, define


def _run(x: torch.Tensor, use_chunked: bool, configs: str) -> Any:
    from tilegym.ops.cutile_rs.softmax import softmax

    return softmax(x, use_chunked=use_chunked, kernel_configs=decoded(configs))


def _fake(x: torch.Tensor, use_chunked: bool, configs: str) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _save(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
    ctx.save_for_backward(output)


def _backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
    (y,) = ctx.saved_tensors
    y32, dy = y.float(), gradient.float()
    return (y32 * (dy - (dy * y32).sum(-1, keepdim=True))).to(y.dtype), None, None


softmax_operator = define(
    "softmax(Tensor x, bool use_chunked, str configs) -> Tensor",
    run=_run,
    fake=_fake,
    save=_save,
    backward=_backward,
)
