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
    constraints: list[Any] = [*map(_constraint, parameters), *constants]
    return exported(op, kernel, compilation.KernelSignature(constraints, _convention(), entry), target)


def specialised(op: str, kernel: ct.kernel, entry: str, target: str, arguments: tuple[Any, ...]) -> bytes:
    """The module that cuTile's own launcher would compile for these arguments, constants at the end.

    Raises:
        RuntimeError: cuTile Python does not compile it; the text is its own.
    """
    signature = compilation.KernelSignature.from_kernel_args(kernel, arguments, _convention(), symbol=entry)
    return exported(op, kernel, signature, target)


def exported(op: str, kernel: ct.kernel, signature: compilation.KernelSignature, target: str) -> bytes:
    """Bytecode of one signature."""
    out = io.BytesIO()
    try:
        compilation.export_kernel(
            kernel,
            [signature],
            out,
            gpu_code=target,
            output_format="tileir_bytecode",
            bytecode_version=_VERSION,
        )
    except Exception as error:
        raise RuntimeError(f"{op}: cuTile Python cannot compile {signature.symbol}: {error}") from error
    return out.getvalue()


def _convention() -> compilation.CallingConvention:
    return compilation.CallingConvention.cutile_python_v1()


def _constraint(parameter: Parameter) -> Any:
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
