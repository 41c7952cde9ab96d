"""Random programs on the CPU device against numpy."""

from __future__ import annotations

import os

import numpy as np
import pytest
from cpu_ops.formats import bit_view, same_bits
from random_programs import RandomProgram

from tilegym_rs import cpu

# TILEGYM_RANDOM_PROGRAMS=FIRST:LAST runs others than these.
_FIRST, _, _LAST = os.environ.get("TILEGYM_RANDOM_PROGRAMS", "0:60").partition(":")


@pytest.mark.parametrize("seed", range(int(_FIRST), int(_LAST)))
def test_program(seed: int) -> None:
    with np.errstate(all="ignore"):
        program = RandomProgram(seed)
    arrays = [np.ascontiguousarray(a).copy() for a in program.arrays]
    cpu.load(program.bytecode).launch("kernel", 1, [bit_view(a) for a in arrays])
    for index, expected in program.expected.items():
        got = arrays[index].reshape(expected.shape)
        bad = ~np.atleast_1d(same_bits(got, np.ascontiguousarray(expected)))
        assert not bad.any(), f"argument {index}: {bad.sum()} of {bad.size} elements differ"
