"""Reductions and scans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from tile_program import Builder, Region, Tile, Value

from cpu_ops.formats import DTYPES, FLOATS, INTEGERS, Array, is_float
from cpu_ops.kernel import (
    Kernel,
    bits_of,
    zeros,
)

Combine = tuple[str, Mapping[str, object], float, Callable[[Array, int], Array], Callable[[Array, int], Array]]


def _combinations(element: str) -> Iterator[Combine]:
    """Operation, attributes, identity, reduction and scan by numpy."""
    lowest = -np.inf if is_float(element) else -(2 ** (8 * DTYPES[element].itemsize - 1))
    if is_float(element):
        yield "addf", {"rounding_mode": 0}, 0, np.add.reduce, np.add.accumulate
        yield "mulf", {"rounding_mode": 0}, 1, np.multiply.reduce, np.multiply.accumulate
        yield "maxf", {"propagate_nan": True}, lowest, np.maximum.reduce, np.maximum.accumulate
    elif element != "i1":
        yield "addi", {"overflow": 0}, 0, np.add.reduce, np.add.accumulate
        yield "muli", {"overflow": 0}, 1, np.multiply.reduce, np.multiply.accumulate
        yield "maxi", {"signedness": 1}, lowest, np.maximum.reduce, np.maximum.accumulate
    if not is_float(element):
        yield "xori", {}, 0, np.bitwise_xor.reduce, np.bitwise_xor.accumulate


def _combined_values(element: str, op: str, shape: tuple[int, ...]) -> Array:
    """Sums and products of these are exact in every order."""
    rng = np.random.default_rng(3)
    if op == "mulf":
        return rng.choice([1.0] * 30 + [-1.0] * 8 + [2.0, 0.5], shape).astype(np.float32).astype(DTYPES[element])
    if is_float(element):
        return rng.integers(-2, 3, shape).astype(np.float32).astype(DTYPES[element])
    if element == "i1":
        return rng.integers(0, 2, shape).astype(bool)
    return rng.integers(-100, 100, shape).astype(DTYPES[element])


def combined(k: Builder, op: str, tile: Value, result: Tile, combine: str, identity: int, marks: Mapping[str, object],
             **attributes: object) -> Value:  # fmt: skip
    element = tile.tile.element
    scalar = Tile(element)

    def body(item: Value, so_far: Value) -> None:
        k.emit("yield", ([k.op(combine, item, so_far, **marks)],))

    attributes["identities"] = [(element, identity)]
    return k.emit(op, ([tile],), [result], attributes, [Region([scalar, scalar], body)])[0]


def combining_kernels() -> Iterator[Kernel]:
    for element in (*INTEGERS, *FLOATS):
        for combine in _combinations(element):
            for shape, dim in (((64,), 0), ((4, 32), 0), ((4, 32), 1), ((4, 8, 16), 1), ((512, 2), 1), ((2, 512), 1)):
                yield from _combination(element, combine, shape, dim)
    yield from _pairs()
    yield from _several_operands()
    yield _mixed_widths()
    yield _nothing_but_nan()
    yield _captured()


def _mixed_widths() -> Kernel:
    """The smallest i16 along an outer dimension, and where it is as i32: rows of two lane widths."""
    x = np.random.default_rng(21).integers(-9, 10, (2, 4, 4)).astype(np.int16)

    def build(k: Builder, a: Value, best: Value, where: Value) -> None:
        row = k.op("reshape", k.iota(4), result=Tile("i32", (1, 4, 1)))
        index = k.op("broadcast", row, result=Tile("i32", x.shape))

        def body(value: Value, best: Value, place: Value, best_place: Value) -> None:
            bit = Tile("i1")
            less = [k.op("cmpi", *pair, result=bit, comparison_predicate=2, signedness=1)
                    for pair in ((value, best), (place, best_place))]  # fmt: skip
            equal = k.op("cmpi", value, best, result=bit, comparison_predicate=0, signedness=1)
            wins = k.op("ori", less[0], k.op("andi", equal, less[1]))
            chosen = [k.op("select", wins, *pair, result=pair[0].type) for pair in ((value, best), (place, best_place))]
            k.emit("yield", (chosen,))

        types = [Tile("i16", (2, 4)), Tile("i32", (2, 4))]
        region = Region([Tile("i16"), Tile("i16"), Tile("i32"), Tile("i32")], body)
        marks = {"dim": 1, "identities": [("i16", 0x7FFF), ("i32", 0)]}
        results = k.emit("reduce", ([k.load_all(a, *x.shape), index],), types, marks, [region])
        k.store_all(best, results[0])
        k.store_all(where, results[1])

    return Kernel(("reduce",), "i16", build, [("i16", x), zeros("i16", 2, 4), zeros("i32", 2, 4)],
                  {1: x.min(1), 2: x.argmin(1).astype(np.int32)}, "argmin-mixed")  # fmt: skip


def _nothing_but_nan() -> Kernel:
    """A minimum that passes over NaN is NaN where there is nothing else, though its identity is infinity."""
    x = np.full((4, 64), np.nan, np.float32)
    x[0], x[2, 7] = 3, -1

    def build(k: Builder, a: Value, rows: Value, columns: Value) -> None:
        infinity = bits_of(np.inf, "f32")
        for out, dim, count in ((rows, 1, 4), (columns, 0, 64)):
            tile = k.load_all(a, 4, 64)
            k.store_all(out, combined(k, "reduce", tile, Tile("f32", (count,)), "minf", infinity, {}, dim=dim))

    return Kernel(("reduce",), "f32", build, [("f32", x), zeros("f32", 4), zeros("f32", 64)],
                  {1: np.fmin.reduce(x, 1), 2: np.fmin.reduce(x, 0)}, "only-nan")  # fmt: skip


def _captured() -> Kernel:
    """The combination reads a single value from outside, which is loaded from memory."""
    x = np.arange(256, dtype=np.int32).reshape(16, 16)

    def build(k: Builder, a: Value, m: Value, out: Value) -> None:
        modulus = k.load(m)

        def body(item: Value, so_far: Value) -> None:
            total = k.op("addi", item, so_far, overflow=0)
            k.emit("yield", ([k.op("remi", total, modulus, signedness=1)],))

        marks = {"dim": 1, "identities": [("i32", 0)]}
        region = Region([Tile("i32"), Tile("i32")], body)
        k.store_all(out, k.emit("reduce", ([k.load_all(a, 16, 16)],), [Tile("i32", (16,))], marks, [region])[0])

    return Kernel(("reduce",), "i32", build, [("i32", x), ("i32", np.array([5], np.int32)), zeros("i32", 16)],
                  {2: (x.sum(1) % 5).astype(np.int32)}, "captured")  # fmt: skip


def _several_operands() -> Iterator[Kernel]:
    """Sums of a * b + c * d: more values alive at once than a sum of one."""
    rng = np.random.default_rng(9)
    for element in ("i8", "f16", "f32"):
        arrays = [rng.integers(-2, 3, 1024).astype(DTYPES[element]) for _ in range(4)]
        multiply, add = ("muli", "addi") if element == "i8" else ("mulf", "addf")
        marks: Mapping[str, object] = {"overflow": 0} if element == "i8" else {"rounding_mode": 0}

        def build(k: Builder, *pointers: Value, element: str = element, ops: tuple[str, str] = (multiply, add),
                  marks: Mapping[str, object] = marks) -> None:  # fmt: skip
            a, b, c, d = (k.load_all(p, 1024) for p in pointers[:4])
            terms = k.op(ops[1], k.op(ops[0], a, b, **marks), k.op(ops[0], c, d, **marks), **marks)
            k.store(pointers[4], combined(k, "reduce", terms, Tile(element), ops[1], 0, marks, dim=0))

        a, b, c, d = (x.astype(np.int64) for x in arrays)
        expected = np.array([(a * b + c * d).sum()]).astype(DTYPES[element])
        yield Kernel(("reduce",), element, build, [*[(element, x) for x in arrays], zeros(element, 1)],
                     {4: expected}, "products")  # fmt: skip


def _combination(element: str, combine: Combine, shape: tuple[int, ...], dim: int) -> Iterator[Kernel]:
    op, marks, start, reduce, accumulate = combine
    x = _combined_values(element, op, shape)
    identity = bits_of(start, element)
    wide = x.astype(np.float64) if is_float(element) else x
    rest = shape[:dim] + shape[dim + 1 :]
    name = f"{op}-{'x'.join(map(str, shape))}-dim{dim}"
    dtype = DTYPES[element]

    def exact(values: Array) -> Array:
        return (
            values.astype(np.float32).astype(dtype)
            if dtype.itemsize == 2 and is_float(element)
            else values.astype(dtype)
        )

    with np.errstate(all="ignore"):
        reduced, scanned = exact(reduce(wide, dim)), exact(accumulate(wide, dim))
        backwards = np.flip(exact(accumulate(np.flip(wide, dim), dim)), dim).copy()

    def reduction(k: Builder, a: Value, out: Value) -> None:
        result = combined(k, "reduce", k.load_all(a, *shape), Tile(element, rest), op, identity, marks, dim=dim)
        k.store(k.addresses(out, rest) if rest else out, result)

    yield Kernel(("reduce", "yield"), element, reduction, [(element, x), zeros(element, *rest)], {1: reduced}, name)
    if (shape == (4, 32) and dim == 0) or op in ("maxf", "maxi"):
        return
    for reverse, expected in ((0, scanned), (1, backwards)):

        def scan(k: Builder, a: Value, out: Value, reverse: int = reverse) -> None:
            tile = k.load_all(a, *shape)
            k.store_all(out, combined(k, "scan", tile, tile.tile, op, identity, marks, dim=dim, reverse=reverse))

        yield Kernel(("scan", "yield"), element, scan, [(element, x), zeros(element, *shape)], {1: expected},
                     name + ("-reverse" if reverse else ""))  # fmt: skip


def _pairs() -> Iterator[Kernel]:
    """The largest element and where it is: two operands combined at once."""
    rng = np.random.default_rng(7)
    x = rng.permutation(4 * 256).reshape(4, 256).astype(np.float32)
    for nan in (False, True):
        if nan:
            x = x.copy()
            x[1, 17], x[3, 255] = np.nan, np.nan

        def build(k: Builder, a: Value, best: Value, where: Value) -> None:
            index = k.op(
                "broadcast", k.op("reshape", k.iota(256), result=Tile("i32", (1, 256))), result=Tile("i32", (4, 256))
            )

            def body(value: Value, best: Value, place: Value, best_place: Value) -> None:
                bit = Tile("i1")
                larger = k.op("cmpf", value, best, result=bit, comparison_predicate=4, comparison_ordering=1)
                is_nan = k.op("cmpf", value, value, result=bit, comparison_predicate=1, comparison_ordering=0)
                wins = k.op("ori", larger, is_nan)
                chosen = [
                    k.op("select", wins, *pair, result=pair[0].type) for pair in ((value, best), (place, best_place))
                ]
                k.emit("yield", (chosen,))

            f, i = Tile("f32"), Tile("i32")
            marks = {"dim": 1, "identities": [("f32", 0xFF800000), ("i32", 0)]}
            operands, types = [k.load_all(a, 4, 256), index], [Tile("f32", (4,)), Tile("i32", (4,))]
            results = k.emit("reduce", (operands,), types, marks, [Region([f, f, i, i], body)])
            k.store_all(best, results[0])
            k.store_all(where, results[1])

        yield Kernel(("reduce",), "f32", build, [("f32", x), zeros("f32", 4), zeros("i32", 4)],
                     {1: x.max(1), 2: x.argmax(1).astype(np.int32)}, "argmax-nan" if nan else "argmax")  # fmt: skip
