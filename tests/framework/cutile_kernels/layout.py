"""Tiles put together, taken apart and turned."""

import cuda.tile as ct
import numpy as np

from cutile_kernels.corpus import case

X = np.arange(8 * 16, dtype=np.float32).reshape(8, 16)


def shaping(function, origin):
    @ct.kernel
    def kernel(x, out):
        ct.store(out, origin, function(ct.load(x, (0, 0), (8, 16))))

    return kernel


def shaped(expected):
    """Decorates a function from the tile to a tile."""

    def register(function):
        case(shaping(function, (0,) * expected.ndim), X, np.zeros_like(expected),
             expected={1: np.ascontiguousarray(expected)}, name=function.__name__)  # fmt: skip
        return function

    return register


@shaped(X.reshape(4, 32))
def reshape(tile):
    return ct.reshape(tile, (4, 32))


@shaped(X.reshape(2, 4, 16).transpose(2, 0, 1))
def permute(tile):
    return ct.permute(ct.reshape(tile, (2, 4, 16)), (2, 0, 1))


@shaped(np.concatenate([X, X + 1], 0))
def cat_rows(tile):
    return ct.cat((tile, tile + 1.0), 0)


@shaped(np.concatenate([X, X + 1], 1))
def cat_columns(tile):
    return ct.cat((tile, tile + 1.0), 1)


@shaped(X[4:, 12:])
def extract(tile):
    return ct.extract(tile, (1, 3), (4, 4))


@shaped(np.broadcast_to(X[0, 8:], (4, 8)))
def broadcast(tile):
    return ct.broadcast_to(ct.extract(tile, (0, 1), (1, 8)), (4, 8))


@shaped(X.sum(1, keepdims=True) + X)
def expand_dims(tile):
    return ct.expand_dims(ct.sum(tile, 1), 1) + tile


@shaped(X + np.float32(2.5))
def full(tile):
    two_and_a_half = ct.full((8, 16), 2.5, ct.float32) * ct.ones((8, 16), ct.float32)
    return two_and_a_half + ct.zeros((8, 16), ct.float32) + tile


@ct.kernel
def arange(out):
    ct.store(out, (0,), ct.arange(64, dtype=ct.int32, start=5, step=3))


case(arange, np.zeros(64, np.int32), expected={0: np.arange(5, 5 + 192, 3, dtype=np.int32)}, name="arange")


@ct.kernel
def packed(x, out):
    ct.store(out, (0,), ct.pack_to_bytes(ct.load(x, (0, 0), (8, 16))))


case(packed, X, np.zeros(512, np.uint8), expected={1: X.view(np.uint8).reshape(-1)}, name="pack_to_bytes")


@ct.kernel
def unpacked(x, out):
    ct.store(out, (0,), ct.unpack_from_bytes(ct.load(x, (0,), (512,)), ct.float32))


case(unpacked, X.view(np.uint8).reshape(-1).copy(), np.zeros(128, np.float32), expected={1: X.reshape(-1)},
     name="unpack_from_bytes")  # fmt: skip


@ct.kernel
def fours(x, out):
    ct.store(out, (0,), ct.astype(ct.unpack_from_bytes(ct.load(x, (0,), (256,)), ct.float4_e2m1fn), ct.float32))


CODES = np.arange(256, dtype=np.uint8)
VALUES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
case(fours, CODES, np.zeros(512, np.float32),
     expected={1: np.stack([VALUES[CODES & 15], VALUES[CODES >> 4]], 1).reshape(-1)}, name="float4")  # fmt: skip
