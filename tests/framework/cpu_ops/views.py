"""Tensor views and the tiles that views of them yield."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tile_program import Builder, Tile, TileView, Value

from cpu_ops.formats import DTYPES, FLOATS, Array, is_float
from cpu_ops.kernel import (
    MEMORY,
    Kernel,
    load_view,
    ramp,
    store_view,
    view_of,
    zeros,
)


def view_kernels() -> Iterator[Kernel]:
    for element in MEMORY:
        yield from _view_memory(element)
    yield from _views()


_PADDINGS = {"zero": 0.0, "neg_zero": -0.0, "nan": np.nan, "pos_inf": np.inf, "neg_inf": -np.inf}


def _view_memory(element: str) -> Iterator[Kernel]:
    """The last tile of an 11 x 13 tensor in tiles of 4 x 8: its last row and its last 3 columns lie outside."""
    x = ramp(element, 11, 13)
    kinds = _PADDINGS if element in (*FLOATS, "f8E5M2") else {} if element == "f8E8M0FNU" else {"zero": 0}
    for padding, value in kinds.items():
        expected = np.full((4, 8), value).astype(np.float32 if is_float(element) else x.dtype).astype(x.dtype)
        expected[:3, :5] = x[8:, 8:]

        def build(k: Builder, a: Value, out: Value, padding: str = padding) -> None:
            view = view_of(k, a, (11, 13), (4, 8), padding=padding)
            k.store_all(out, load_view(k, view, k.integer(2), k.integer(1)))

        yield Kernel(("load_view_tko", "make_partition_view", "make_tensor_view"), element, build,
                     [(element, x), zeros(element, 4, 8)], {1: expected}, padding)  # fmt: skip

    def store(k: Builder, a: Value, out: Value) -> None:
        store_view(k, k.load_all(a, 4, 8), view_of(k, out, (11, 13), (4, 8)), k.integer(2), k.integer(1))

    after = np.zeros((11, 13), x.dtype)
    after[8:, 8:] = x.reshape(-1)[:32].reshape(4, 8)[:3, :5]
    yield Kernel(("store_view_tko",), element, store, [(element, x), zeros(element, 11, 13)], {1: after}, "edge")


def _views() -> Iterator[Kernel]:
    x = ramp("f32", 11, 13)
    source = ("f32", x)

    def transposed(k: Builder, a: Value, out: Value) -> None:
        view = view_of(k, a, (11, 13), (8, 4), dim_map=(1, 0))
        k.store_all(out, load_view(k, view, k.integer(0), k.integer(1)))

    yield Kernel(("make_partition_view",), "f32", transposed, [source, zeros("f32", 8, 4)],
                 {1: x[4:8, :8].T.copy()}, "dim_map")  # fmt: skip

    def strided(k: Builder, a: Value, out: Value) -> None:
        view = view_of(k, a, (11, 13), (4, 8), kind="strided", steps=(3, 2), padding="zero")
        k.store_all(out, load_view(k, view, k.integer(3), k.integer(4)))

    expected = np.zeros((4, 8), np.float32)
    expected[:2, :5] = x[9:, 8:]
    yield Kernel(("make_strided_view", "load_view_tko"), "f32", strided, [source, zeros("f32", 4, 8)], {1: expected})

    for wide in ("i32", "i64"):

        def outside(k: Builder, a: Value, out: Value, wide: str = wide) -> None:
            view = view_of(k, a, (11, 13), (4, 8), padding="zero")
            tile = load_view(k, view, k.integer(-1, wide), k.integer(2**31 - 1, wide))
            store_view(k, tile, view_of(k, out, (4, 8), (4, 8)), k.integer(0), k.integer(0))

        yield Kernel(("load_view_tko",), "f32", outside, [source, ("f32", np.ones((4, 8), np.float32))],
                     {1: np.zeros((4, 8), np.float32)}, f"outside-{wide}")  # fmt: skip

    def shapes(k: Builder, a: Value, out: Value) -> None:
        view = view_of(k, a, (11, 13), (4, 8))
        assert isinstance(view.type, TileView)
        numbers = k.emit("get_index_space_shape", (view,), [Tile("i32")] * 2)
        tensor = k.op("make_tensor_view", a, [k.integer(11), k.integer(13)], [k.integer(13)], result=view.type.tensor)
        numbers += k.emit("get_tensor_shape", (tensor,), [Tile("i32")] * 2)
        for i, number in enumerate(numbers):
            k.store(k.op("offset", out, k.integer(i)), number)

    yield Kernel(("get_index_space_shape", "get_tensor_shape"), "i32", shapes, [source, zeros("i32", 4)],
                 {1: np.array([3, 2, 11, 13], np.int32)})  # fmt: skip

    for dim, wide in ((0, "i32"), (1, "i32"), (0, "i8"), (1, "i64")):
        yield from _sparse_views(x, dim, wide)


def _sparse_views(x: Array, dim: int, wide: str) -> Iterator[Kernel]:
    picks = np.array([9, 0, -1, 3, 10, 3, 100, 7], DTYPES[wide])
    tile = (8, 4) if dim == 0 else (4, 8)

    def view(k: Builder, base: Value) -> Value:
        return view_of(k, base, (11, 13), tile, kind="gather_scatter", sparse_dim=dim, padding="neg_inf")

    def index(k: Builder, picks: Value) -> list[Value]:
        both = [k.load_all(picks, 8), k.integer(2)]
        return both if dim == 0 else both[::-1]

    def load(k: Builder, a: Value, i: Value, out: Value) -> None:
        k.store_all(out, load_view(k, view(k, a), *index(k, i)))

    rows = x if dim == 0 else x.T
    inside = (picks >= 0) & (picks < len(rows))
    expected = np.full((8, 4), -np.inf, np.float32)
    expected[inside] = rows[picks[inside].astype(int), 2:6]
    wanted = expected if dim == 0 else np.ascontiguousarray(expected.T)
    arrays = [("f32", x), (wide, picks), zeros("f32", *tile)]
    yield Kernel(("make_gather_scatter_view", "load_view_tko"), "f32", load, arrays, {2: wanted}, f"dim{dim}-{wide}")

    def store(k: Builder, a: Value, i: Value, out: Value) -> None:
        store_view(k, k.load_all(a, *tile), view(k, out), *index(k, i))

    after = np.zeros((11, 13), np.float32)
    values = x.reshape(-1)[:32].reshape(tile)
    for n, pick in enumerate(picks):
        if inside[n]:
            place = (int(pick), slice(2, 6)) if dim == 0 else (slice(2, 6), int(pick))
            after[place] = values[n] if dim == 0 else values[:, n]
    arrays = [("f32", x), (wide, picks), zeros("f32", 11, 13)]
    yield Kernel(("store_view_tko", "make_gather_scatter_view"), "f32", store, arrays, {2: after},
                 f"scatter-dim{dim}-{wide}")  # fmt: skip
