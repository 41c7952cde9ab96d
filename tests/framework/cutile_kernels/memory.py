"""Loads, stores, views and atomics."""

import cuda.tile as ct
import numpy as np

from cutile_kernels.corpus import case

rng = np.random.default_rng(3)
X = np.arange(11 * 13, dtype=np.float32).reshape(11, 13)


@ct.kernel
def copy(x, out):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(out, (i, j), ct.load(x, (i, j), (4, 8)))


case(copy, X, np.zeros_like(X), expected={1: X}, grid=(3, 2), name="copy")
case(copy, X[:, ::2][:, :6], np.zeros((11, 6), np.float32), expected={1: X[:, ::2][:, :6].copy()}, grid=(3, 1),
     name="copy_strided")  # fmt: skip


def padded(mode):
    @ct.kernel
    def kernel(x, out):
        ct.store(out, (0, 0), ct.load(x, (2, 1), (4, 8), padding_mode=mode))

    return kernel


for mode, value in (("ZERO", 0.0), ("NEG_ZERO", -0.0), ("NAN", np.nan), ("POS_INF", np.inf), ("NEG_INF", -np.inf)):
    expected = np.full((4, 8), value, np.float32)
    expected[:3, :5] = X[8:, 8:]
    case(padded(getattr(ct.PaddingMode, mode)), X, np.zeros((4, 8), np.float32), expected={1: expected},
         name=f"padding_{mode.lower()}")  # fmt: skip


@ct.kernel
def transposed(x, out):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(out, (j, i), ct.transpose(ct.load(x, (i, j), (4, 8))))


case(transposed, X, np.zeros((13, 11), np.float32), expected={1: X.T.copy()}, grid=(3, 2), name="transpose")


@ct.kernel
def ordered(x, out):
    ct.store(out, (0, 0), ct.load(x, (0, 1), (8, 4), order="F"))


case(ordered, X, np.zeros((8, 4), np.float32), expected={1: X[4:8, :8].T.copy()}, name="load_order")


@ct.kernel
def tiles(x, out):
    ct.store(out, (0,), ct.full((1,), ct.num_tiles(x, 0, (4, 8)) * 100 + ct.num_tiles(x, 1, (4, 8)), ct.int32))


case(tiles, X, np.zeros(1, np.int32), expected={1: np.array([302], np.int32)}, name="num_tiles")


@ct.kernel
def viewed(x, out):
    view = x.tiled_view((4, 8), padding_mode=ct.PaddingMode.ZERO, traversal_steps=(3, 2))
    ct.store(out, (0, 0), view.load((3, 4)))


expected = np.zeros((4, 8), np.float32)
expected[:2, :5] = X[9:, 8:]
case(viewed, X, np.zeros((4, 8), np.float32), expected={1: expected}, name="strided_view")

PICKS = rng.permutation(143)[:128].astype(np.int32)
PICKS[5], PICKS[77] = -3, 1000


@ct.kernel
def gathered(x, picks, out):
    ct.store(out, (0,), ct.gather(x, ct.load(picks, (0,), (128,)), padding_value=-1.0))


FLAT = X.reshape(-1)
inside = (PICKS >= 0) & (PICKS < 143)
case(gathered, FLAT, PICKS, np.zeros(128, np.float32),
     expected={2: np.where(inside, FLAT[np.where(inside, PICKS, 0)], np.float32(-1))}, name="gather")  # fmt: skip


@ct.kernel
def gathered2(x, rows, out):
    row = ct.load(rows, (0,), (16,))
    ct.store(out, (0, 0), ct.gather(x, (row[:, None], ct.arange(8, dtype=ct.int32)[None, :])))


ROWS = rng.integers(0, 11, 16).astype(np.int32)
case(gathered2, X, ROWS, np.zeros((16, 8), np.float32), expected={2: X[ROWS, :8]}, name="gather_2d")


@ct.kernel
def scattered(x, picks, out):
    ct.scatter(out, ct.load(picks, (0,), (128,)), ct.load(x, (0,), (128,)))


after = np.zeros(143, np.float32)
after[PICKS[inside]] = FLAT[:128][inside]
case(scattered, FLAT, PICKS, np.zeros(143, np.float32), expected={2: after}, name="scatter")


@ct.kernel
def sparse_rows(x, rows, out):
    tile = ct.load_advanced_indexing(x, (ct.load(rows, (0,), (16,)), ct.Slice(3, 8)), padding_mode=ct.PaddingMode.ZERO)
    ct.store_advanced_indexing(out, (ct.arange(16, dtype=ct.int32), ct.Slice(1, 8)), tile)


expected = np.zeros((16, 10), np.float32)
expected[:, 1:9] = X[ROWS, 3:11]
case(sparse_rows, X, ROWS, np.zeros((16, 10), np.float32), expected={2: expected}, name="advanced_indexing")


@ct.kernel
def raw(x, out):
    source, target = x.get_raw_memory(), out.get_raw_memory()
    index = ct.arange(64, dtype=ct.int32)
    target.store_offset(index, source.load_offset(index * 2, mask=index < 60, padding_value=5.0), mask=index != 7)


expected = np.where(np.arange(64) < 60, FLAT[np.arange(64) * 2 % 143], 5).astype(np.float32)
expected[7] = 0
case(raw, FLAT, np.zeros(64, np.float32), expected={1: expected}, name="raw_memory")

A = rng.integers(-1000, 1000, 64).astype(np.int32)
V = rng.integers(-1000, 1000, 64).astype(np.int32)
for name, function, reference in (
    ("add", ct.atomic_add, np.add), ("max", ct.atomic_max, np.maximum), ("min", ct.atomic_min, np.minimum),
    ("and", ct.atomic_and, np.bitwise_and), ("or", ct.atomic_or, np.bitwise_or), ("xor", ct.atomic_xor, np.bitwise_xor),
    ("xchg", ct.atomic_xchg, lambda a, b: b),
):  # fmt: skip

    def updating(function):
        @ct.kernel
        def kernel(memory, values, old):
            index = ct.arange(64, dtype=ct.int32)
            ct.store(old, (0,), function(memory, index, ct.load(values, (0,), (64,))))

        return kernel

    case(updating(function), A, V, np.zeros_like(A), expected={0: reference(A, V), 2: A}, name=f"atomic_{name}")


@ct.kernel
def histogram(x, out):
    ct.atomic_add(out, ct.load(x, (ct.bid(0),), (64,)), 1)


H = rng.integers(0, 16, 1024).astype(np.int32)
case(histogram, H, np.zeros(16, np.int32), expected={1: np.bincount(H, minlength=16).astype(np.int32)}, grid=16,
     name="histogram")  # fmt: skip


@ct.kernel
def float_total(x, out):
    ct.atomic_add(out, ct.zeros((64,), ct.int32), ct.load(x, (ct.bid(0),), (64,)))


case(float_total, H.astype(np.float32), np.zeros(1, np.float32), expected={1: np.array([H.sum()], np.float32)}, grid=16,
     name="atomic_add_float")  # fmt: skip


@ct.kernel
def swapped(memory, wanted, new, old):
    index = ct.arange(64, dtype=ct.int32)
    ct.store(old, (0,), ct.atomic_cas(memory, index, ct.load(wanted, (0,), (64,)), ct.load(new, (0,), (64,))))


C = np.where(np.arange(64) % 3 == 0, A, 0).astype(np.int32)
case(swapped, A, C, V, np.zeros_like(A), expected={0: np.where(A == C, V, A), 3: A}, name="atomic_cas")


@ct.kernel
def view_reduction(memory, values):
    memory.tiled_view((4, 8)).atomic_store_add((1, 1), ct.load(values, (0, 0), (4, 8)))


M = rng.integers(-9, 9, (7, 9)).astype(np.int32)
added = M.copy()
added[4:, 8:] += V[:32].reshape(4, 8)[:3, :1]
case(view_reduction, M, V[:32].reshape(4, 8).copy(), expected={0: added}, name="atomic_store_add")


@ct.kernel
def counter(lock, total, x):
    """Every block adds its number to one place under a lock."""
    while ct.atomic_cas(lock, 0, 0, 1, memory_order=ct.MemoryOrder.ACQUIRE) != 0:
        pass
    ct.store(total, (0,), ct.load(total, (0,), (1,)) + ct.load(x, (ct.bid(0),), (1,)))
    ct.atomic_xchg(lock, 0, 0, memory_order=ct.MemoryOrder.RELEASE)


case(counter, np.zeros(1, np.int32), np.zeros(1, np.int32), V, expected={1: np.array([V.sum()], np.int32)}, grid=64,
     name="lock")  # fmt: skip
