"""Views of 4-bit elements, two to a byte."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tile_program import DYNAMIC, Builder, TensorView, Tile, TileView, Value

from cpu_ops.formats import DTYPES, Array
from cpu_ops.kernel import Kernel, load_view, pack_nibbles, store_view, zeros


def packed_view_kernels() -> Iterator[Kernel]:
    """f4E2M1FN, two elements to a byte. The oracle packs and unpacks the bytes with numpy."""
    element, rows, columns, tile = "f4E2M1FN", 11, 14, (4, 8)
    codes = np.random.default_rng(3).integers(0, 16, (rows, columns), np.uint8).view(DTYPES[element])
    memory = ("i8", pack_nibbles(codes))

    def view(k: Builder, base: Value, pitch: int, **kind: object) -> Value:
        tensor = TensorView(element, (DYNAMIC, columns), (DYNAMIC, 1))
        pointer = k.op("ptr_to_ptr", base, result=Tile(element, (), pointers=True))
        made = k.op("make_tensor_view", pointer, [k.integer(rows)], [k.integer(pitch)], result=tensor)
        op = {"strided": "make_strided_view", "gather_scatter": "make_gather_scatter_view"}
        return k.op(op.get(str(kind.get("kind")), "make_partition_view"), made,
                    result=TileView(tensor, tile, **kind))  # type: ignore[arg-type]  # fmt: skip

    def out(k: Builder, base: Value, value: Value) -> None:
        k.store_all(base, k.op("ftof", value, result=value.tile.like("f32"), rounding_mode=0))

    def values(part: Array, padding: float, inside: Array) -> Array:
        return np.where(inside, part.astype(np.float32), np.float32(padding)).astype(np.float32)

    def corner(first: int, second: int, steps: tuple[int, int] = tile) -> tuple[Array, Array]:
        """The tile at an index, and which of its elements lie inside."""
        i, j = np.arange(4)[:, None] + first * steps[0], np.arange(8)[None, :] + second * steps[1]
        return codes[np.minimum(i, rows - 1), np.minimum(j, columns - 1)], (i < rows) & (j < columns)

    for padding, value in (("zero", 0.0), ("neg_inf", -6.0)):
        for index in ((0, 0), (2, 1)):

            def load(k: Builder, a: Value, o: Value, padding: str = padding, index: tuple[int, int] = index) -> None:
                out(k, o, load_view(k, view(k, a, columns, padding=padding), *map(k.integer, index)))

            part, inside = corner(*index)
            yield Kernel(("load_view_tko",), element, load, [memory, zeros("f32", *tile)],
                         {1: values(part, value, inside)}, f"{padding}-{index[0]}{index[1]}")  # fmt: skip

    def odd_steps(k: Builder, a: Value, o: Value) -> None:
        """Tiles that begin inside a byte."""
        out(
            k,
            o,
            load_view(k, view(k, a, columns, kind="strided", steps=(3, 3), padding="zero"), *map(k.integer, (2, 3))),
        )

    part, inside = corner(2, 3, (3, 3))
    yield Kernel(("load_view_tko", "make_strided_view"), element, odd_steps, [memory, zeros("f32", *tile)],
                 {1: values(part, 0.0, inside)}, "odd")  # fmt: skip

    wanted = codes[:4, :8]
    for name, pitch, column in (("aligned", columns, 1), ("odd-pitch", 15, 0)):

        def store(k: Builder, a: Value, o: Value, pitch: int = pitch, column: int = column) -> None:
            tile_value = load_view(k, view(k, a, columns), k.integer(0), k.integer(0))
            store_view(k, tile_value, view(k, o, pitch), k.integer(2), k.integer(column))

        before = np.full(rows * pitch + rows * pitch % 2, 15, np.uint8)
        after = before.copy()
        for i in range(3):
            count = min(8, columns - 8 * column)
            start = (8 + i) * pitch + 8 * column
            after[start : start + count] = wanted[i, :count].view(np.uint8)
        yield Kernel(("store_view_tko",), element, store, [memory, ("i8", pack_nibbles(before))],
                     {1: pack_nibbles(after)}, name)  # fmt: skip

    picks = np.array([9, 0, -1, 10], np.int32)

    def sparse(k: Builder, a: Value, i: Value, o: Value) -> None:
        rows_of = view(k, a, columns, kind="gather_scatter", sparse_dim=0, padding="zero")
        out(k, o, load_view(k, rows_of, k.load_all(i, 4), k.integer(3)))

    columns_of = np.arange(8) + 3
    inside = ((picks >= 0) & (picks < rows))[:, None] & (columns_of < columns)
    yield Kernel(("load_view_tko", "make_gather_scatter_view"), element, sparse,
                 [memory, ("i32", picks), zeros("f32", *tile)],
                 {2: values(codes[picks][:, np.minimum(columns_of, columns - 1)], 0.0, inside)}, "sparse")  # fmt: skip

    def scatter(k: Builder, a: Value, i: Value, o: Value) -> None:
        tile_value = load_view(k, view(k, a, columns), k.integer(0), k.integer(0))
        rows_of = view(k, o, columns, kind="gather_scatter", sparse_dim=0)
        store_view(k, tile_value, rows_of, k.load_all(i, 4), k.integer(3))

    before = np.full((rows, columns), 15, np.uint8)
    after = before.copy()
    for n, pick in enumerate(picks):
        if pick >= 0:
            after[pick, 3:11] = wanted[n].view(np.uint8)
    arrays = [memory, ("i32", picks), ("i8", pack_nibbles(before))]
    yield Kernel(("store_view_tko", "make_gather_scatter_view"), element, scatter, arrays, {2: pack_nibbles(after)},
                 "scatter")  # fmt: skip
