"""Matrix products."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from tile_program import Builder, Tile, Value

from cpu_ops.formats import DTYPES, Array, is_float
from cpu_ops.kernel import (
    Kernel,
    pack_nibbles,
    zeros,
)


def product_kernels() -> Iterator[Kernel]:
    floats = {"f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",), "f32": ("f32",), "f64": ("f64",),
              "f8E4M3FN": ("f16", "f32"), "f8E5M2": ("f16", "f32")}  # fmt: skip
    rng = np.random.default_rng(11)
    for batch, m, n, k_size in ((0, 16, 32, 64), (3, 8, 16, 4), (0, 1, 8, 2)):
        lead = (batch,) if batch else ()
        if batch == 3:
            lead = (2,)
        a = rng.integers(-3, 4, (*lead, m, k_size)).astype(np.float64)
        b = rng.integers(-3, 4, (*lead, k_size, n)).astype(np.float64)
        c = rng.integers(-3, 4, (*lead, m, n)).astype(np.float64)
        for element, accumulators in floats.items():
            for accumulator in accumulators:
                yield _product("mmaf", element, accumulator, (a, b, c), f"to-{accumulator}-{m}x{n}x{k_size}", {})
        for signs in range(4):
            marks = {"signedness_lhs": signs & 1, "signedness_rhs": signs >> 1}
            left, right = (v * 40 + (128 if not s else 0) for v, s in ((a, signs & 1), (b, signs >> 1)))
            yield _product("mmai", "i8", "i32", (left, right, c), f"{signs:02b}-{m}x{n}x{k_size}", marks)
    yield from _scaled_products()


def _cast(values: Array, element: str) -> Array:
    if element == "i8":
        return values.astype(np.int64).astype(np.int8)
    return values.astype(np.float32 if is_float(element) else np.int64).astype(DTYPES[element])


def _product(op: str, element: str, accumulator: str, operands: Sequence[Array], variant: str,
             marks: Mapping[str, object]) -> Kernel:  # fmt: skip
    a, b, c = operands

    def build(k: Builder, x: Value, y: Value, z: Value, out: Value) -> None:
        tiles = [k.load_all(p, *v.shape) for p, v in ((x, a), (y, b), (z, c))]
        k.store_all(out, k.op(op, *tiles, result=tiles[2].type, **marks))

    arrays = [(element, _cast(a, element)), (element, _cast(b, element)), (accumulator, _cast(c, accumulator))]
    expected = _cast(a @ b + c, accumulator)
    return Kernel((op,), element, build, [*arrays, zeros(accumulator, *c.shape)], {3: expected}, variant,
                  oracle="numpy in float64, exact sums")  # fmt: skip


def _scaled_products() -> Iterator[Kernel]:
    rng = np.random.default_rng(13)
    for element, scale in (("f8E4M3FN", "f8E8M0FNU"), ("f8E5M2", "f8E8M0FNU"), ("f4E2M1FN", "f8E8M0FNU"),
                           ("f4E2M1FN", "f8E4M3FN")):  # fmt: skip
        for lead in ((), (2,)):
            m, n, size, block = 8, 16, 64, 16 if scale == "f8E4M3FN" else 32
            a = rng.choice([-3.0, -2, -1, 0, 1, 2, 3], (*lead, m, size))
            b = rng.choice([-3.0, -2, -1, 0, 1, 2, 3], (*lead, size, n))
            c = rng.integers(-4, 4, (*lead, m, n)).astype(np.float64)
            sa = rng.choice([0.5, 1, 2, 4], (*lead, m, size // block))
            sb = rng.choice([0.5, 1, 2, 4], (*lead, size // block, n))
            yield _scaled_product(element, scale, (a, b, c, sa, sb), block, "batched" if lead else "")


def _scaled_product(element: str, scale: str, operands: Sequence[Array], block: int, variant: str) -> Kernel:
    a, b, c, sa, sb = operands
    elements = (element, element, "f32", scale, scale)

    def tile(k: Builder, base: Value, element: str, values: Array) -> Value:
        if element != "f4E2M1FN":
            return k.load_all(base, *values.shape)
        flat = k.op("unpack", k.load_all(base, values.size // 2), result=Tile(element, (values.size,)))
        return k.op("reshape", flat, result=Tile(element, values.shape))

    def build(k: Builder, *pointers: Value) -> None:
        tiles = [tile(k, p, e, v) for p, e, v in zip(pointers, elements, operands, strict=False)]
        k.store_all(pointers[5], k.op("mmaf_scaled", *tiles, result=tiles[2].type))

    arrays = [("i8", pack_nibbles(_cast(v, e))) if e == "f4E2M1FN" else (e, _cast(v, e))
              for e, v in zip(elements, operands, strict=True)]  # fmt: skip
    expected = (a * np.repeat(sa, block, -1)) @ (b * np.repeat(sb, block, -2)) + c
    return Kernel(("mmaf_scaled",), element, build, [*arrays, zeros("f32", *c.shape)], {5: expected.astype(np.float32)},
                  "-".join(v for v in (f"scale-{scale}", variant) if v),
                  oracle="numpy in float64, exact sums")  # fmt: skip
