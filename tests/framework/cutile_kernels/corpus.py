"""What a kernel of the corpus is: written with cuTile Python, exported to bytecode without a GPU, with its arguments
and what numpy says of them."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cuda.tile as ct
import ml_dtypes
import numpy as np
from cuda.tile import compilation
from numpy.typing import NDArray

Array = NDArray[Any]

DTYPES = {
    np.dtype(np.bool_): ct.bool_, np.dtype(np.int8): ct.int8, np.dtype(np.int16): ct.int16,
    np.dtype(np.int32): ct.int32, np.dtype(np.int64): ct.int64, np.dtype(np.uint8): ct.uint8,
    np.dtype(np.uint16): ct.uint16, np.dtype(np.uint32): ct.uint32, np.dtype(np.uint64): ct.uint64,
    np.dtype(np.float16): ct.float16, np.dtype(np.float32): ct.float32, np.dtype(np.float64): ct.float64,
    np.dtype(ml_dtypes.bfloat16): ct.bfloat16, np.dtype(ml_dtypes.float8_e4m3fn): ct.float8_e4m3fn,
    np.dtype(ml_dtypes.float8_e5m2): ct.float8_e5m2, np.dtype(ml_dtypes.float8_e8m0fnu): ct.float8_e8m0fnu,
}  # fmt: skip


@dataclass
class Case:
    """`arguments`: arrays, numpy scalars, or Python numbers for constants. `expected`: by argument; `tolerance`
    relative to the largest magnitude, 0 for equal bits."""

    name: str
    kernel: Any
    arguments: Sequence[Any]
    expected: Mapping[int, Array]
    grid: tuple[int, ...] = (1,)
    tolerance: float = 0

    def export(self) -> bytes:
        signature = compilation.KernelSignature(
            [_constraint(a) for a in self.arguments], compilation.CallingConvention.cutile_python_v1(), "kernel"
        )
        out = io.BytesIO()
        compilation.export_kernel(
            self.kernel, [signature], out, gpu_code="sm_100", output_format="tileir_bytecode", bytecode_version="13.3"
        )
        return out.getvalue()

    def copies(self) -> list[Any]:
        """The arguments for one launch; arrays that are not contiguous are only read."""
        return [a.copy() if isinstance(a, np.ndarray) and a.flags.c_contiguous else a for a in self.arguments]


def flattened(arguments: Sequence[Any]) -> list[Any]:
    """Arrays as pointer, extents and strides in elements; constants are part of the kernel."""
    flat: list[Any] = []
    for a in arguments:
        if isinstance(a, np.ndarray):
            memory = a if a.dtype.kind != "V" else a.view(f"u{a.itemsize}")
            flat += [memory, *a.shape, *(s // a.itemsize for s in a.strides)]
        elif isinstance(a, np.generic):
            flat.append(a.item())
    return flat


def _constraint(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return compilation.ArrayConstraint(
            DTYPES[value.dtype], value.ndim, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(),
            may_alias_internally=False,
        )  # fmt: skip
    if isinstance(value, np.generic):
        return compilation.ScalarConstraint(DTYPES[value.dtype])
    return compilation.ConstantConstraint(value)


CASES: list[Case] = []


def case(
    kernel: Any,
    *arguments: Any,
    expected: Mapping[int, Array],
    name: str,
    grid: int | tuple[int, ...] = 1,
    tolerance: float = 0,
) -> None:
    whole = (grid,) if isinstance(grid, int) else grid
    CASES.append(Case(name, kernel, arguments, expected, whole, tolerance))


def mapping(function: Callable[..., Any], operands: int = 1) -> Any:
    """A kernel that applies `function` to tiles of 256 elements of its operands and stores what comes out."""
    if operands == 1:

        @ct.kernel
        def one(x, out):  # type: ignore[no-untyped-def]
            i = ct.bid(0)
            ct.store(out, (i,), ct.astype(function(ct.load(x, (i,), (256,))), out.dtype))

        return one
    if operands == 2:

        @ct.kernel
        def two(x, y, out):  # type: ignore[no-untyped-def]
            i = ct.bid(0)
            result = function(ct.load(x, (i,), (256,)), ct.load(y, (i,), (256,)))
            ct.store(out, (i,), ct.astype(result, out.dtype))

        return two

    @ct.kernel
    def three(x, y, z, out):  # type: ignore[no-untyped-def]
        i = ct.bid(0)
        result = function(ct.load(x, (i,), (256,)), ct.load(y, (i,), (256,)), ct.load(z, (i,), (256,)))
        ct.store(out, (i,), ct.astype(result, out.dtype))

    return three
