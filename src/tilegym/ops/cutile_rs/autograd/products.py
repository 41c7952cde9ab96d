"""matmul and bmm as torch operators: one rule, since a batch of products is a product in its last two dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tilegym.ops.cutile_rs.autograd.operator import decoded, define


def _run_matmul(
    a: torch.Tensor, b: torch.Tensor, trans_a: bool, trans_b: bool, persistent: bool, tf32: bool, configs: str
) -> Any:
    from tilegym.ops.cutile_rs.matmul import matmul

    return matmul(a, b, trans_a, trans_b, persistent, allow_tf32=tf32, kernel_configs=decoded(configs))


def _run_bmm(
    a: torch.Tensor, b: torch.Tensor, trans_a: bool, trans_b: bool, persistent: bool, tf32: bool, configs: str
) -> Any:
    from tilegym.ops.cutile_rs.bmm import bmm

    return bmm(a, b, trans_a, trans_b, persistent, allow_tf32=tf32, kernel_configs=decoded(configs))


def _fake(
    a: torch.Tensor, b: torch.Tensor, trans_a: bool, trans_b: bool, persistent: bool, tf32: bool, configs: str
) -> torch.Tensor:
    return a.new_empty((*a.shape[:-2], a.shape[-1 if trans_a else -2], b.shape[-2 if trans_b else -1]))


def _save(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
    a, b, *ctx.options = inputs
    ctx.save_for_backward(a, b)


def _backward_by(product: Callable[..., torch.Tensor]) -> Callable[..., tuple[Any, ...]]:
    """With C = A B: dA = dC B^T and dB = A^T dC; a transposed operand gets the transpose, a product as well."""

    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
        a, b = ctx.saved_tensors
        trans_a, trans_b, persistent, tf32, _ = ctx.options
        da = db = None
        if ctx.needs_input_grad[0]:
            operands = (b, gradient, trans_b, True) if trans_a else (gradient, b, False, not trans_b)
            da = product(*operands, persistent, tf32, "")
        if ctx.needs_input_grad[1]:
            operands = (gradient, a, True, trans_a) if trans_b else (a, gradient, not trans_a, False)
            db = product(*operands, persistent, tf32, "")
        return da, db, None, None, None, None, None

    return backward


def _define(name: str, run: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    return define(
        f"{name}(Tensor a, Tensor b, bool trans_a, bool trans_b, bool persistent, bool tf32, str configs) -> Tensor",
        run=run,
        fake=_fake,
        save=_save,
        backward=_backward_by(lambda *arguments: getattr(torch.ops.tilegym, name)(*arguments)),
    )


matmul_operator = _define("matmul", _run_matmul)
bmm_operator = _define("bmm", _run_bmm)
