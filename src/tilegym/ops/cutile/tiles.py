"""What matmul and bmm share: the order of tiles, one step of a product, and the launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cuda.tile as ct
import torch

from tilegym.ops.cutile.launcher import KernelCall


def place_of(tile: Any, tiles_m: Any, tiles_n: Any, group: int) -> tuple[Any, Any]:
    """Row and column of a tile, numbered so that `group` rows of tiles share the columns of b that they read."""
    first = tile // (group * tiles_n) * group
    rows = min(tiles_m - first, group)
    within = tile % (group * tiles_n)
    return first + within % rows, within // rows


def multiplied(a: Any, b: Any, total: Any, tf32: int) -> Any:
    """total + a @ b; float32 factors are rounded to TF32 first where tf32 is 1."""
    if tf32 == 1:
        return ct.mma(ct.astype(a, ct.tfloat32), ct.astype(b, ct.tfloat32), total)
    return ct.mma(a, b, total)


def rounds(a: torch.Tensor, allow_tf32: int) -> int:
    """1 where factors of a's dtype are rounded to TF32."""
    return int(a.dtype == torch.float32 and allow_tf32 != 0)


def product_launch(non_persistent: Any, static_persistent: Any) -> Callable[..., KernelCall]:
    """What makes the launch of a product's two schedules, for operands with any strides."""

    def launch(
        c: torch.Tensor,
        a: torch.Tensor,
        b: torch.Tensor,
        *,
        bm: int,
        bn: int,
        bk: int,
        group_size_m: int,
        num_programs: int,
        num_cta_in_cga: int,
        occupancy: int,
        persistent: int,
        allow_tf32: int,
    ) -> KernelCall:
        kernel = static_persistent if persistent else non_persistent
        constants = (bm, bn, bk, group_size_m, rounds(a, allow_tf32))
        return KernelCall(kernel, (num_programs,), {"c": c, "a": a, "b": b}, constants, num_cta_in_cga, occupancy)

    return launch
