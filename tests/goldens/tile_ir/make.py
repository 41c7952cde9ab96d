"""Writes the goldens that come from cuTile Python: kernels through its public export, and every operation once.

The cutile_* goldens are what the Rust crate lowers from its public example kernels, the op_* goldens from the kernels
of the op library, in f32 (their shapes: tests/cpp/tile_ir/launch_stats_test.cpp); they are not written here.
Run: python tests/goldens/tile_ir/make.py
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cuda.tile as ct
import every_operation
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, ScalarConstraint, export_kernel

Size = ct.Constant[int]
VERSIONS = ("13.1", "13.2", "13.3")


def array(dtype: Any, rank: int) -> ArrayConstraint:
    return ArrayConstraint(
        dtype, rank, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=[], may_alias_internally=False
    )


def row_softmax(x, y, columns: Size):
    row = ct.bid(0)
    tile = ct.load(x, index=(row, 0), shape=(1, columns), padding_mode=ct.PaddingMode.NEG_INF)
    powers = ct.exp(tile - ct.max(tile, axis=1, keepdims=True))
    ct.store(y, index=(row, 0), tile=powers / ct.sum(powers, axis=1, keepdims=True))


def running_sums(x, y, rows: Size, columns: Size):
    tile = ct.load(x, index=(ct.bid(0), 0), shape=(rows, columns))
    ct.store(y, index=(ct.bid(0), 0), tile=ct.cumsum(tile, axis=1, reverse=True))


def scatter_atomics(x, counts, size: Size):
    offsets = ct.bid(0) * size + ct.arange(size, dtype=ct.int32)
    values = ct.gather(x, offsets, mask=offsets < 100, padding_value=-1.0)
    ct.atomic_add(x, offsets, values)
    ct.atomic_max(counts, offsets, 3)
    ct.atomic_cas(counts, offsets, 0, 5)


def loops_and_branches(x, y, count, size: Size):
    tile = ct.load(x, index=(ct.bid(0),), shape=(size,))
    if count > 3:
        tile = tile * 2.0
    step = 0
    while step < count:
        tile = tile + 1.0
        if step == 7:
            break
        step = step + 1
    if ct.bid(0) < 5:
        ct.store(y, index=(ct.bid(0),), tile=tile)


KERNELS = (
    (row_softmax, (array(ct.float32, 2), array(ct.float32, 2), 256)),
    (running_sums, (array(ct.float32, 2), array(ct.float32, 2), 16, 32)),
    (scatter_atomics, (array(ct.float32, 1), array(ct.int32, 1), 64)),
    (loops_and_branches, (array(ct.float32, 1), array(ct.float32, 1), ScalarConstraint(ct.int32), 64)),
)


def without_folder(function: Callable[..., None]) -> Callable[..., None]:
    """Keeps the folder of this checkout out of the debug information."""
    function.__code__ = function.__code__.replace(co_filename=Path(__file__).name)
    return function


def export(function: Callable[..., None], parameters: tuple[Any, ...], version: str) -> None:
    name = function.__name__
    signature = KernelSignature(list(parameters), CallingConvention.cutile_python_v1(), symbol=name)
    path = every_operation.FOLDER / f"cutile_python_{name}_{version.replace('.', '_')}.tileirbc"
    kernel = ct.kernel(without_folder(function))
    export_kernel(
        kernel, [signature], path, gpu_code="sm_90", output_format="tileir_bytecode", bytecode_version=version
    )
    print(path.name, path.stat().st_size, "bytes,", every_operation.disassemble(path).count("\n"), "lines")


def main() -> None:
    # cuTile Python looks for the source under the name that without_folder() leaves.
    os.chdir(every_operation.FOLDER)
    for function, parameters in KERNELS:
        for version in VERSIONS:
            export(function, parameters, version)
    every_operation.main()


if __name__ == "__main__":
    main()
