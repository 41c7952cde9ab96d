"""attention_sink in cuTile Python: one pass over the keys with a running maximum and sum, in powers of two."""

from __future__ import annotations

import math
from typing import TypeAlias

import cuda.tile as ct
import torch

from tilegym.backend.cutile_rs.utils import next_power_of_2
from tilegym.ops.cutile.launcher import KernelCall
from tilegym.ops.cutile.tiles import multiplied, rounds

Extent: TypeAlias = ct.Constant[int]


@ct.kernel
def attention_sink_kernel(
    out: ct.Array,
    q: ct.Array,
    k: ct.Array,
    v: ct.Array,
    sinks: ct.Array,
    start: ct.Array,
    start_q: int,
    window: int,
    log2_scale: float,
    tile_m: Extent,
    tile_n: Extent,
    tile_d: Extent,
    tf32: Extent,
    start_in_memory: Extent,
) -> None:
    """out and q [batches, queries, heads, groups, d], k and v [batches, keys, heads, d], sinks [heads * groups].

    A tile block computes tile_m queries of one head and group. The first query's position is start[0], or start_q.
    """
    block, member, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    groups, keys = q.shape[3], k.shape[1]
    head, group = member // groups, member % groups
    first = start_q
    if start_in_memory == 1:
        first = ct.load(start, (0,), (1,)).item()
    first = first + block * tile_m

    queries = ct.load(q, (batch, block, head, group, 0), (1, tile_m, 1, 1, tile_d), padding_mode=ct.PaddingMode.ZERO)
    query = ct.reshape(queries, (tile_m, tile_d))
    sink = ct.reshape(ct.astype(ct.load(sinks, (member,), (1,)), ct.float32), (1, 1)) * 1.4426950408889634
    sink = ct.broadcast_to(sink, (tile_m, 1))
    position = ct.reshape(ct.arange(tile_m, dtype=ct.int32) + first, (tile_m, 1))
    reach = 2147483647
    begin = 0
    if window > 0:
        reach = window
        begin = max(first - window + 1, 0)
    end = max(min(first + tile_m, keys), 0)

    # Finite where the sink is -inf, so that a tile of hidden keys does not compute -inf - -inf.
    highest = ct.maximum(sink, -3.4028235e38)
    total = ct.exp2(sink - highest)
    result = ct.zeros((tile_m, tile_d), ct.float32)
    for step in range(begin // tile_n, ct.cdiv(end, tile_n)):
        across = ct.load(
            k,
            (batch, 0, head, step),
            (1, tile_d, 1, tile_n),
            order=(0, 3, 2, 1),
            padding_mode=ct.PaddingMode.ZERO,
        )
        products = multiplied(query, ct.reshape(across, (tile_d, tile_n)), ct.zeros((tile_m, tile_n), ct.float32), tf32)
        key = ct.reshape(ct.arange(tile_n, dtype=ct.int32) + step * tile_n, (1, tile_n))
        seen = (key <= position) & (position - key < reach) & (key < keys)
        logits = ct.where(seen, products * log2_scale, -math.inf)

        higher = ct.maximum(highest, ct.max(logits, 1, keepdims=True))
        weights = ct.exp2(logits - higher)
        shrink = ct.exp2(highest - higher)
        total = total * shrink + ct.sum(weights, 1, keepdims=True)
        highest = higher
        values = ct.load(v, (batch, step, head, 0), (1, tile_n, 1, tile_d), padding_mode=ct.PaddingMode.ZERO)
        result = multiplied(ct.astype(weights, q.dtype), ct.reshape(values, (tile_n, tile_d)), result * shrink, tf32)
    scaled = ct.astype(result * (1.0 / total), out.dtype)
    ct.store(out, (batch, block, head, group, 0), ct.reshape(scaled, (1, tile_m, 1, 1, tile_d)))


def attention_sink(
    out: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    sinks: torch.Tensor,
    start: torch.Tensor,
    *,
    start_q: int,
    window: int,
    scale: float,
    tile_m: int,
    tile_n: int,
    num_cta_in_cga: int,
    occupancy: int,
    allow_tf32: int,
) -> KernelCall:
    """The launch for tensors with any strides; `start` is empty where start_q is the first query's position."""
    batches, queries, heads, groups, depth = q.shape
    return KernelCall(
        attention_sink_kernel,
        (-(-queries // tile_m), heads * groups, batches),
        {
            "out": out,
            "q": q,
            "k": k,
            "v": v,
            "sinks": sinks,
            "start": start,
            "start_q": start_q,
            "window": window,
            "log2_scale": scale * math.log2(math.e),
        },
        (tile_m, tile_n, next_power_of_2(depth), rounds(q, allow_tf32), int(start.numel() > 0)),
        num_cta_in_cga,
        occupancy,
    )
