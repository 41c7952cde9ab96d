"""What matmul and bmm share: the order of tiles and one step of a product."""

from __future__ import annotations

from typing import Any

import cuda.tile as ct
import torch


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
