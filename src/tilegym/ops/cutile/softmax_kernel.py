"""softmax in cuTile Python: one row a tile block, held as a whole or in chunks."""

from __future__ import annotations

import cuda.tile as ct
import torch

from tilegym.ops.cutile.launcher import KernelCall


@ct.kernel
def softmax_single_tile_kernel(out: ct.Array, x: ct.Array, block: ct.Constant[int]) -> None:
    """Rows of at most `block` columns. Lanes past the row's end read as -inf, which add nothing to the sum."""
    row = ct.bid(0)
    loaded = ct.load(x, (row, 0), (1, block), padding_mode=ct.PaddingMode.NEG_INF)
    values = ct.astype(loaded, ct.float32)
    powers = ct.exp(values - ct.max(values, 1, keepdims=True))
    scale = 1.0 / ct.sum(powers, 1, keepdims=True)
    ct.store(out, (row, 0), ct.astype(powers * scale, out.dtype))


@ct.kernel
def softmax_chunked_kernel(out: ct.Array, x: ct.Array, block: ct.Constant[int]) -> None:
    """Rows of any length: one pass for the maximum and a sum that follows it, one that writes."""
    row = ct.bid(0)
    chunks = ct.num_tiles(x, 1, (1, block))
    # Finite, so that a chunk of nothing but -inf does not compute -inf - -inf.
    highest = ct.full((1, 1), -3.4028235e38, ct.float32)
    total = ct.zeros((1, 1), ct.float32)
    for chunk in range(chunks):
        loaded = ct.load(x, (row, chunk), (1, block), padding_mode=ct.PaddingMode.NEG_INF)
        values = ct.astype(loaded, ct.float32)
        higher = ct.maximum(highest, ct.max(values, 1, keepdims=True))
        total = total * ct.exp(highest - higher) + ct.sum(ct.exp(values - higher), 1, keepdims=True)
        highest = higher
    scale = 1.0 / total
    for chunk in range(chunks):
        loaded = ct.load(x, (row, chunk), (1, block), padding_mode=ct.PaddingMode.NEG_INF)
        powers = ct.exp(ct.astype(loaded, ct.float32) - highest)
        ct.store(out, (row, chunk), ct.astype(powers * scale, out.dtype))


def softmax(out: torch.Tensor, x: torch.Tensor, *, block_size: int, num_cta_in_cga: int, occupancy: int) -> KernelCall:
    """The launch for matrices [rows, n] with any strides."""
    kernel = softmax_single_tile_kernel if x.shape[1] <= block_size else softmax_chunked_kernel
    return KernelCall(kernel, (x.shape[0],), {"out": out, "x": x}, (block_size,), num_cta_in_cga, occupancy)
