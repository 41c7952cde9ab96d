"""attention_sink as a torch operator. Its backward holds the whole matrix of weights."""

from __future__ import annotations

import math
from typing import Any

import torch

from tilegym.ops.cutile_rs.autograd.operator import decoded, define
from tilegym.ops.reference.attention_sink import hidden_keys


def _run(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    sinks: torch.Tensor,
    scale: float,
    window: int,
    start: int,
    start_tensor: torch.Tensor | None,
    tf32: bool,
    configs: str,
) -> Any:
    from tilegym.ops.cutile_rs.attention_sink import attention_sink

    first = start if start_tensor is None else start_tensor
    return attention_sink(q, k, v, sinks, scale, window, first, allow_tf32=tf32, kernel_configs=decoded(configs))


def _fake(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    sinks: torch.Tensor,
    scale: float,
    window: int,
    start: int,
    start_tensor: torch.Tensor | None,
    tf32: bool,
    configs: str,
) -> torch.Tensor:
    batches, queries, heads, groups, depth = q.shape
    return q.new_empty((batches, queries, heads * groups * depth))


def _save(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
    q, k, v, sinks, ctx.scale, ctx.window, ctx.start, start_tensor, _, _ = inputs
    ctx.save_for_backward(q, k, v, sinks, output, start_tensor)


def _backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
    q, k, v, sinks, out, start_tensor = ctx.saved_tensors
    q32, k32, v32, s32 = (tensor.float() for tensor in (q, k, v, sinks))
    batches, queries, heads, groups, _ = q.shape
    dout = gradient.float().view(q.shape)
    start = ctx.start if start_tensor is None else start_tensor
    logits = torch.einsum("bqhgd,bkhd->bhgqk", q32, k32) * ctx.scale
    logits = logits.masked_fill(hidden_keys(queries, k.shape[1], ctx.window, start, q.device), -math.inf)
    sink = s32.view(1, heads, groups, 1, 1).expand(batches, heads, groups, queries, 1)
    norm = torch.logsumexp(torch.cat([logits, sink], -1), -1, keepdim=True)
    weights = torch.exp(logits - norm)
    # Every weight's gradient less their weighted mean, which is the result times its own gradient.
    mean = (dout * out.float().view(q.shape)).sum(-1).permute(0, 2, 3, 1).unsqueeze(-1)
    dlogits = weights * (torch.einsum("bqhgd,bkhd->bhgqk", dout, v32) - mean) * ctx.scale
    dq = torch.einsum("bhgqk,bkhd->bqhgd", dlogits, k32).to(q.dtype)
    dk = torch.einsum("bhgqk,bqhgd->bkhd", dlogits, q32).to(k.dtype)
    dv = torch.einsum("bhgqk,bqhgd->bkhd", weights, dout).to(v.dtype)
    dsinks = -(torch.exp(sink - norm) * mean).sum((0, 3, 4)).flatten().to(sinks.dtype)
    return dq, dk, dv, dsinks, None, None, None, None, None, None


attention_sink_operator = define(
    "attention_sink(Tensor q, Tensor k, Tensor v, Tensor sinks, float scale, int window, int start, "
    "Tensor? start_tensor, bool tf32, str configs) -> Tensor",
    run=_run,
    fake=_fake,
    save=_save,
    backward=_backward,
)
