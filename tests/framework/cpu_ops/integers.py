"""Integer arithmetic: numpy at the width of the type, which wraps; i1 as a number of one bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cpu_ops.case import COMPARE, PREDICATES, Case, elementwise, unsigned
from cpu_ops.formats import (
    DOWN,
    DTYPES,
    INTEGERS,
    MODES,
    UP,
    ZERO,
    Array,
)


def _bits(element: str, function: Callable[..., Array]) -> Callable[..., Array]:
    """A function of integers of any width, for i1 as one bit: signed values are 0 and -1."""

    def one_bit(*operands: Array) -> Array:
        with np.errstate(all="ignore"):
            out = function(*[-(x.astype(np.int8)) for x in operands])
        return (out & 1).astype(np.bool_)

    def wide(*operands: Array) -> Array:
        with np.errstate(all="ignore"):
            return function(*operands).astype(DTYPES[element])

    return one_bit if element == "i1" else wide


def _as_unsigned(element: str, function: Callable[..., Array]) -> Callable[..., Array]:
    def wrapper(*operands: Array) -> Array:
        if element == "i1":
            return (function(*[x.astype(np.uint8) for x in operands]) & 1).astype(np.bool_)
        with np.errstate(all="ignore"):
            out = function(*[unsigned(x) for x in operands])
        return out.view(DTYPES[element]) if out.dtype.kind == "u" else out

    return wrapper


def _guarded(divide: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Division by zero gives 0; the smallest value divided by -1 wraps to itself, its remainder is 0."""

    def wrapper(a: Array, b: Array) -> Array:
        safe = np.where(b == 0, b + 1, b).astype(b.dtype)
        out = divide(a, safe)
        return np.where(b == 0, np.zeros_like(out), out)

    return wrapper


def _truncated(a: Array, b: Array) -> Array:
    quotient = a // b
    if a.dtype.kind == "u":
        return quotient
    return quotient + ((quotient * b != a) & ((a < 0) != (b < 0)))


def _ceiling(a: Array, b: Array) -> Array:
    return a // b + (a % b != 0).astype(a.dtype)


def _remainder(a: Array, b: Array) -> Array:
    return np.fmod(a, b)


def _shifted(shift: Callable[[Array, Array], Array], signed: bool) -> Callable[[Array, Array], Array]:
    """The amount counts as unsigned; the width or more leaves 0, or the sign."""

    def wrapper(a: Array, b: Array) -> Array:
        width = 8 * a.dtype.itemsize
        amount = unsigned(b)
        inside = np.minimum(amount, width - 1).astype(a.dtype)
        out = shift(a, inside)
        beyond = (a >> (width - 1)) if signed else np.zeros_like(a)
        return np.where(amount < width, out, beyond)

    return wrapper


def _high_product(a: Array, b: Array) -> Array:
    width = 8 * a.dtype.itemsize
    if width < 64:
        return ((a.astype(np.uint64) * b.astype(np.uint64)) >> width).astype(a.dtype)
    mask = np.uint64(0xFFFFFFFF)
    (ah, al), (bh, bl) = (a >> 32, a & mask), (b >> 32, b & mask)
    middle = (al * bl >> 32) + (ah * bl & mask) + (al * bh & mask)
    return ah * bh + (ah * bl >> 32) + (al * bh >> 32) + (middle >> 32)


_SIGNED, _UNSIGNED = {"signedness": 1}, {"signedness": 0}


def integer_cases() -> Iterator[Case]:
    for element in INTEGERS:
        yield from _integer_arithmetic(element)
        yield from _integer_by_sign(element)


def _integer_arithmetic(element: str) -> Iterator[Case]:
    def case(op: str, function: Callable[..., Array], operands: int = 2, **attributes: object) -> Case:
        return elementwise(op, element, _bits(element, function), operands=operands, oracle="numpy", **attributes)

    yield case("addi", np.add, overflow=0)
    yield case("subi", np.subtract, overflow=0)
    yield case("muli", np.multiply, overflow=0)
    yield case("negi", np.negative, 1, overflow=0)
    yield case("absi", np.abs, 1)
    yield case("andi", np.bitwise_and)
    yield case("ori", np.bitwise_or)
    yield case("xori", np.bitwise_xor)
    high = _high_product if element != "i1" else lambda a, b: np.zeros_like(a)
    yield elementwise("mulhii", element, _as_unsigned(element, high), oracle="numpy")
    if element == "i1":
        yield elementwise("shli", element, lambda a, b: a & ~b, oracle="numpy", overflow=0)
        yield elementwise("shri", element, lambda a, b: a, variant="signed", oracle="numpy", **_SIGNED)
        yield elementwise("shri", element, lambda a, b: a & ~b, variant="unsigned", oracle="numpy", **_UNSIGNED)
        return
    left, right = _shifted(np.left_shift, False), _shifted(np.right_shift, True)
    yield elementwise("shli", element, left, oracle="numpy", overflow=0)
    yield elementwise("shri", element, right, variant="signed", oracle="numpy", **_SIGNED)
    logical = _as_unsigned(element, _shifted(np.right_shift, False))
    yield elementwise("shri", element, logical, variant="unsigned", oracle="numpy", **_UNSIGNED)


def _integer_by_sign(element: str) -> Iterator[Case]:
    for sign, wrap, mark in (("signed", _bits, _SIGNED), ("unsigned", _as_unsigned, _UNSIGNED)):
        for op, function in (("maxi", np.maximum), ("mini", np.minimum), ("remi", _guarded(_remainder))):
            yield elementwise(op, element, wrap(element, function), variant=sign, oracle="numpy", **mark)
        divisions = {ZERO: _truncated, UP: _ceiling} | ({DOWN: np.floor_divide} if sign == "signed" else {})
        for mode, divide in divisions.items():
            expected = wrap(element, _guarded(divide))
            variant = f"{sign}-{MODES[mode]}"
            yield elementwise("divi", element, expected, variant=variant, oracle="numpy", rounding=mode, **mark)
        for code, (predicate, compare) in enumerate(zip(PREDICATES, COMPARE, strict=True)):
            yield elementwise(
                "cmpi", element, _comparison(element, sign, compare), result="i1", variant=f"{sign}-{predicate}",
                oracle="numpy", comparison_predicate=code, **mark,
            )  # fmt: skip


def _comparison(element: str, sign: str, compare: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    def wrapper(a: Array, b: Array) -> Array:
        if element == "i1":
            a, b = a.astype(np.int8), b.astype(np.int8)
            return compare(-a, -b) if sign == "signed" else compare(a, b)
        return compare(a, b) if sign == "signed" else compare(unsigned(a), unsigned(b))

    return wrapper
