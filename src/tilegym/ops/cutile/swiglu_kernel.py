"""swiglu in cuTile Python."""

from __future__ import annotations

import cuda.tile as ct
import torch

from tilegym.ops.cutile.gated import gated
from tilegym.ops.cutile.launcher import KernelCall


@ct.kernel
def swiglu_kernel(out: ct.Array, a: ct.Array, b: ct.Array, block: ct.Constant[int]) -> None:
    """`block` columns of one row of three matrices [rows, n]."""
    place = (ct.bid(0), ct.bid(1))
    gate = ct.load(a, place, (1, block), padding_mode=ct.PaddingMode.ZERO)
    up = ct.load(b, place, (1, block), padding_mode=ct.PaddingMode.ZERO)
    ct.store(out, place, gated(gate, up, out.dtype))


def swiglu(
    out: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, block_size: int, num_cta_in_cga: int, occupancy: int
) -> KernelCall:
    """The launch for matrices [rows, n] with any strides."""
    grid = (out.shape[0], -(-out.shape[1] // block_size))
    arguments = {"out": out, "a": a, "b": b}
    return KernelCall(swiglu_kernel, grid, arguments, (block_size,), num_cta_in_cga, occupancy)
