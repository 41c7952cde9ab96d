"""Kernels written with cuTile Python, a second producer of bytecode, run on the CPU device against numpy."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tilegym_rs import cpu

pytest.importorskip("cuda.tile", reason="cuTile Python (PyPI cuda-tile) writes the corpus")
corpus = importlib.import_module("cutile_kernels.corpus")
with np.errstate(all="ignore"):
    for part in ("elementwise", "reductions", "memory", "layout", "products", "control"):
        importlib.import_module(f"cutile_kernels.{part}")


ORDERS = ({"order": "reversed", "threads": 1}, {"order": "shuffled", "seed": 7, "threads": 4})


@pytest.mark.parametrize("case", corpus.CASES, ids=lambda case: case.name)
def test_kernel_of_the_corpus(case: corpus.Case) -> None:
    module = cpu.load(case.export())
    arguments = case.copies()
    module.launch("kernel", case.grid, corpus.flattened(arguments))
    for i, expected in case.expected.items():
        got = arguments[i]
        if case.tolerance == 0:
            np.testing.assert_array_equal(got, expected)
            continue
        scale = np.nanmax(np.abs(expected.astype(np.float64)))
        np.testing.assert_allclose(got.astype(np.float64), expected, rtol=case.tolerance, atol=case.tolerance * scale)
    for order in ORDERS if case.grid != (1,) else ():
        others = case.copies()
        module.launch("kernel", case.grid, corpus.flattened(others), **order)
        for i in case.expected:
            assert others[i].tobytes() == arguments[i].tobytes(), f"argument {i} differs, {order}"
