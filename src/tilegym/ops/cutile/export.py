"""Tile IR bytecode of cuTile Python kernels, which needs no GPU."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import cuda.tile as ct
import torch
from cuda.tile import compilation

# The newest version that the CPU device reads.
_VERSION = "13.3"

_DTYPES = {
    torch.float32: ct.float32,
    torch.float16: ct.float16,
    torch.bfloat16: ct.bfloat16,
    torch.int32: ct.int32,
    torch.int64: ct.int64,
}


class Parameter(NamedTuple):
    """What a module depends on of one argument: an array of that rank, or a scalar where the rank is None."""

    dtype: torch.dtype
    rank: int | None = None
    wide: bool = False
    """Strides are beyond 32 bits."""


def parameter_of(value: torch.Tensor | int | float) -> Parameter:
    """The parameter that takes an argument."""
    if isinstance(value, torch.Tensor):
        return Parameter(value.dtype, value.dim(), max(value.stride(), default=0) >= 2**31)
    return Parameter(torch.float32 if isinstance(value, float) else torch.int32)


def bytecode(
    op: str, kernel: ct.kernel, entry: str, target: str, parameters: tuple[Parameter, ...], constants: tuple[int, ...]
) -> bytes:
    """A module with the kernel under the name `entry`, for tensors of any extents, strides and alignment.

    Args:
        op: for messages.
        kernel: a cuda.tile.kernel, whose last parameters are the constants.
        entry: name of the kernel in the module.
        target: the GPU whose hints are written, such as "sm_90".
        parameters: of the arguments.
        constants: values of the kernel's ct.Constant parameters.

    Raises:
        RuntimeError: cuTile Python does not compile it; the text is its own.
    """
    constraints: list[Any] = [*map(constraint, parameters), *constants]
    return _exported(op, kernel, compilation.KernelSignature(constraints, _convention(), entry), target)


def specialised(op: str, kernel: ct.kernel, entry: str, target: str, arguments: tuple[Any, ...]) -> bytes:
    """A module for these very arguments, constants at the end: strides of 1 are constants, and powers of two up to 16
    that divide addresses, extents and strides are assumed, as launchers on a GPU do.

    Raises:
        RuntimeError: cuTile Python does not compile it; the text is its own.
    """
    constraints = [_specialised(value) if isinstance(value, torch.Tensor) else value for value in arguments]
    return _exported(op, kernel, compilation.KernelSignature(constraints, _convention(), entry), target)


def _exported(op: str, kernel: ct.kernel, signature: compilation.KernelSignature, target: str) -> bytes:
    out = io.BytesIO()
    form = {"output_format": "tileir_bytecode", "bytecode_version": _VERSION}
    try:
        compilation.export_kernel(kernel, [signature], out, gpu_code=target, **form)
    except Exception as error:
        raise RuntimeError(f"{op}: cuTile Python cannot compile {signature.symbol}: {error}") from error
    return out.getvalue()


def _convention() -> compilation.CallingConvention:
    return compilation.CallingConvention.cutile_python_v1()


def constraint(parameter: Parameter) -> Any:
    """The parameter in cuTile's terms, for any extents, strides and alignment."""
    dtype = _DTYPES[parameter.dtype]
    if parameter.rank is None:
        return compilation.ScalarConstraint(dtype)
    return compilation.ArrayConstraint(
        dtype,
        parameter.rank,
        index_dtype=ct.int64 if parameter.wide else ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
    )


def _specialised(tensor: torch.Tensor) -> Any:
    return compilation.ArrayConstraint(
        _DTYPES[tensor.dtype],
        tensor.dim(),
        index_dtype=ct.int64 if parameter_of(tensor).wide else ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=[1 if stride == 1 else None for stride in tensor.stride()],
        stride_divisible_by=[1 if stride == 1 else _power_of_two_in(stride) for stride in tensor.stride()],
        shape_divisible_by=[_power_of_two_in(extent) for extent in tensor.shape],
        base_addr_divisible_by=_power_of_two_in(tensor.data_ptr()),
    )


def _power_of_two_in(number: int) -> int:
    """The largest power of two up to 16 that divides a number."""
    return min(number & -number, 16) or 16
