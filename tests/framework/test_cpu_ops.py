"""Every operation of the dialect on every element type, against an oracle outside the engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from cpu_ops.all import elementwise_cases, structural_kernels
from cpu_ops.case import Case
from cpu_ops.formats import DTYPES, Array, bit_view, same_bits, ulps
from cpu_ops.kernel import Kernel
from tile_program import OPERATIONS, Program, Tile, Value, pointer

from tilegym_rs import cpu

TILE = 1024
ORDERS = ({"threads": 1}, {"threads": 4}, {"order": "reversed"}, {"order": "shuffled", "seed": 7})


def write_entry(case: Case) -> bytes:
    """An entry that loads a piece of each input, applies the operation and stores the piece of the result."""
    program = Program()
    k = program.entry("case", [pointer(e) for e in (*case.elements, case.result)])
    block = k.emit("get_tile_block_id", (), [Tile("i32")] * 3)[0]
    start = k.op("muli", block, k.integer(TILE), overflow=0)

    def piece(base: Value) -> Value:
        return k.addresses(k.op("offset", base, start), (TILE,))

    *sources, target = k.arguments
    k.store(piece(target), case.write(k, [k.load(piece(source)) for source in sources]))
    k.finish()
    return program.encode()


def results(case: Case, inputs: Sequence[Array]) -> Iterator[Array]:
    """What comes out for each order of the tile blocks."""
    count = len(inputs[0])
    blocks = -(-count // TILE)
    padded = [bit_view(np.resize(a, blocks * TILE)) for a in inputs]
    module = cpu.load(write_entry(case))
    for order in ORDERS:
        out = np.zeros(blocks * TILE, DTYPES[case.result])
        module.launch("case", blocks, [*padded, bit_view(out)], **order)
        yield out[:count]


@pytest.mark.parametrize("case", list(elementwise_cases()), ids=lambda case: case.name)
def test_elementwise(case: Case) -> None:
    with np.errstate(all="ignore"):
        inputs = [np.ascontiguousarray(a) for a in case.inputs()]
        expected = case.expected(*inputs)
        got, *others = results(case, inputs)
        bad = ~same_bits(got, expected) if case.ulp == 0 else ulps(got, expected, case.result) > case.ulp
    assert not bad.any(), describe(case, inputs, got, expected, bad)
    assert all(np.array_equal(bit_view(other), bit_view(got)) for other in others)


def describe(case: Case, inputs: Sequence[Array], got: Array, expected: Array, bad: np.ndarray) -> str:
    i = int(np.flatnonzero(bad)[0])
    operands = ", ".join(str(a[i]) for a in inputs)
    return f"{case.name}: {bad.sum()} of {bad.size} differ; {case.op}({operands}) = {got[i]}, wanted {expected[i]}"


@pytest.mark.parametrize("kernel", structural_kernels(), ids=lambda kernel: kernel.name)
def test_structure(kernel: Kernel) -> None:
    module = cpu.load(kernel.encode())
    for order in ORDERS if kernel.grid != (1,) else ORDERS[:1]:
        arrays = [np.array(a) for _, a in kernel.arrays]
        module.launch("kernel", kernel.grid, [bit_view(a) for a in arrays], **order)
        for i, (got, (_, before)) in enumerate(zip(arrays, kernel.arrays, strict=True)):
            expected = np.asarray(kernel.expected.get(i, before)).reshape(got.shape)
            bad = ~same_bits(got, expected)
            assert not bad.any(), f"argument {i}: {bad.sum()} of {bad.size} differ\n{got[bad][:8]}\n{expected[bad][:8]}"


def test_no_operation_is_left_out() -> None:
    """What has no case of its own is the module around the others."""
    tested = {case.op for case in elementwise_cases()} | {op for kernel in structural_kernels() for op in kernel.ops}
    assert set(OPERATIONS) - tested == {"module", "entry"}
