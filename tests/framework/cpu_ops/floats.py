"""Float arithmetic and functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from cpu_ops.case import COMPARE, PREDICATES, ROUNDED_ONCE, Case, elementwise
from cpu_ops.formats import (
    DOWN,
    DTYPES,
    F64,
    FLOATS,
    MODES,
    NEAREST,
    Array,
    binary_inputs,
    rounded,
    samples,
    two_product,
    two_sum,
    widened,
)

_EXACT_F64 = "float64 and its exact error"


def _pair(element: str, exact: Callable[[F64, F64], tuple[F64, Array]], mode: int) -> Callable[..., Array]:
    def expected(a: Array, b: Array) -> Array:
        x, y = widened(a), widened(b)
        value, error = exact(x, y)
        return rounded(value, element, mode, error)

    return expected


def _sum(sign: float, mode: int) -> Callable[[F64, F64], tuple[F64, Array]]:
    """a + sign * b. A sum of zero is negative when rounding down, but for two positive zeros."""

    def exact(a: F64, b: F64) -> tuple[F64, Array]:
        total, error = two_sum(a, sign * b)
        positive = ~np.signbit(a) & ~np.signbit(sign * b)
        return np.where((total == 0) & ~positive & (mode == DOWN), -0.0, total), error

    return exact


def _quotient(a: F64, b: F64) -> tuple[F64, Array]:
    with np.errstate(all="ignore"):
        quotient = a / b
        product, error = two_product(quotient, b)
        rest = (a - product) - error
    settled = ~np.isfinite(quotient) | np.isinf(b)
    return quotient, np.where(settled, 0.0, np.sign(rest) * np.sign(b))


def _root(a: F64) -> tuple[F64, Array]:
    with np.errstate(all="ignore"):
        root = np.sqrt(a)
        square, error = two_product(root, root)
        rest = (a - square) - error
    return root, np.where(np.isfinite(root), rest, 0.0)


def _moderate(element: str) -> Callable[[], Sequence[Array]]:
    """float64 pairs whose exact errors are float64 numbers themselves."""

    def inputs() -> Sequence[Array]:
        a, b = binary_inputs(element)
        ok = [(np.abs(x) > 1e-140) & (np.abs(x) < 1e140) | (x == 0) for x in (a, b)]
        keep = ok[0] & ok[1]
        return a[keep], b[keep]

    return inputs


def float_cases() -> Iterator[Case]:
    for element in FLOATS:
        yield from _rounded_arithmetic(element)
        yield from _float_selection(element)
        yield from _float_functions(element)
    yield from _flushing()


def _rounded_arithmetic(element: str) -> Iterator[Case]:
    wide = element == "f64"
    for mode, name in MODES.items():
        table: dict[str, Callable[[F64, F64], tuple[F64, Array]]] = {
            "addf": _sum(1.0, mode),
            "subf": _sum(-1.0, mode),
            "mulf": two_product,
            "divf": _quotient,
        }
        inputs = _moderate(element) if wide and mode != NEAREST else None
        oracle = _EXACT_F64 if mode != NEAREST else ROUNDED_ONCE if not wide else "numpy float64"
        for op, exact in table.items():
            expected = _pair(element, exact, mode)
            yield elementwise(op, element, expected, variant=name, oracle=oracle, inputs=inputs, rounding_mode=mode)
        yield elementwise(
            "sqrt", element, lambda a, mode=mode: rounded(*_root_args(a, element, mode)), operands=1, variant=name,
            oracle=oracle, inputs=(lambda: [_moderate("f64")()[0]]) if wide and mode != NEAREST else None,
            rounding_mode=mode,
        )  # fmt: skip
        if not wide:
            yield _fma(element, mode)
    if wide:
        yield _fma64()


def _root_args(a: Array, element: str, mode: int) -> tuple[F64, str, int, Array]:
    value, error = _root(widened(a))
    return value, element, mode, error


def _triples(element: str) -> Sequence[Array]:
    a, b = binary_inputs(element)
    c = np.concatenate([samples(element, seed=3), samples(element, seed=4)])
    # Sums that nearly cancel are where a second rounding shows.
    with np.errstate(all="ignore"):
        near = (-(widened(a) * widened(b))).astype(np.float32).astype(DTYPES[element])
    return np.concatenate([a, a]), np.concatenate([b, b]), np.concatenate([np.resize(c, len(a)), near])


def _fma(element: str, mode: int) -> Case:
    def expected(a: Array, b: Array, c: Array) -> Array:
        with np.errstate(all="ignore"):
            product = widened(a) * widened(b)  # exact: 48 bits at most
        total, error = _sum(1.0, mode)(product, widened(c))
        return rounded(total, element, mode, error)

    return elementwise(
        "fma", element, expected, operands=3, variant=MODES[mode], oracle=_EXACT_F64,
        inputs=lambda: _triples(element), rounding_mode=mode,
    )  # fmt: skip


def _fma64() -> Case:
    from fractions import Fraction

    def expected(a: Array, b: Array, c: Array) -> Array:
        exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c, strict=True)]
        return np.array([float(value) for value in exact])

    def inputs() -> Sequence[Array]:
        rng = np.random.default_rng(5)
        a, b, c = rng.standard_normal((3, 1000))
        return a, b, np.where(np.arange(1000) % 2 == 0, c, -a * b)

    return elementwise(
        "fma", "f64", expected, operands=3, variant="nearest_even", oracle="exact fractions", inputs=inputs,
        rounding_mode=NEAREST,
    )  # fmt: skip


def _float_selection(element: str) -> Iterator[Case]:
    def unsigned(values: Array) -> Array:
        return values.view(np.dtype(f"u{values.dtype.itemsize}"))

    sign = 1 << (8 * DTYPES[element].itemsize - 1)

    def bits(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
        return lambda a: function(unsigned(a)).view(DTYPES[element])

    yield elementwise("absf", element, bits(lambda u: u & (sign - 1)), operands=1, oracle="numpy")
    yield elementwise("negf", element, bits(lambda u: u ^ sign), operands=1, oracle="numpy")
    for op, function in (("floor", np.floor), ("ceil", np.ceil)):
        yield elementwise(
            op, element, lambda a, function=function: rounded(function(widened(a)), element), operands=1, oracle="numpy"
        )
    for op, larger in (("maxf", True), ("minf", False)):
        for propagate in (False, True):
            variant = "propagate_nan" if propagate else ""
            mark = {"propagate_nan": True} if propagate else {}
            yield elementwise(op, element, _extremum(larger, propagate), variant=variant, oracle="numpy", **mark)
    for code, (predicate, compare) in enumerate(zip(PREDICATES, COMPARE, strict=True)):
        for ordering, name in enumerate(("unordered", "ordered")):
            yield elementwise(
                "cmpf", element, _float_comparison(compare, name == "ordered"), result="i1",
                variant=f"{name}-{predicate}", oracle="numpy", comparison_predicate=code, comparison_ordering=ordering,
            )  # fmt: skip


def _extremum(larger: bool, propagate: bool) -> Callable[[Array, Array], Array]:
    def expected(a: Array, b: Array) -> Array:
        x, y = widened(a), widened(b)
        with np.errstate(all="ignore"):
            first = (x > y) if larger else (x < y)
            # -0 is less than +0.
            first |= (x == y) & (np.signbit(y) if larger else np.signbit(x))
        out = np.where(first, a, b)
        if propagate:
            return np.where(np.isnan(x), a, np.where(np.isnan(y), b, out))
        return np.where(np.isnan(x), b, np.where(np.isnan(y), a, out))

    return expected


def _float_comparison(compare: Callable[[Array, Array], Array], ordered: bool) -> Callable[[Array, Array], Array]:
    def expected(a: Array, b: Array) -> Array:
        x, y = widened(a), widened(b)
        nan = np.isnan(x) | np.isnan(y)
        return np.where(nan, not ordered, compare(x, y))

    return expected


# Functions by numpy, their operands, and how far off f32 may be; the other types are half a unit off, and a little.
_FUNCTIONS: dict[str, tuple[Callable[..., Array], int, float]] = {
    "exp": (np.exp, 1, 1), "exp2": (np.exp2, 1, 1), "log": (np.log, 1, 1), "log2": (np.log2, 1, 1),
    "sin": (np.sin, 1, 1), "cos": (np.cos, 1, 0.8), "tan": (np.tan, 1, 0.52), "sinh": (np.sinh, 1, 0.52),
    "cosh": (np.cosh, 1, 0.52), "tanh": (np.tanh, 1, 1.1), "rsqrt": (lambda x: 1 / np.sqrt(x), 1, 0.52),
    "fpowf": (np.power, 2, 0.52), "atan2": (np.arctan2, 2, 0.52), "remf": (np.fmod, 2, 0),
}  # fmt: skip


def _float_functions(element: str) -> Iterator[Case]:
    for op, (function, operands, ulp) in _FUNCTIONS.items():
        marks = {"rounding_mode": 5} if op in ("exp", "tanh") else {}
        if op == "remf":
            yield elementwise(op, element, lambda a, b: rounded(np.fmod(widened(a), widened(b)), element),
                              oracle="numpy fmod in float64")  # fmt: skip
            continue

        def expected(*operands: Array, function: Callable[..., Array] = function) -> Array:
            wide = np.longdouble if element == "f64" else np.float64
            with np.errstate(all="ignore"):
                return function(*[np.asarray(widened(x), wide) for x in operands])

        bound = ulp if element == "f32" else 0.52
        name = "numpy in extended precision" if element == "f64" else "numpy in float64"
        yield elementwise(op, element, expected, operands=operands, oracle=name, ulp=bound, **marks)


def _flushing() -> Iterator[Case]:
    """flush_to_zero, of f32 only: subnormal operands and results become zeros of their sign."""

    def flushed(values: Array) -> Array:
        small = (np.abs(values) < np.float32(2.0**-126)) & ~np.isnan(values)
        return np.where(small, np.copysign(np.float32(0), values), values).astype(np.float32)

    def flush(function: Callable[..., Array]) -> Callable[..., Array]:
        def expected(*operands: Array) -> Array:
            with np.errstate(all="ignore"):
                return flushed(function(*[flushed(x) for x in operands]))

        return expected

    def tiny() -> Sequence[Array]:
        a, b = binary_inputs("f32")
        scale = np.float32(2.0**-120)
        with np.errstate(all="ignore"):
            return np.concatenate([a, a * scale]), np.concatenate([b, b * scale])

    pairs = {"addf": two_sum, "subf": lambda a, b: two_sum(a, -b), "mulf": two_product, "divf": _quotient}
    for op, exact in pairs.items():
        yield elementwise(op, "f32", flush(_pair("f32", exact, NEAREST)), variant="flush_to_zero", inputs=tiny,
                          oracle=ROUNDED_ONCE, rounding_mode=NEAREST, flush_to_zero=True)  # fmt: skip
    for op, larger in (("maxf", True), ("minf", False)):
        yield elementwise(op, "f32", flush(_extremum(larger, False)), variant="flush_to_zero", inputs=tiny,
                          oracle="numpy", flush_to_zero=True)  # fmt: skip
    yield elementwise("sqrt", "f32", flush(lambda a: rounded(*_root_args(a, "f32", NEAREST))), operands=1,
                      variant="flush_to_zero", oracle=ROUNDED_ONCE, rounding_mode=NEAREST,
                      flush_to_zero=True)  # fmt: skip
    for op in ("exp2", "rsqrt"):
        function, _, ulp = _FUNCTIONS[op]
        yield elementwise(
            op, "f32",
            lambda a, function=function: _tiny_to_zero(function(widened(flushed(a)))),
            operands=1, variant="flush_to_zero", oracle="numpy in float64", ulp=ulp, flush_to_zero=True,
        )  # fmt: skip


def _tiny_to_zero(values: F64) -> F64:
    return np.where(np.abs(values) < 2.0**-126, np.copysign(0.0, values), values)
