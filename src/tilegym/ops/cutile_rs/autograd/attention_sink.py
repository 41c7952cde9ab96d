"""attention_sink as a torch operator. Its backward holds the weights of a few queries at a time."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import torch

from tilegym.ops.cutile_rs.autograd.operator import decoded, define
from tilegym.ops.reference.attention_sink import hidden_keys

# Weights that are held at a time; each takes some tens of bytes.
_SCORES = 1 << 23


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
    operands = (gradient, q, k, v, sinks, out, ctx.scale, ctx.window, ctx.start, start_tensor)
    return *_gradients_operator(*operands), None, None, None, None, None, None


attention_sink_operator = define(
    "attention_sink(Tensor q, Tensor k, Tensor v, Tensor sinks, float scale, int window, int start, "
    "Tensor? start_tensor, bool tf32, str configs) -> Tensor",
    run=_run,
    fake=_fake,
    save=_save,
    backward=_backward,
)


def _gradients(
    gradient: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    sinks: torch.Tensor,
    out: torch.Tensor,
    scale: float,
    window: int,
    start: int,
    start_tensor: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of q, k, v and sinks: some queries at a time, each against the keys that it may see."""
    batches, queries, heads, groups, _ = q.shape
    problem = _Problem(k.float(), v.float(), sinks.float().view(1, heads, groups, 1, 1), scale, window)
    dq, dk, dv = torch.empty_like(q), torch.zeros_like(problem.k), torch.zeros_like(problem.v)
    dsinks = torch.zeros(heads * groups, device=q.device)
    dout, result = gradient.reshape(q.shape), out.view(q.shape)
    step = max(_SCORES // max(batches * heads * groups * k.shape[1], 1), 1)
    for first in range(0, queries, step):
        rows = slice(first, first + step)
        keys = slice(0, k.shape[1])
        if start_tensor is None:
            keys = _visible_keys(first + start, min(first + step, queries) + start, window, k.shape[1])
        position = first + (start if start_tensor is None else start_tensor)
        part = problem.gradients(q[:, rows].float(), dout[:, rows].float(), result[:, rows].float(), keys, position)
        dq[:, rows] = part[0]
        dk[:, keys] += part[1]
        dv[:, keys] += part[2]
        dsinks += part[3]
    return dq, dk.to(k.dtype), dv.to(v.dtype), dsinks.to(sinks.dtype)


def _visible_keys(first: int, end: int, window: int, keys: int) -> slice:
    """The keys that queries at positions from `first` up to but not `end` see."""
    lowest = max(first - window + 1, 0) if window else 0
    return slice(min(lowest, keys), max(min(end, keys), min(lowest, keys)))


@dataclasses.dataclass(frozen=True)
class _Problem:
    """What all queries share, in float32; the sinks as [1, heads, groups, 1, 1]."""

    k: torch.Tensor
    v: torch.Tensor
    sinks: torch.Tensor
    scale: float
    window: int

    def gradients(
        self, q: torch.Tensor, dout: torch.Tensor, out: torch.Tensor, keys: slice, position: int | torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Of some queries, the first one at `position`, and what they add to those of the keys, values and sinks."""
        k, v = self.k[:, keys], self.v[:, keys]
        logits = torch.einsum("bqhgd,bkhd->bhgqk", q, k).mul_(self.scale)
        hidden = hidden_keys(q.shape[1], k.shape[1], self.window, position - keys.start, q.device)
        logits.masked_fill_(hidden, -math.inf)
        norm = torch.logaddexp(torch.logsumexp(logits, -1, keepdim=True), self.sinks)
        weights = logits.sub_(norm).exp_()
        # Every weight's gradient less their weighted mean, which is the result times its own gradient.
        mean = (dout * out).sum(-1).permute(0, 2, 3, 1).unsqueeze(-1)
        dv = torch.einsum("bhgqk,bqhgd->bkhd", weights, dout)
        dlogits = torch.einsum("bqhgd,bkhd->bhgqk", dout, v).sub_(mean).mul_(weights).mul_(self.scale)
        dq = torch.einsum("bhgqk,bkhd->bqhgd", dlogits, k)
        dk = torch.einsum("bhgqk,bqhgd->bkhd", dlogits, q)
        return dq, dk, dv, -(torch.exp(self.sinks - norm) * mean).sum((0, 3, 4)).flatten()


def _fake_gradients(
    gradient: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sinks: torch.Tensor, *_: Any
) -> tuple[torch.Tensor, ...]:
    dk, dv = (torch.empty_like(tensor, memory_format=torch.contiguous_format) for tensor in (k, v))
    return torch.empty_like(q), dk, dv, torch.empty_like(sinks, memory_format=torch.contiguous_format)


def _save_nothing(ctx: Any, inputs: Any, output: Any) -> None:
    """There is no second derivative."""


def _no_second_derivative(ctx: Any, *_: Any) -> Any:
    raise NotImplementedError(
        "attention_sink: backward: wanted first derivatives, got a derivative of the backward pass; take "
        "backend='pytorch', whose formulas have one, or call backward without create_graph"
    )


# An operator of its own: a compiler that traces backward must not unroll its loop.
_gradients_operator = define(
    "attention_sink_backward(Tensor gradient, Tensor q, Tensor k, Tensor v, Tensor sinks, Tensor out, float scale, "
    "int window, int start, Tensor? start_tensor) -> (Tensor, Tensor, Tensor, Tensor)",
    run=_gradients,
    fake=_fake_gradients,
    save=_save_nothing,
    backward=_no_second_derivative,
)
