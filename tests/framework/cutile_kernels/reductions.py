"""Reductions, scans and what is built of them."""

import operator

import cuda.tile as ct
import numpy as np

from cutile_kernels.corpus import case

rng = np.random.default_rng(2)
X = rng.standard_normal((16, 64)).astype(np.float32)
N = rng.integers(-4, 5, (16, 64)).astype(np.int32)


def reducing(function, axis):
    @ct.kernel
    def kernel(x, out):
        ct.store(out, (0,), function(ct.load(x, (0, 0), (16, 64)), axis))

    return kernel


for name, function, reference in (
    ("sum", ct.sum, np.sum), ("max", ct.max, np.max), ("min", ct.min, np.min), ("argmax", ct.argmax, np.argmax),
    ("argmin", ct.argmin, np.argmin),
):  # fmt: skip
    for axis in (0, 1):
        for values in (X, N):
            wide = values.astype(np.float64) if name == "sum" and values is X else values
            expected = reference(wide, axis).astype(np.int32 if name.startswith("arg") else values.dtype)
            case(reducing(function, axis), values, np.zeros_like(expected), expected={1: expected},
                 name=f"{name}_{values.dtype}_{axis}", tolerance=1e-6 if name == "sum" else 0)  # fmt: skip


@ct.kernel
def product(x, out):
    ct.store(out, (0, 0), ct.prod(ct.load(x, (0, 0), (16, 64)), 1, keepdims=True))


S = rng.choice([1.0, -1.0, 2.0, 0.5], (16, 64)).astype(np.float32)
case(product, S, np.zeros((16, 1), np.float32), expected={1: S.prod(1, keepdims=True)}, name="prod")


def scanning(function, axis, reverse):
    @ct.kernel
    def kernel(x, out):
        ct.store(out, (0, 0), function(ct.load(x, (0, 0), (16, 64)), axis, reverse=reverse))

    return kernel


for axis in (0, 1):
    for reverse in (False, True):
        flip = (lambda v, a=axis: np.flip(v, a)) if reverse else (lambda v: v)
        expected = np.ascontiguousarray(flip(np.cumsum(flip(N), axis))).astype(np.int32)
        case(scanning(ct.cumsum, axis, reverse), N, np.zeros_like(N), expected={1: expected},
             name=f"cumsum_{axis}_{reverse}")  # fmt: skip
        expected = np.ascontiguousarray(flip(np.cumprod(flip(S), axis))).astype(np.float32)
        case(scanning(ct.cumprod, axis, reverse), S, np.zeros_like(S), expected={1: expected},
             name=f"cumprod_{axis}_{reverse}")  # fmt: skip


@ct.kernel
def custom(x, low, high):
    tile = ct.load(x, (0, 0), (16, 64))

    def both(a_low, a_high, b_low, b_high):
        return ct.minimum(a_low, b_low), ct.maximum(a_high, b_high)

    smallest, largest = ct.reduce((tile, tile), 1, both, (float("inf"), float("-inf")))
    ct.store(low, (0,), smallest)
    ct.store(high, (0,), largest)


case(custom, X, np.zeros(16, np.float32), np.zeros(16, np.float32), expected={1: X.min(1), 2: X.max(1)},
     name="reduce_two")  # fmt: skip


@ct.kernel
def xor_scan(x, out):
    ct.store(out, (0, 0), ct.scan(ct.load(x, (0, 0), (16, 64)), 1, operator.xor, 0))


case(xor_scan, N, np.zeros_like(N), expected={1: np.bitwise_xor.accumulate(N, 1)}, name="scan_xor")


@ct.kernel
def softmax(x, out):
    row = ct.load(x, (ct.bid(0), 0), (1, 64), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(row - ct.max(row, 1, keepdims=True))
    ct.store(out, (ct.bid(0), 0), e / ct.sum(e, 1, keepdims=True))


W = X[:, :50].copy()
E = np.exp(W.astype(np.float64) - W.max(1, keepdims=True))
case(softmax, W, np.zeros_like(W), expected={1: (E / E.sum(1, keepdims=True)).astype(np.float32)}, grid=16,
     tolerance=1e-6, name="softmax")  # fmt: skip


@ct.kernel
def layer_norm(x, weight, bias, out):
    row = ct.load(x, (ct.bid(0), 0), (1, 64))
    mean = ct.sum(row, 1, keepdims=True) / 64
    centred = row - mean
    scale = ct.rsqrt(ct.sum(centred * centred, 1, keepdims=True) / 64 + 1e-5)
    ct.store(out, (ct.bid(0), 0), centred * scale * ct.load(weight, (0,), (64,)) + ct.load(bias, (0,), (64,)))


G, B = rng.standard_normal((2, 64)).astype(np.float32)
D = X.astype(np.float64)
expected = (D - D.mean(1, keepdims=True)) / np.sqrt(D.var(1, keepdims=True) + 1e-5) * G + B
case(layer_norm, X, G, B, np.zeros_like(X), expected={3: expected.astype(np.float32)}, grid=16, tolerance=1e-5,
     name="layer_norm")  # fmt: skip
