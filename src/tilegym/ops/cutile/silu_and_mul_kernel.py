"""silu_and_mul in cuTile Python: the halves of a row are two views of one array."""

from __future__ import annotations

import cuda.tile as ct
import torch

from tilegym.ops.cutile.gated import gated
from tilegym.ops.cutile.launcher import KernelCall


@ct.kernel
def silu_and_mul_kernel(out: ct.Array, inp: ct.Array, block: ct.Constant[int]) -> None:
    """`block` columns of one row of out [rows, hidden] from inp [rows, 2 * hidden]."""
    row, column = ct.bid(0), ct.bid(1)
    hidden = out.shape[1]
    gate = ct.load(inp.slice(1, 0, hidden), (row, column), (1, block), padding_mode=ct.PaddingMode.ZERO)
    up = ct.load(inp.slice(1, hidden, 2 * hidden), (row, column), (1, block), padding_mode=ct.PaddingMode.ZERO)
    ct.store(out, (row, column), gated(gate, up, out.dtype))


def silu_and_mul(
    out: torch.Tensor, inp: torch.Tensor, *, block_size: int, num_cta_in_cga: int, occupancy: int
) -> KernelCall:
    """The launch for matrices with any strides."""
    grid = (out.shape[0], -(-out.shape[1] // block_size))
    return KernelCall(silu_and_mul_kernel, grid, {"out": out, "inp": inp}, (block_size,), num_cta_in_cga, occupancy)
