"""Loops, branches, scalars and the grid."""

import cuda.tile as ct
import numpy as np

from cutile_kernels.corpus import case

X = np.arange(64, dtype=np.float32)


@ct.kernel
def collatz(x, out):
    n = ct.gather(x, ct.bid(0))
    steps = 0
    while True:
        if n == 1:
            break
        steps = steps + 1
        if n % 2 == 1:
            n = 3 * n + 1
            continue
        n = n // 2
    ct.scatter(out, ct.bid(0), steps)


def collatz_steps(n):
    steps = 0
    while n != 1:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    return steps


START = np.arange(1, 31, dtype=np.int32)
case(collatz, START, np.zeros(30, np.int32),
     expected={1: np.array([collatz_steps(int(n)) for n in START], np.int32)}, grid=30, name="collatz")  # fmt: skip


@ct.kernel
def nested(out):
    total = ct.zeros((8,), ct.int32)
    for i in range(2, 20, 3):
        for j in range(i):
            if (i + j) % 2 == 0:  # noqa: SIM108
                total = total + i * j
            else:
                total = total - 1
    ct.store(out, (0,), total + ct.arange(8, dtype=ct.int32))


sums = sum(i * j if (i + j) % 2 == 0 else -1 for i in range(2, 20, 3) for j in range(i))
case(nested, np.zeros(8, np.int32), expected={0: sums + np.arange(8, dtype=np.int32)}, name="nested_loops")


@ct.kernel
def scalars(x, out, a, b, flag: ct.Constant[bool]):
    tile = ct.load(x, (0,), (64,))
    if flag:
        tile = tile * a
    ct.store(out, (0,), tile + b)


case(scalars, X, np.zeros_like(X), np.float32(2.5), np.int32(-3), True, expected={1: X * np.float32(2.5) - 3},
     name="scalar_arguments")  # fmt: skip
case(scalars, X, np.zeros_like(X), np.float32(2.5), np.int32(-3), False, expected={1: X - 3}, name="constant_argument")


@ct.kernel
def grid(out):
    place = ct.bid(0) + ct.num_blocks(0) * (ct.bid(1) + ct.num_blocks(1) * ct.bid(2))
    ct.scatter(out, place, ct.bid(0) * 100 + ct.bid(1) * 10 + ct.bid(2))


z, y, x = np.meshgrid(np.arange(2), np.arange(3), np.arange(5), indexing="ij")
case(grid, np.zeros(30, np.int32), expected={0: (x * 100 + y * 10 + z).astype(np.int32).reshape(-1)}, grid=(5, 3, 2),
     name="grid")  # fmt: skip


@ct.kernel
def newton(x, out):
    """A tile that is carried until all of it has converged."""
    tile = ct.load(x, (0,), (64,)) + 1.0
    root = tile
    while ct.max(ct.abs(root * root - tile)) > 1e-3:
        root = 0.5 * (root + tile / root)
    ct.store(out, (0,), root)


case(newton, X, np.zeros_like(X), expected={1: np.sqrt(X + 1)}, tolerance=1e-4, name="while_tile")


@ct.kernel
def checked(x, out):
    tile = ct.load(x, (0,), (64,))
    ct.assert_(tile >= 0, "negative")  # noqa: PT009
    ct.printf("%d %f\n", ct.bid(0), ct.sum(tile))
    ct.print("tile", ct.extract(tile, (0,), (4,)))
    ct.store(out, (0,), tile)


case(checked, X, np.zeros_like(X), expected={1: X}, name="assert_and_print")


@ct.kernel
def sieve(out):
    """Early return of blocks that have nothing to do."""
    n = ct.bid(0) + 2
    for d in range(2, n):
        if n % d == 0:
            return
    ct.scatter(out, n, 1)


PRIMES = np.array([0, 0] + [int(all(n % d for d in range(2, n))) for n in range(2, 50)], np.int32)
case(sieve, np.zeros(50, np.int32), expected={0: PRIMES}, grid=48, name="early_return")


@ct.function
def helper(tile, scale):
    return tile * scale + 1.0


@ct.kernel
def calls(x, out):
    ct.store(out, (0,), helper(helper(ct.load(x, (0,), (64,)), 2.0), 0.5))


case(calls, X, np.zeros_like(X), expected={1: (X * 2 + 1) * np.float32(0.5) + 1}, name="function")
