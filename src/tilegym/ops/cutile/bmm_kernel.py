"""bmm in cuTile Python: matmul's two schedules over the tiles of all batches."""

from __future__ import annotations

from typing import Any, TypeAlias

import cuda.tile as ct

from tilegym.ops.cutile.tiles import multiplied, place_of, product_launch

Extent: TypeAlias = ct.Constant[int]


def store_tile_of_product(c: Any, a: Any, b: Any, tile: Any, bm: int, bn: int, bk: int, group: int, tf32: int) -> None:
    """Computes and stores a tile of c, numbered through all batches. Operands past an edge read as zero."""
    tiles_m, tiles_n = ct.num_tiles(c, 1, (1, bm, bn)), ct.num_tiles(c, 2, (1, bm, bn))
    batch = tile // (tiles_m * tiles_n)
    row, column = place_of(tile % (tiles_m * tiles_n), tiles_m, tiles_n, group)
    total = ct.zeros((bm, bn), ct.float32)
    for step in range(ct.num_tiles(a, 2, (1, bm, bk))):
        left = ct.load(a, (batch, row, step), (1, bm, bk), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, (batch, step, column), (1, bk, bn), padding_mode=ct.PaddingMode.ZERO)
        total = multiplied(ct.reshape(left, (bm, bk)), ct.reshape(right, (bk, bn)), total, tf32)
    ct.store(c, (batch, row, column), ct.reshape(ct.astype(total, c.dtype), (1, bm, bn)))


@ct.kernel
def bmm_non_persistent_kernel(
    c: ct.Array, a: ct.Array, b: ct.Array, bm: Extent, bn: Extent, bk: Extent, group: Extent, tf32: Extent
) -> None:
    """c [q, m, n] = a [q, m, k] @ b [q, k, n]; one tile block a tile of c."""
    store_tile_of_product(c, a, b, ct.bid(0), bm, bn, bk, group, tf32)


@ct.kernel
def bmm_static_persistent_kernel(
    c: ct.Array, a: ct.Array, b: ct.Array, bm: Extent, bn: Extent, bk: Extent, group: Extent, tf32: Extent
) -> None:
    """c [q, m, n] = a [q, m, k] @ b [q, k, n]; each of any number of tile blocks computes every grid-th tile."""
    tiles = c.shape[0] * ct.num_tiles(c, 1, (1, bm, bn)) * ct.num_tiles(c, 2, (1, bm, bn))
    for tile in range(ct.bid(0), tiles, ct.num_blocks(0)):
        store_tile_of_product(c, a, b, tile, bm, bn, bk, group, tf32)


bmm = product_launch(bmm_non_persistent_kernel, bmm_static_persistent_kernel)
