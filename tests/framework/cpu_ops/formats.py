"""Element types of Tile IR as numpy arrays, test inputs for them, and rounding from float64 done once.

The oracle of the CPU device's arithmetic: values are computed in float64 (or exactly, as a float64 and the sign of
what it left out), and rounded to the element type by `rounded`, which works on float64 alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
F64 = NDArray[np.float64]

NEAREST, ZERO, DOWN, UP = 0, 1, 2, 3
MODES = {NEAREST: "nearest_even", ZERO: "zero", DOWN: "negative_inf", UP: "positive_inf"}


@dataclass(frozen=True)
class Format:
    """Significant bits, smallest normal exponent and largest value of a format; whether larger ones saturate."""

    bits: int
    min_exponent: int
    largest: float
    saturates: bool = False


FORMATS = {
    "f16": Format(11, -14, 65504.0),
    "bf16": Format(8, -126, 2.0**127 * (2 - 2.0**-7)),
    "tf32": Format(11, -126, 2.0**127 * (2 - 2.0**-10)),
    "f32": Format(24, -126, 2.0**127 * (2 - 2.0**-23)),
    "f8E4M3FN": Format(4, -6, 448.0, saturates=True),
    "f8E5M2": Format(3, -14, 57344.0, saturates=True),
    "f4E2M1FN": Format(2, 0, 6.0, saturates=True),
}

DTYPES = {
    "i1": np.dtype(np.bool_), "i8": np.dtype(np.int8), "i16": np.dtype(np.int16), "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64), "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32), "tf32": np.dtype(np.float32), "f64": np.dtype(np.float64),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn), "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu), "f4E2M1FN": np.dtype(ml_dtypes.float4_e2m1fn),
    "i4": np.dtype(ml_dtypes.int4),
}  # fmt: skip
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i1", "i8", "i16", "i32", "i64")
WIDTHS = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


def is_float(element: str) -> bool:
    return not element.startswith("i")


def widened(values: Array) -> F64:
    """Values of any float type as float64."""
    return np.asarray(values).astype(np.float32 if values.dtype.itemsize < 4 else np.float64).astype(np.float64)


def rounded(values: F64, element: str, mode: int = NEAREST, left_out: Array | None = None) -> Array:
    """`values` rounded to the element type; `left_out` has the sign of what the exact values have beyond them."""
    values = np.asarray(values, np.float64)
    if left_out is not None and element != "f64":
        values = _sticky(values, left_out)
    if element == "f64":
        return _directed(values, np.zeros_like(values) if left_out is None else left_out, mode)
    if element == "f8E8M0FNU":
        return _power(values, mode)
    form = FORMATS[element]
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(values)[1] - 1, form.min_exponent)
        quantum = np.ldexp(1.0, exponent - form.bits + 1)
        out = np.where(np.isfinite(values), _whole(values / quantum, mode) * quantum, values)
        out = _overflow(out, values, form, mode)
    return np.copysign(out, values).astype(np.float32).astype(DTYPES[element])


def _whole(values: F64, mode: int) -> F64:
    functions = {NEAREST: np.rint, ZERO: np.trunc, DOWN: np.floor, UP: np.ceil}
    return np.asarray(functions[mode](values), np.float64)


def _overflow(out: F64, values: F64, form: Format, mode: int) -> F64:
    beyond = np.abs(out) > form.largest
    if form.saturates:
        out = np.where(beyond, np.copysign(form.largest, values), out)
        return np.where(np.isnan(values) & (form.bits == 2), form.largest, out)
    towards_zero = (mode == ZERO) | ((mode == DOWN) & (values > 0)) | ((mode == UP) & (values < 0))
    limit = np.where(towards_zero & np.isfinite(values), form.largest, np.inf)
    return np.where(beyond, np.copysign(limit, values), out)


def _power(values: F64, mode: int) -> Array:
    """f8E8M0FNU: powers of two from 2^-127 to 2^127, without zero, sign and infinity."""
    with np.errstate(all="ignore"):
        size = np.abs(values)
        fraction, exponent = np.frexp(np.where(np.isfinite(size) & (size > 0), size, 1.0))
        up = {ZERO: fraction > 1, UP: fraction > 0.5}[mode]
        power = np.clip(exponent - 1 + up, -127, 127).astype(np.float64)
        power = np.where(size == 0, -127, np.where(np.isinf(size), 127, power))
        out = np.where(np.isnan(values), np.nan, np.ldexp(1.0, power.astype(int)))
    return out.astype(np.float32).astype(DTYPES["f8E8M0FNU"])


def _sticky(values: F64, left_out: Array) -> F64:
    """The exact value rounded to odd: a later rounding to fewer bits sees on which side it lies."""
    bits = values.view(np.int64)
    inexact = (left_out != 0) & np.isfinite(values) & (values != 0)
    away = (left_out > 0) == (values > 0)
    truncated = np.where(inexact & ~away, bits - 1, bits)
    return np.where(inexact, truncated | 1, bits).view(np.float64)


def _directed(values: F64, left_out: Array, mode: int) -> F64:
    """float64 results: the nearest value is known, the mode may want its neighbour."""
    down = np.where(left_out < 0, np.nextafter(values, -np.inf), values)
    up = np.where(left_out > 0, np.nextafter(values, np.inf), values)
    zero = np.where(values > 0, down, up)
    return np.asarray({NEAREST: values, DOWN: down, UP: up, ZERO: zero}[mode])


def two_sum(a: F64, b: F64) -> tuple[F64, F64]:
    """The sum and exactly what it left out."""
    with np.errstate(all="ignore"):
        total = a + b
        part = total - a
        error = (a - (total - part)) + (b - part)
    return total, np.where(np.isfinite(total), error, 0.0)


def two_product(a: F64, b: F64) -> tuple[F64, F64]:
    """The product and exactly what it left out, where nothing over- or underflows (Dekker)."""
    with np.errstate(all="ignore"):
        product = a * b
        (ah, al), (bh, bl) = _split(a), _split(b)
        error = ((ah * bh - product) + ah * bl + al * bh) + al * bl
    return product, np.where(np.isfinite(product), error, 0.0)


def _split(a: F64) -> tuple[F64, F64]:
    scaled = a * 134217729.0
    high = scaled - (scaled - a)
    return high, a - high


SPECIALS = {
    "f16": [0.0, 1.0, 65504.0, 2.0**-24, 2.0**-14, 1023 * 2.0**-24, 2049.0, 0.1, np.inf, np.nan],
    "bf16": [0.0, 1.0, 3.38e38, 2.0**-133, 2.0**-126, 127 * 2.0**-133, 257.0, 0.1, np.inf, np.nan],
    "f32": [0.0, 1.0, 3.4028235e38, 2.0**-149, 2.0**-126, 1e-40, 16777217.0, 0.1, np.inf, np.nan],
    "tf32": [0.0, 1.0, 3.38e38, 2.0**-136, 2.0**-126, 2049.0, 0.1, np.inf, np.nan],
    "f64": [0.0, 1.0, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308, 1e-310, 0.1, np.inf, np.nan],
}


@cache
def all_values(element: str) -> Array:
    """Every value of a type of 16 bits or less, once."""
    if element == "i1":
        return np.array([False, True])
    if element in ("i4", "f4E2M1FN"):
        return np.arange(16, dtype=np.uint8).view(DTYPES[element])
    dtype = DTYPES[element]
    unsigned = np.uint8 if dtype.itemsize == 1 else np.uint16
    return np.arange(2 ** (8 * dtype.itemsize), dtype=np.uint32).astype(unsigned).view(dtype)


@cache
def samples(element: str, count: int = 10_000, seed: int = 1) -> Array:
    """All special values, then random bit patterns, half of them of moderate size for the floats."""
    rng = np.random.default_rng(seed)
    dtype = DTYPES[element]
    random = rng.integers(0, 256, (count, dtype.itemsize), np.uint8).view(dtype)[:, 0]
    if not is_float(element):
        width = 8 * dtype.itemsize
        edges = [0, 1, 2, 3, 7, width - 1, width, width + 1, 2 ** (width - 1) - 1, 2 ** (width - 2)]
        both = [sign * edge - offset for edge in edges for sign in (1, -1) for offset in (0, 1)]
        wrapped = [(v + 2 ** (width - 1)) % 2**width - 2 ** (width - 1) for v in both]
        return np.concatenate([np.array(wrapped, dtype), random])
    moderate = (rng.standard_normal(count // 2) * 8).astype(dtype)
    random = np.concatenate([random[: count - count // 2], moderate])
    edges = np.array([sign * v for v in SPECIALS[element] for sign in (1.0, -1.0)]).astype(dtype)
    values = np.concatenate([edges, random])
    return rounded(widened(values), "tf32") if element == "tf32" else values


def unary_inputs(element: str) -> Array:
    return all_values(element) if DTYPES[element].itemsize <= 2 else samples(element)


def binary_inputs(element: str) -> tuple[Array, Array]:
    """All pairs of an 8-bit type; else all pairs of special values, and random ones."""
    if DTYPES[element].itemsize == 1:
        values = all_values(element)
        return np.repeat(values, len(values)), np.tile(values, len(values))
    count = 20 if is_float(element) else 40
    edges, left, right = samples(element)[:count], samples(element)[count:], samples(element, seed=2)[count:]
    return (
        np.concatenate([np.repeat(edges, len(edges)), left]),
        np.concatenate([np.tile(edges, len(edges)), right]),
    )


def bit_view(values: Array) -> Array:
    """The array's memory as unsigned integers."""
    return values.view(np.dtype(f"u{values.dtype.itemsize}"))


def same_bits(got: Array, expected: Array) -> NDArray[np.bool_]:
    """Equal bit for bit, or both NaN."""
    equal = bit_view(got) == bit_view(expected)
    if got.dtype.kind in "biu":
        return equal
    with np.errstate(all="ignore"):
        return equal | (np.isnan(got) & np.isnan(expected))


def ulps(got: Array, expected: Array, element: str) -> F64:
    """Distance in units of the last place of `expected`, a longdouble or float64; 0 where both are NaN or equal."""
    form = FORMATS.get(element, Format(53, -1022, float(np.finfo(np.float64).max)))
    wide = np.longdouble if element == "f64" else np.float64
    got, expected = np.asarray(got).astype(wide), np.asarray(expected).astype(wide)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(np.where(np.isfinite(expected), expected, 1))[1] - 1, form.min_exponent)
        distance = np.abs(got - expected) / np.ldexp(wide(1), exponent - form.bits + 1)
        same = (got == expected) | (np.isnan(got) & np.isnan(expected))
        # A result past the largest value is infinite, as it should be.
        same |= (np.abs(expected) > form.largest) & np.isinf(got) & (np.sign(got) == np.sign(expected))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance)).astype(np.float64)
