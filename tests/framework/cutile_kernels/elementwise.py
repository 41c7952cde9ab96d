"""Kernels that work element by element."""

import cuda.tile as ct
import ml_dtypes
import numpy as np

from cutile_kernels.corpus import case, mapping

rng = np.random.default_rng(1)
X = (rng.standard_normal(500) * 3).astype(np.float32)
Y = (rng.standard_normal(500) * 3).astype(np.float32)
P = np.abs(X) + np.float32(0.1)


def unary(name, function, expected, x=X, tolerance=3e-7):
    out = np.zeros(len(x), expected.dtype)
    case(mapping(function), x, out, expected={1: expected}, name=name, grid=2, tolerance=tolerance)


def binary(name, function, expected, x=X, y=Y, tolerance=0):
    out = np.zeros(len(x), expected.dtype)
    case(mapping(function, 2), x, y, out, expected={2: expected}, name=name, grid=2, tolerance=tolerance)


def check(expected, *operands, tolerance=0):
    """Decorates a function of one or two tiles."""

    def register(function):
        (unary if len(operands) == 1 else binary)(function.__name__, function, expected, *operands, tolerance=tolerance)
        return function

    return register


for name, function, reference, x in (
    ("exp", ct.exp, np.exp, X), ("exp2", ct.exp2, np.exp2, X), ("log", ct.log, np.log, P),
    ("log2", ct.log2, np.log2, P), ("sqrt", ct.sqrt, np.sqrt, P), ("sin", ct.sin, np.sin, X),
    ("cos", ct.cos, np.cos, X), ("tan", ct.tan, np.tan, X), ("sinh", ct.sinh, np.sinh, X),
    ("cosh", ct.cosh, np.cosh, X), ("tanh", ct.tanh, np.tanh, X), ("floor", ct.floor, np.floor, X),
    ("ceil", ct.ceil, np.ceil, X), ("abs", ct.abs, np.abs, X), ("negative", ct.negative, np.negative, X),
    ("rsqrt", ct.rsqrt, lambda v: 1 / np.sqrt(v), P),
):  # fmt: skip
    unary(name, function, reference(x.astype(np.float64)).astype(np.float32), x)

binary("add", ct.add, X + Y)
binary("sub", ct.sub, X - Y)
binary("mul", ct.mul, X * Y)
binary("truediv", ct.truediv, X / Y)
binary("pow", ct.pow, np.power(P.astype(np.float64), Y).astype(np.float32), P, Y, 3e-7)
binary("atan2", ct.atan2, np.arctan2(X.astype(np.float64), Y).astype(np.float32), tolerance=3e-7)
binary("mod", ct.mod, np.mod(X, Y), tolerance=1e-6)
binary("maximum", ct.maximum, np.maximum(X, Y))
binary("minimum", ct.minimum, np.minimum(X, Y))


@check((X.astype(np.float64) * Y + X).astype(np.float32), X, Y)
def multiply_add(x, y):
    return x * y + x


SUM = X + Y


@check(np.where(X.astype(np.float64) + Y < SUM, np.nextafter(SUM, np.float32(-np.inf)), SUM), X, Y)
def rounded_down(x, y):
    return ct.add(x, y, rounding_mode=ct.RoundingMode.RM)


@check(np.copysign(np.zeros_like(X), X * Y), X, Y)
def flushed(x, y):
    return ct.mul(x * 1e-20, y * 1e-20, flush_to_zero=True)


@check(np.where(X > Y, X - Y, np.float32(7)), X, Y)
def where(x, y):
    return ct.where(x > y, x - y, ct.full((256,), 7.0, ct.float32))


@check(((X > Y) + 2 * (X >= Y) + 4 * (X < Y) + 8 * (X <= Y) + 16 * (X == Y) + 32 * (X != Y)).astype(np.int32), X, Y)
def comparisons(x, y):
    total = ct.astype(x > y, ct.int32) + 2 * ct.astype(x >= y, ct.int32) + 4 * ct.astype(x < y, ct.int32)
    return total + 8 * ct.astype(x <= y, ct.int32) + 16 * ct.astype(x == y, ct.int32) + 32 * ct.astype(x != y, ct.int32)


HOLES = np.where(X > 0, X, np.float32(np.nan))
unary("isnan", ct.isnan, np.isnan(HOLES), HOLES, 0)


@check((X / (1 + np.exp(-X.astype(np.float64)))).astype(np.float32), X, tolerance=3e-7)
def silu(x):
    return x / (1.0 + ct.exp(-x))


I = rng.integers(-(2**31), 2**31, 500, dtype=np.int64).astype(np.int32)  # noqa: E741
J = rng.integers(-50, 50, 500).astype(np.int32)
J[J == 0] = 3
K = np.abs(I // 2)
U, V = I.view(np.uint32), J.view(np.uint32)


@check(I * J + I - J, I, J)
def integer_arithmetic(x, y):
    return x * y + x - y


binary("floordiv", ct.floordiv, I // J, I, J)
binary("integer_mod", ct.mod, I % J, I, J)
binary("cdiv", ct.cdiv, -(-K // np.abs(J)), K, np.abs(J))


@check((I & J) ^ (I | ~J), I, J)
def bitwise(x, y):
    return (x & y) ^ (x | ~y)


@check((I << (J & 7)) + (I >> (J & 15)), I, J)
def shifts(x, y):
    return (x << (y & 7)) + (x >> (y & 15))


# No x // y: cuTile Python asks for a rounding that NVIDIA's own verifier refuses for unsigned.
@check(np.maximum(U ^ V, U % (V | 1)) >> 1, U, V)
def unsigned(x, y):
    return ct.maximum(x ^ y, x % (y | 1)) >> 1


@check(np.minimum(I, J) - np.maximum(I, J), I, J)
def integer_minmax(x, y):
    return ct.minimum(x, y) - ct.maximum(x, y)


@ct.kernel
def quotient_and_remainder(x, y, q, r):
    both = ct.divmod(ct.load(x, (0,), (512,)), ct.load(y, (0,), (512,)))
    ct.store(q, (0,), both[0])
    ct.store(r, (0,), both[1])


case(quotient_and_remainder, I, J, np.zeros_like(I), np.zeros_like(I), expected={2: I // J, 3: I % J}, name="divmod")


def same(x):
    return x


for dtype in (np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn, np.float64):
    narrow = X.astype(dtype)
    unary(f"to_{np.dtype(dtype).name}", same, narrow, X, 0)
    unary(f"from_{np.dtype(dtype).name}", same, narrow.astype(np.float32), narrow, 0)
for dtype in (np.int8, np.int16, np.int64, np.uint8, np.uint16, np.uint64):
    wide = (I % 100).astype(np.int32)
    unary(f"to_{np.dtype(dtype).name}", same, wide.astype(dtype), wide, 0)
    unary(f"float_from_{np.dtype(dtype).name}", same, wide.astype(dtype).astype(np.float32), wide.astype(dtype), 0)
unary("float_to_int", same, X.astype(np.int32), X, 0)


@check((X.view(np.int32) ^ 1).view(np.float32), X)
def bitcast(x):
    return ct.bitcast(ct.bitcast(x, ct.int32) ^ 1, ct.float32)


@check((X > 0) & (X < 2), X)
def conjunction(x):
    return (x > 0) & (x < 2)


H = X.astype(np.float16).astype(np.float64)


@check((H * H + H).astype(np.float16), X.astype(np.float16), tolerance=1e-3)
def half_arithmetic(x):
    return x * x + x
