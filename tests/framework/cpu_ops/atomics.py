"""Atomic operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from tile_program import Builder, Tile, Token, Value

from cpu_ops.formats import DTYPES, Array, is_float, rounded, samples, widened
from cpu_ops.kernel import (
    Kernel,
    view_of,
    zeros,
)

_MODES = ("and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg")
_ATOMIC: Mapping[str, Callable[[Array, Array], Array]] = {
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "add": np.add, "addf": np.add,
    "max": np.maximum, "min": np.minimum, "umax": np.maximum, "umin": np.minimum, "xchg": lambda old, new: new,
}  # fmt: skip


def atomic_kernels() -> Iterator[Kernel]:
    for element in ("i32", "i64", "f16", "bf16", "f32", "f64"):
        for code, mode in enumerate(_MODES):
            floats = mode == "addf" or (mode == "xchg" and element in ("f32", "f64"))
            if is_float(element) == floats or (mode == "xchg" and not is_float(element)):
                yield from _atomic(element, code, mode)
        if element not in ("f16", "bf16"):
            yield _compare_and_swap(element)
    yield from (_widened(narrow) for narrow in ("f16", "bf16"))


def _atomic(element: str, code: int, mode: str) -> Iterator[Kernel]:
    n = 64
    x, y = samples(element)[50 : 50 + n], samples(element, seed=2)[50 : 50 + n]
    mask = np.arange(n) % 3 != 1
    dtype = DTYPES[element]

    def step(old: Array, new: Array) -> Array:
        with np.errstate(all="ignore"):
            if mode.startswith("u"):
                unsigned = np.dtype(f"u{dtype.itemsize}")
                return _ATOMIC[mode](old.view(unsigned), new.view(unsigned)).view(dtype)
            if mode == "addf":
                return rounded(widened(old) + widened(new), element)
            return _ATOMIC[mode](old, new).astype(dtype)

    def build(k: Builder, a: Value, b: Value, m: Value, out: Value) -> None:
        marks = {"memory_ordering_semantics": 1, "memory_scope": 1, "mode": code}
        operands = (k.addresses(a, (n,)), k.load_all(b, n), k.load_all(m, n), None)
        old = k.emit("atomic_rmw_tko", operands, [Tile(element, (n,)), Token()], marks)[0]
        k.store(k.addresses(out, (n,)), old, k.load_all(m, n))

    arrays = [(element, x), (element, y), ("i1", mask), zeros(element, n)]
    expected = {0: np.where(mask, step(x, y), x), 3: np.where(mask, x, np.zeros((), dtype))}
    yield Kernel(("atomic_rmw_tko",), element, build, arrays, expected, mode)
    if mode == "xchg":
        return

    def through_view(k: Builder, a: Value, b: Value) -> None:
        view = view_of(k, a, (7, 9), (4, 8))
        marks = {"memory_ordering_semantics": 1, "memory_scope": 1, "mode": code}
        k.emit("atomic_red_view_tko", (view, [k.integer(1), k.integer(1)], k.load_all(b, 4, 8), None), [Token()], marks)

    grid = x[:63].reshape(7, 9)
    after = grid.copy()
    after[4:, 8:] = step(grid[4:, 8:].copy(), y[:32].reshape(4, 8)[:3, :1].copy())
    yield Kernel(("atomic_red_view_tko",), element, through_view, [(element, grid), (element, y[:32].copy())],
                 {0: after}, mode)  # fmt: skip
    if mode not in ("add", "addf"):
        return

    def everyone(k: Builder, a: Value, b: Value) -> None:
        """All elements of all tile blocks add to one place."""
        marks = {"memory_ordering_semantics": 4, "memory_scope": 1, "mode": code}
        k.emit("atomic_rmw_tko", (k.splat(a, n), k.load_all(b, n), None, None), [Tile(element, (n,)), Token()], marks)

    ones = np.ones(n, np.float32).astype(dtype)
    total = np.array([1024], np.float32).astype(dtype)
    limit = {"bf16": 4}.get(element, 16)
    total = np.array([64 * limit], np.float32).astype(dtype)
    yield Kernel(("atomic_rmw_tko",), element, everyone, [zeros(element, 1), (element, ones)], {0: total},
                 f"{mode}-one-place", grid=(limit,))  # fmt: skip


def _widened(narrow: str) -> Kernel:
    """The operand is a conversion of a narrower float, a tile and a single value."""
    n = 32
    x, y = samples("f32")[20 : 20 + n].copy(), samples(narrow)[60 : 60 + n].copy()
    marks = {"memory_ordering_semantics": 1, "memory_scope": 1, "mode": _MODES.index("xchg")}

    def build(k: Builder, a: Value, b: Value, out: Value) -> None:
        for target, source, shape in ((k.addresses(a, (n,)), k.load_all(b, n), (n,)), (out, k.load(b), ())):
            tile = Tile("f32", shape)
            value = k.op("ftof", source, result=tile, rounding_mode=0)
            k.emit("atomic_rmw_tko", (target, value, None, None), [tile, Token()], marks)

    wide = y.astype(np.float32)
    return Kernel(("atomic_rmw_tko",), "f32", build, [("f32", x), (narrow, y), zeros("f32", 1)],
                  {0: wide, 2: wide[:1].copy()}, f"of-{narrow}")  # fmt: skip


def _compare_and_swap(element: str) -> Kernel:
    n = 32
    x = samples(element)[:n].copy()
    compare = np.where(np.arange(n) % 2 == 0, x, samples(element)[100 : 100 + n])
    new = samples(element)[200 : 200 + n]
    mask = np.arange(n) % 4 != 2
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    hit = mask & (x.view(unsigned) == compare.view(unsigned))

    def build(k: Builder, a: Value, c: Value, b: Value, m: Value, out: Value) -> None:
        operands = (k.addresses(a, (n,)), k.load_all(c, n), k.load_all(b, n), k.load_all(m, n), None)
        marks = {"memory_ordering_semantics": 4, "memory_scope": 1}
        old = k.emit("atomic_cas_tko", operands, [Tile(element, (n,)), Token()], marks)[0]
        k.store_all(out, old)

    arrays = [(element, x), (element, compare), (element, new), ("i1", mask), zeros(element, n)]
    return Kernel(("atomic_cas_tko",), element, build, arrays,
                  {0: np.where(hit, new, x), 4: np.where(mask, x, compare)})  # fmt: skip
