"""Reference of attention_sink: the whole matrix of logits, with the sinks as one more column."""

from __future__ import annotations

import math
from typing import Any

import torch

from tilegym.backend import register_impl


@register_impl("attention_sink", backend="pytorch")
def attention_sink(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    sm_scale: float = 0.125,
    sliding_window: int | None = None,
    start_q: torch.Tensor | int = 0,
    **_: Any,
) -> torch.Tensor:
    """Attention over grouped heads in float32, rounded once to query's dtype."""
    return _attention(query, key, value, sinks, sm_scale, sliding_window, start_q, torch.float32).to(query.dtype)


def attention_sink_f64(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    sm_scale: float = 0.125,
    sliding_window: int | None = None,
    start_q: torch.Tensor | int = 0,
    **_: Any,
) -> torch.Tensor:
    """attention_sink in float64."""
    return _attention(query, key, value, sinks, sm_scale, sliding_window, start_q, torch.float64)


def hidden_keys(
    queries: int, keys: int, sliding_window: int | None, start_q: torch.Tensor | int, device: torch.device
) -> torch.Tensor:
    """[queries, keys], True where a query does not see a key: one after it, or one that has left its window."""
    position = torch.arange(queries, device=device)[:, None] + start_q
    key = torch.arange(keys, device=device)[None, :]
    hidden = key > position
    return hidden | (key <= position - sliding_window) if sliding_window else hidden


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    sm_scale: float,
    sliding_window: int | None,
    start_q: torch.Tensor | int,
    dtype: torch.dtype,
) -> torch.Tensor:
    q, k, v = query.to(dtype), key.to(dtype), value.to(dtype)
    batches, queries, heads, groups, _ = q.shape
    logits = torch.einsum("bqhgd,bkhd->bhgqk", q, k) * sm_scale
    hidden = hidden_keys(queries, k.shape[1], sliding_window, start_q, q.device)
    logits = logits.masked_fill(hidden, -math.inf)
    sink_logits = sinks.to(dtype).view(1, heads, groups, 1, 1).expand(batches, heads, groups, queries, 1)
    weights = torch.softmax(torch.cat([logits, sink_logits], dim=-1), dim=-1)[..., :-1]
    return torch.einsum("bhgqk,bkhd->bqhgd", weights, v).flatten(2)
