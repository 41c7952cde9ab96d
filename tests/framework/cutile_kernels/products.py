"""Matrix products."""

import cuda.tile as ct
import ml_dtypes
import numpy as np

from cutile_kernels.corpus import case

rng = np.random.default_rng(5)
A = rng.integers(-3, 4, (64, 32)).astype(np.float32)
B = rng.integers(-3, 4, (32, 64)).astype(np.float32)


@ct.kernel
def product(a, b, out):
    ct.store(out, (0, 0), ct.astype(ct.mma(ct.load(a, (0, 0), (64, 32)), ct.load(b, (0, 0), (32, 64)),
                                           ct.zeros((64, 64), ct.float32)), out.dtype))  # fmt: skip


for dtype in (np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
    case(product, A.astype(dtype), B.astype(dtype), np.zeros((64, 64), np.float32), expected={2: A @ B},
         name=f"mma_{np.dtype(dtype).name}")  # fmt: skip


@ct.kernel
def tf32(a, b, out):
    left = ct.astype(ct.load(a, (0, 0), (64, 32)), ct.tfloat32)
    right = ct.astype(ct.load(b, (0, 0), (32, 64)), ct.tfloat32)
    ct.store(out, (0, 0), ct.mma(left, right, ct.full((64, 64), 1.0, ct.float32)))


case(tf32, A, B, np.zeros((64, 64), np.float32), expected={2: A @ B + 1}, name="mma_tfloat32")


@ct.kernel
def double(a, b, out):
    ct.store(out, (0, 0), ct.load(a, (0, 0), (64, 32)) @ ct.load(b, (0, 0), (32, 64)))


case(double, A.astype(np.float64), B.astype(np.float64), np.zeros((64, 64)), expected={2: (A @ B).astype(np.float64)},
     name="matmul_float64")  # fmt: skip


@ct.kernel
def integers(a, b, out):
    ct.store(out, (0, 0), ct.mma(ct.load(a, (0, 0), (64, 32)), ct.load(b, (0, 0), (32, 64)),
                                 ct.zeros((64, 64), ct.int32)))  # fmt: skip


for left, right in ((np.int8, np.int8), (np.uint8, np.uint8)):
    a, b = rng.integers(0, 256, (64, 32)).astype(left), rng.integers(0, 256, (32, 64)).astype(right)
    case(integers, a, b, np.zeros((64, 64), np.int32), expected={2: a.astype(np.int32) @ b.astype(np.int32)},
         name=f"mma_{np.dtype(left).name}")  # fmt: skip


@ct.kernel
def blocked(a, b, out, k_tiles: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.zeros((16, 32), ct.float32)
    for k in range(ct.num_tiles(a, 1, (16, k_tiles))):
        left = ct.load(a, (i, k), (16, k_tiles), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, (k, j), (k_tiles, 32), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(left, right, total)
    ct.store(out, (i, j), total)


L, R = rng.integers(-3, 4, (50, 70)).astype(np.float32), rng.integers(-3, 4, (70, 90)).astype(np.float32)
case(blocked, L, R, np.zeros((50, 90), np.float32), 16, expected={2: L @ R}, grid=(4, 3), name="matmul")


@ct.kernel
def batched(a, b, out):
    ct.store(out, (0, 0, 0), ct.matmul(ct.load(a, (0, 0, 0), (2, 16, 32)), ct.load(b, (0, 0, 0), (2, 32, 16))))


P, Q = A.reshape(2, 32, 32)[:, :16].copy(), B.reshape(2, 16, 64)[:, :, :32].transpose(0, 2, 1).copy()
case(batched, P, Q, np.zeros((2, 16, 16), np.float32), expected={2: P @ Q}, name="matmul_batched")


@ct.kernel
def scaled(a, sa, b, sb, out):
    ct.store(out, (0, 0), ct.mma_scaled(
        ct.load(a, (0, 0), (32, 64)), ct.load(sa, (0, 0), (32, 2)), ct.load(b, (0, 0), (64, 32)),
        ct.load(sb, (0, 0), (2, 32)), ct.zeros((32, 32), ct.float32)))  # fmt: skip


F, T = rng.integers(-3, 4, (32, 64)).astype(np.float32), rng.integers(-3, 4, (64, 32)).astype(np.float32)
SF, ST = rng.choice([0.5, 1, 2], (32, 2)).astype(np.float32), rng.choice([0.5, 1, 2], (2, 32)).astype(np.float32)
eight, scale = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
case(scaled, F.astype(eight), SF.astype(scale), T.astype(eight), ST.astype(scale), np.zeros((32, 32), np.float32),
     expected={4: (F * np.repeat(SF, 32, 1)) @ (T * np.repeat(ST, 32, 0))}, name="mma_scaled")  # fmt: skip


@ct.kernel
def attention(q, k, v, out):
    query = ct.load(q, (ct.bid(0), 0), (16, 32))
    best = ct.full((16, 1), float("-inf"), ct.float32)
    total = ct.zeros((16, 1), ct.float32)
    result = ct.zeros((16, 32), ct.float32)
    for j in range(ct.num_tiles(k, 0, (16, 32))):
        keys = ct.transpose(ct.load(k, (j, 0), (16, 32)))
        scores = ct.mma(query, keys, ct.zeros((16, 16), ct.float32)) * 0.17677669529663687
        new = ct.maximum(best, ct.max(scores, 1, keepdims=True))
        weights = ct.exp(scores - new)
        decay = ct.exp(best - new)
        total = total * decay + ct.sum(weights, 1, keepdims=True)
        result = ct.mma(weights, ct.load(v, (j, 0), (16, 32)), result * decay)
        best = new
    ct.store(out, (ct.bid(0), 0), result / total)


QKV = rng.standard_normal((3, 64, 32)).astype(np.float32)
q, k, v = QKV.astype(np.float64)
weights = np.exp(q @ k.T / np.sqrt(32) - (q @ k.T / np.sqrt(32)).max(1, keepdims=True))
case(attention, *(x.copy() for x in QKV), np.zeros((64, 32), np.float32),
     expected={3: (weights / weights.sum(1, keepdims=True) @ v).astype(np.float32)}, grid=4, tolerance=1e-6,
     name="attention")  # fmt: skip
