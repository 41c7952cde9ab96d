"""Constants, and tiles taken apart, put together and turned."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from tile_program import Builder, Tile, Value

from cpu_ops.formats import DTYPES, Array
from cpu_ops.kernel import (
    MEMORY,
    SOME,
    Kernel,
    constant,
    dense,
    ramp,
    zeros,
)


def layout_kernels() -> Iterator[Kernel]:
    for element in MEMORY:
        values = ramp(element, 4, 8)
        yield Kernel(("constant",), element, lambda k, out, v=values, e=element: k.store_all(out, constant(k, e, v)),
                     [zeros(element, 4, 8)], {0: values}, "dense")  # fmt: skip
        one = values.reshape(-1)[3:4]
        yield Kernel(
            ("constant",), element,
            lambda k, out, v=one, e=element: k.store_all(out, k.constant(Tile(e, (16,)), dense(e, v))),
            [zeros(element, 16)], {0: np.repeat(one, 16)}, "splat",
        )  # fmt: skip
    for element in ("i8", "i16", "i32", "i64"):
        yield Kernel(("iota",), element, lambda k, out, e=element: k.store_all(out, k.iota(64, e)),
                     [zeros(element, 64)], {0: np.arange(64, dtype=DTYPES[element])})  # fmt: skip
    for element in SOME:
        yield from _layouts(element)


def _layouts(element: str) -> Iterator[Kernel]:
    x = ramp(element, 2, 4, 8)
    source = (element, x)

    def through(*shape: int) -> Callable[[str, Callable[[Builder, Value], Value], Array, str], Kernel]:
        def make(op: str, write: Callable[[Builder, Value], Value], expected: Array, variant: str) -> Kernel:
            def build(k: Builder, a: Value, out: Value) -> None:
                k.store_all(out, write(k, k.load_all(a, *shape)))

            arrays = [source, zeros(element, *expected.shape)]
            return Kernel((op,), element, build, arrays, {1: expected}, variant)

        return make

    tile = Tile(element)
    yield through(2, 4, 8)(
        "reshape", lambda k, t: k.op("reshape", t, result=tile.shaped(8, 1, 8)), x.reshape(8, 1, 8), ""
    )
    for order in ((2, 0, 1), (0, 2, 1), (2, 1, 0)):
        expected = np.ascontiguousarray(x.transpose(order))
        yield through(2, 4, 8)(
            "permute",
            lambda k, t, o=order, s=expected.shape: k.op("permute", t, result=tile.shaped(*s), permutation=o),
            expected, "".join(map(str, order)),
        )  # fmt: skip
    yield through(2, 4, 1)(
        "broadcast", lambda k, t: k.op("broadcast", t, result=tile.shaped(2, 4, 16)),
        np.broadcast_to(x.reshape(-1)[:8].reshape(2, 4, 1), (2, 4, 16)).copy(), "inner",
    )  # fmt: skip
    yield through(1, 4, 8)(
        "broadcast", lambda k, t: k.op("broadcast", t, result=tile.shaped(8, 4, 8)),
        np.broadcast_to(x[:1], (8, 4, 8)).copy(), "outer",
    )  # fmt: skip
    for dim in range(3):
        shape = [2, 4, 8]
        shape[dim] *= 2
        yield through(2, 4, 8)(
            "cat", lambda k, t, d=dim, s=tuple(shape): k.op("cat", t, t, result=tile.shaped(*s), dim=d),
            np.concatenate([x, x], dim), str(dim),
        )  # fmt: skip

    def extract(k: Builder, t: Value) -> Value:
        index = [k.integer(1), k.integer(0), k.integer(3)]
        return k.op("extract", t, index, result=tile.shaped(1, 2, 2))

    yield through(2, 4, 8)("extract", extract, x[1:2, 0:2, 6:8].copy(), "")
