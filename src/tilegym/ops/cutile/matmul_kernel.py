"""matmul in cuTile Python: one tile of the result a tile block, or a fixed number of blocks that share the tiles."""

from __future__ import annotations

from typing import Any, TypeAlias

import cuda.tile as ct

from tilegym.ops.cutile.tiles import multiplied, place_of, product_launch

Extent: TypeAlias = ct.Constant[int]


def tile_of_product(a: Any, b: Any, row: Any, column: Any, bm: int, bn: int, bk: int, tf32: int) -> Any:
    """A float32 tile [bm, bn] of a @ b. Operands past an edge read as zero."""
    total = ct.zeros((bm, bn), ct.float32)
    for step in range(ct.num_tiles(a, 1, (bm, bk))):
        left = ct.load(a, (row, step), (bm, bk), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, (step, column), (bk, bn), padding_mode=ct.PaddingMode.ZERO)
        total = multiplied(left, right, total, tf32)
    return total


@ct.kernel
def matmul_non_persistent_kernel(
    c: ct.Array, a: ct.Array, b: ct.Array, bm: Extent, bn: Extent, bk: Extent, group: Extent, tf32: Extent
) -> None:
    """c [m, n] = a [m, k] @ b [k, n]; one tile block a tile of c."""
    tiles_m, tiles_n = ct.num_tiles(c, 0, (bm, bn)), ct.num_tiles(c, 1, (bm, bn))
    row, column = place_of(ct.bid(0), tiles_m, tiles_n, group)
    ct.store(c, (row, column), ct.astype(tile_of_product(a, b, row, column, bm, bn, bk, tf32), c.dtype))


@ct.kernel
def matmul_static_persistent_kernel(
    c: ct.Array, a: ct.Array, b: ct.Array, bm: Extent, bn: Extent, bk: Extent, group: Extent, tf32: Extent
) -> None:
    """c [m, n] = a [m, k] @ b [k, n]; each of any number of tile blocks computes every grid-th tile of c."""
    tiles_m, tiles_n = ct.num_tiles(c, 0, (bm, bn)), ct.num_tiles(c, 1, (bm, bn))
    for tile in range(ct.bid(0), tiles_m * tiles_n, ct.num_blocks(0)):
        row, column = place_of(tile, tiles_m, tiles_n, group)
        ct.store(c, (row, column), ct.astype(tile_of_product(a, b, row, column, bm, bn, bk, tf32), c.dtype))


matmul = product_launch(matmul_non_persistent_kernel, matmul_static_persistent_kernel)
