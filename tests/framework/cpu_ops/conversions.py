"""Conversions between element types, and the choice between tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from tile_program import Builder, Value

from cpu_ops.case import ROUNDED_ONCE, Case, elementwise, unsigned
from cpu_ops.formats import (
    DTYPES,
    FLOATS,
    INTEGERS,
    MODES,
    NEAREST,
    UP,
    WIDTHS,
    ZERO,
    Array,
    binary_inputs,
    rounded,
    unary_inputs,
    widened,
)

_NARROW = ("f16", "bf16", "tf32", "f8E4M3FN", "f8E5M2")
CONVERTIBLE = ("f16", "bf16", "f32", "tf32", "f64", "f8E4M3FN", "f8E5M2")


def conversion_cases() -> Iterator[Case]:
    for source in CONVERTIBLE:
        for target in CONVERTIBLE:
            if source != target:
                yield _float_to_float(source, target, NEAREST)
        for mode in (ZERO, UP):
            yield _float_to_float(source, "f8E8M0FNU", mode)
    for target in CONVERTIBLE:
        yield _float_to_float("f8E8M0FNU", target, NEAREST)
    for element in INTEGERS:
        for sign, code in (("signed", 1), ("unsigned", 0)):
            yield from (_integer_to_float(element, target, sign, code) for target in CONVERTIBLE)
            yield from (_float_to_integer(source, element, sign, code) for source in CONVERTIBLE)
            wider = INTEGERS[INTEGERS.index(element) + 1 :]
            yield from (_extended(element, target, sign, code) for target in wider)
        narrower = INTEGERS[: INTEGERS.index(element)]
        yield from (_truncated_integer(element, target) for target in narrower)
    for width in (8, 16, 32, 64):
        # tf32 has 19 bits for the dialect, and i1 one.
        types = [e for e in (*INTEGERS, *CONVERTIBLE, "f8E8M0FNU") if e not in ("i1", "tf32")]
        same = [e for e in types if 8 * DTYPES[e].itemsize == width]
        for source in same:
            for target in same:
                if source != target:
                    yield elementwise("bitcast", source, lambda a, t=target: a.view(DTYPES[t]), operands=1,
                                      result=target, variant=f"to-{target}", oracle="numpy")  # fmt: skip


def _finer(source: str, target: str) -> Callable[[], Sequence[Array]]:
    """Inputs of the source type, and numbers close to the halfway points of the target."""

    def inputs() -> Sequence[Array]:
        values = unary_inputs(source)
        if source not in ("f32", "f64") or target not in (*_NARROW, "f32"):
            return [values]
        targets = widened(unary_inputs(target))
        halfway = (targets[:-1] + np.diff(targets) / 2)[np.isfinite(targets[:-1]) & np.isfinite(targets[1:])]
        near = [halfway, np.nextafter(halfway, np.inf), np.nextafter(halfway, -np.inf)]
        with np.errstate(all="ignore"):
            return [np.concatenate([values, *[n.astype(DTYPES[source]) for n in near]])]

    return inputs


def _float_to_float(source: str, target: str, mode: int) -> Case:
    variant = f"to-{target}" + (f"-{MODES[mode]}" if mode != NEAREST else "")
    return elementwise(
        "ftof", source, lambda a: rounded(widened(a), target, mode), operands=1, result=target, variant=variant,
        oracle=ROUNDED_ONCE, inputs=_finer(source, target), rounding_mode=mode,
    )  # fmt: skip


def _integer_to_float(source: str, target: str, sign: str, code: int) -> Case:
    def expected(a: Array) -> Array:
        if source == "i1":
            value = 0.0 - a.astype(np.float64) if code else a.astype(np.float64)
            return rounded(value, target)
        exact = a if code else unsigned(a)
        wide = exact.astype(np.longdouble)
        value = wide.astype(np.float64)
        return rounded(value, target, NEAREST, np.sign(wide - value.astype(np.longdouble)))

    return elementwise(
        "itof", source, expected, operands=1, result=target, variant=f"{sign}-to-{target}", oracle=ROUNDED_ONCE,
        signedness=code, rounding_mode=NEAREST,
    )  # fmt: skip


def _float_to_integer(source: str, target: str, sign: str, code: int) -> Case:
    """Beyond the limits, where the dialect leaves the value open, the nearest limit, and 0 for NaN. To i1: whether it
    is not zero, as on a GPU."""
    width = WIDTHS[target]
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if code else (0, 2**width - 1)

    def expected(a: Array) -> Array:
        if target == "i1":
            return widened(a) != 0
        wide = np.trunc(np.asarray(widened(a), np.longdouble))
        inside = np.where(np.isnan(wide), 0, np.clip(wide, low, high))
        integers = np.array([int(v) for v in inside], dtype=object)
        return (integers % 2**width).astype(np.uint64).astype(np.dtype(f"u{width // 8}")).view(DTYPES[target])

    return elementwise(
        "ftoi", source, expected, operands=1, result=target, variant=f"{sign}-to-{target}", oracle="Python integers",
        signedness=code, rounding_mode=6,
    )  # fmt: skip


def _extended(source: str, target: str, sign: str, code: int) -> Case:
    def expected(a: Array) -> Array:
        if source == "i1":
            return (-(a.astype(np.int8)) if code else a).astype(DTYPES[target])
        return (a if code else unsigned(a)).astype(DTYPES[target])

    return elementwise("exti", source, expected, operands=1, result=target, variant=f"{sign}-to-{target}",
                       oracle="numpy", signedness=code)  # fmt: skip


def _truncated_integer(source: str, target: str) -> Case:
    def expected(a: Array) -> Array:
        return (a & 1).astype(np.bool_) if target == "i1" else a.astype(DTYPES[target])

    return elementwise("trunci", source, expected, operands=1, result=target, variant=f"to-{target}", oracle="numpy",
                       overflow=0)  # fmt: skip


def select_cases() -> Iterator[Case]:
    for element in (*INTEGERS, *FLOATS, "f8E4M3FN", "f8E5M2"):

        def inputs(element: str = element) -> Sequence[Array]:
            a, b = binary_inputs(element)
            return np.arange(len(a)) % 3 == 0, a, b

        def write(k: Builder, tiles: Sequence[Value]) -> Value:
            return k.op("select", *tiles, result=tiles[1].type)

        yield Case("select", element, write, inputs, lambda c, a, b: np.where(c, a, b), ("i1", element, element),
                   element, "numpy")  # fmt: skip
