"""attention_sink on the Rust kernel: any head size, any strides, key length and window as run-time values."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

import torch

from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.planned import Launch, Output, planned, tuned
from tilegym.backend.cutile_rs.utils import next_power_of_2
from tilegym.ops.cutile_rs import checks
from tilegym.ops.cutile_rs.autograd.attention_sink import attention_sink_operator
from tilegym.ops.cutile_rs.autograd.operator import encoded
from tilegym.ops.cutile_rs.configs import AttentionConfig, candidates_for
from tilegym.ops.cutile_rs.precision import tf32, tf32_settings

_OP = "attention_sink"
# Rows of the smallest tile that the tensor cores multiply.
_FEWEST_ROWS = 16


def _operator(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    sm_scale: float = 0.125,
    sliding_window: int | None = None,
    start_q: torch.Tensor | int = 0,
    *,
    allow_tf32: bool | None = None,
    kernel_configs: Mapping[str, int] | None = None,
) -> torch.Tensor:
    first, start = (0, start_q) if isinstance(start_q, torch.Tensor) else (start_q, None)
    options = (bool(tf32(allow_tf32)), encoded(kernel_configs))
    window = _window(sliding_window)
    return attention_sink_operator(query, key, value, sinks, float(sm_scale), window, first, start, *options)


@register_impl(_OP, backend="cutile-rs")
@planned(operator=_operator, autocast="lower")
def attention_sink(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    sm_scale: float = 0.125,
    sliding_window: int | None = None,
    start_q: torch.Tensor | int = 0,
    *,
    allow_tf32: bool | None = None,
    kernel_configs: Mapping[str, int] | None = None,
) -> torch.Tensor | Launch:
    """Causal attention with a sink a head; see tilegym.ops.attention_sink."""
    query, key, value, sinks = _operands(query, key, value, sinks)
    window = _window(sliding_window)
    first, start = _start(start_q, query)
    batches, queries, heads, groups, depth = query.shape
    if query.numel() == 0 or key.shape[1] == 0:
        return query.new_zeros((batches, queries, heads * groups * depth))
    candidates = candidates_for(_OP, query.device, AttentionConfig, kernel_configs)
    rounded = tf32(allow_tf32)

    def launch_with(config: AttentionConfig) -> Launch:
        return Launch(
            _OP,
            (
                Output.like(query, (batches, queries, heads * groups * depth), seen_as=query.shape),
                query,
                key,
                value,
                sinks,
                start,
            ),
            {
                "start_q": first,
                "window": window,
                "scale": float(sm_scale),
                "tile_m": min(config.tile_m, max(next_power_of_2(queries), _FEWEST_ROWS)),
                "tile_n": config.tile_n,
                "num_cta_in_cga": config.num_cta_in_cga,
                "occupancy": config.occupancy,
                "allow_tf32": rounded,
            },
        )

    # Key lengths of one power of two share a record: a cache that grows by a key a call must not be tuned at each.
    length = next_power_of_2(key.shape[1])
    tuned_for = (*query.shape, length, window, query.dtype, rounded, query.stride(), key.stride(), value.stride())
    launch = tuned(launch_with, candidates, tuned_for, _OP, query.device)
    return dataclasses.replace(launch, settings=tf32_settings(allow_tf32, query.dtype))


def _operands(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, sinks: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    query = checks.usable(_OP, "query", query)
    checks.rank(_OP, "query", query, 5)
    batches, _, heads, groups, depth = query.shape
    others = []
    for name, tensor, rank in (("key", key, 4), ("value", value, 4), ("sinks", sinks, 1)):
        tensor = checks.usable(_OP, name, tensor)
        checks.same_device(_OP, "query", query, name, tensor)
        checks.same_dtype(_OP, "query", query, name, tensor)
        checks.rank(_OP, name, tensor, rank)
        others.append(tensor)
    key, value, sinks = others
    checks.shape(_OP, "key", key, (batches, key.shape[1], heads, depth), "batch, heads and depth of query")
    checks.shape(_OP, "value", value, tuple(key.shape), "as large as key")
    checks.shape(_OP, "sinks", sinks, (heads * groups,), "one per head of query")
    return query, key, value, sinks


def _window(sliding_window: int | None) -> int:
    window = sliding_window or 0
    if window < 0:
        raise ValueError(f"{_OP}: sliding_window: wanted None or at least 0, got {window}")
    return window


def _start(start_q: torch.Tensor | int, query: torch.Tensor) -> tuple[int, torch.Tensor]:
    """The first query's position: as an integer with an empty tensor, or in a tensor that the kernel reads."""
    if isinstance(start_q, int):
        return start_q, _no_start(query.device)
    if not isinstance(start_q, torch.Tensor):
        raise TypeError(f"{_OP}: start_q: wanted an integer or a torch.Tensor, got {type(start_q).__name__}")
    checks.same_device(_OP, "query", query, "start_q", start_q)
    if start_q.numel() != 1 or start_q.is_floating_point() or start_q.is_complex():
        raise ValueError(f"{_OP}: start_q: wanted one integer, got {start_q.dtype} of shape {tuple(start_q.shape)}")
    return 0, start_q.reshape(1).to(torch.int32)


@functools.cache
def _no_start(device: torch.device) -> torch.Tensor:
    return torch.empty(0, dtype=torch.int32, device=device)
