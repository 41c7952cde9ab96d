"""Loads and stores through pointers, and the arithmetic of addresses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tile_program import Builder, Tile, Value, pointer

from cpu_ops.formats import DTYPES
from cpu_ops.kernel import (
    MEMORY,
    Kernel,
    dense,
    ramp,
    zeros,
)


def memory_kernels() -> Iterator[Kernel]:
    for element in MEMORY:
        yield from _pointer_memory(element)
    yield from _addresses()


def _pointer_memory(element: str) -> Iterator[Kernel]:
    n = 512
    x = ramp(element, 3 * n)
    rng = np.random.default_rng(1)
    index = rng.permutation(3 * n)[:n].astype(np.int32)
    mask = rng.integers(0, 2, n).astype(bool)
    fill = x[7]

    def strided(k: Builder, a: Value, out: Value, step: int) -> None:
        places = k.op("muli", k.iota(n), k.integer(step, shape=(n,)), overflow=0)
        start = k.op("offset", a, k.integer(3 * n - 1 if step < 0 else 0))
        k.store_all(out, k.load(k.op("offset", k.splat(start, n), places)))

    for step, expected in ((3, x[::3]), (-2, x[::-2][:n])):
        yield Kernel(("load_ptr_tko", "offset"), element, lambda k, a, o, s=step: strided(k, a, o, s),
                     [(element, x), zeros(element, n)], {1: expected.copy()}, f"stride{step}")  # fmt: skip

    def gather(k: Builder, a: Value, i: Value, m: Value, out: Value, padded: bool) -> None:
        places = k.op("offset", k.splat(a, n), k.load_all(i, n))
        padding = k.constant(Tile(element, (n,)), dense(element, np.array([fill]))) if padded else None
        k.store_all(out, k.load(places, k.load_all(m, n), padding))

    inputs = [(element, x), ("i32", index), ("i1", mask)]
    zero = np.zeros((), x.dtype)
    for padded in (False, True):
        if element == "f8E8M0FNU" and not padded:
            continue  # it has no zero
        expected = np.where(mask, x[index], fill if padded else zero)
        yield Kernel(("load_ptr_tko",), element, lambda k, *p, padded=padded: gather(k, *p, padded),
                     [*inputs, zeros(element, n)], {3: expected}, "padded" if padded else "masked")  # fmt: skip

    def scatter(k: Builder, a: Value, i: Value, m: Value, out: Value) -> None:
        places = k.op("offset", k.splat(out, n), k.load_all(i, n))
        k.store(places, k.load_all(a, n), k.load_all(m, n))

    after = np.zeros(3 * n, x.dtype)
    after[index[mask]] = x[:n][mask]
    yield Kernel(("store_ptr_tko",), element, scatter, [*inputs, zeros(element, 3 * n)], {3: after}, "scatter")

    def prefix(k: Builder, a: Value, out: Value) -> None:
        inside = k.op("cmpi", k.iota(n), k.integer(300, shape=(n,)), result=Tile("i1", (n,)), comparison_predicate=2,
                      signedness=1)  # fmt: skip
        padding = k.constant(Tile(element, (n,)), dense(element, np.array([fill])))
        k.store(k.addresses(out, (n,)), k.load(k.addresses(a, (n,)), inside, padding), inside)

    kept = np.concatenate([x[:300], np.zeros(n - 300, x.dtype)])
    yield Kernel(("load_ptr_tko", "store_ptr_tko"), element, prefix, [(element, x[:300].copy()), zeros(element, n)],
                 {1: kept}, "prefix")  # fmt: skip


def _addresses() -> Iterator[Kernel]:
    x = ramp("f32", 64)

    def round_trip(k: Builder, a: Value, out: Value) -> None:
        number = k.op("ptr_to_int", a, result=Tile("i64"))
        moved = k.op("addi", number, k.integer(8 * 4, "i64"), overflow=0)
        words = k.op("ptr_to_ptr", k.op("int_to_ptr", moved, result=pointer("i32")), result=pointer("f32"))
        k.store_all(out, k.load_all(words, 16))

    yield Kernel(("ptr_to_int", "int_to_ptr", "ptr_to_ptr"), "f32", round_trip, [("f32", x), zeros("f32", 16)],
                 {1: x[8:24].copy()})  # fmt: skip

    def wrapping(k: Builder, a: Value, out: Value, element: str, sign: int) -> None:
        """An index tile that leaves its width comes back at the other end."""
        width = DTYPES[element].itemsize * 8
        start = k.integer(2 ** (width - 1) - 4, element, (8,))
        index = k.op("addi", k.iota(8, element), start, overflow=0)
        if sign == 0:
            index = k.op("addi", index, k.integer(2 ** (width - 1), element, (8,)), overflow=0)
        far = k.op("exti", index, result=Tile("i64", (8,)), signedness=sign) if element != "i64" else index
        # The middle of the range is element 32.
        back = [k.integer(-(2 ** (width - 1)) + 36, "i64", (8,)), k.integer(2 ** (width - 1) + 28, "i64", (8,))]
        low = k.op(
            "cmpi", far, k.integer(0, "i64", (8,)), result=Tile("i1", (8,)), comparison_predicate=2, signedness=1
        )
        if sign == 0:
            place = far
        else:
            shifted = [k.op("addi", far, b, overflow=0) for b in back]
            place = k.op("select", low, shifted[1], shifted[0], result=Tile("i64", (8,)))
        k.store_all(out, k.load(k.op("offset", k.splat(a, 8), place)))

    for element in ("i8", "i16", "i32"):
        yield Kernel(("addi", "exti", "offset"), element,
                     lambda k, a, out, e=element: wrapping(k, a, out, e, 1),
                     [("f32", x), zeros("f32", 8)], {1: np.concatenate([x[32:36], x[28:32]])},
                     "wraps-signed")  # fmt: skip

    def masked(k: Builder, a: Value, out: Value) -> None:
        index = k.op("addi", k.iota(16), k.integer(2**31 - 8, shape=(16,)), overflow=0)
        inside = k.op("cmpi", index, k.integer(0, shape=(16,)), result=Tile("i1", (16,)), comparison_predicate=2,
                      signedness=1)  # fmt: skip
        k.store(k.addresses(out, (16,)), k.load(k.addresses(a, (16,)), inside), inside)

    wrapped = np.concatenate([np.zeros(8, np.float32), x[8:16]])
    yield Kernel(("cmpi", "load_ptr_tko"), "i32", masked, [("f32", x[:16].copy()), zeros("f32", 16)], {1: wrapped},
                 "wraps-in-mask")  # fmt: skip

    def shifted(k: Builder, a: Value, step: int) -> None:
        """A store over what the same tile was loaded from, some elements further."""
        moved = k.op("offset", a, k.integer(max(step, 0)))
        start = k.op("offset", a, k.integer(max(-step, 0)))
        k.store_all(moved, k.op("addf", k.load_all(start, 1024), k.load_all(start, 1024), rounding_mode=0))

    for step in (1, -1, 300, -300):
        y = ramp("f32", 1024 + abs(step))
        after = y.copy()
        low, high = max(step, 0), max(-step, 0)
        after[low : low + 1024] = 2 * y[high : high + 1024]
        yield Kernel(("store_ptr_tko", "load_ptr_tko"), "f32", lambda k, a, s=step: shifted(k, a, s), [("f32", y)],
                     {0: after}, f"overlap{step}")  # fmt: skip
