"""Checks of a wrapper's tensors, before anything is launched. The good path is a handful of attribute reads.

Every text names op, argument, what was wanted and what came in.
"""

from __future__ import annotations

from typing import Any

import torch

DTYPES = frozenset({torch.float32, torch.float16, torch.bfloat16})


class UnsupportedDtypeError(NotImplementedError, TypeError):
    """A kernel does not take the dtype of an argument, or not this mix of dtypes."""


def usable(op: str, name: str, value: Any) -> torch.Tensor:
    """The tensor, with a pending negation carried out.

    Raises:
        TypeError: not a tensor.
        ValueError: not strided, or not on a CPU or CUDA device.
        UnsupportedDtypeError: not float32, float16 or bfloat16.
    """
    if (
        isinstance(value, torch.Tensor)
        and value.dtype in DTYPES
        and value.layout is torch.strided
        and (value.is_cpu or value.is_cuda)
    ):
        return value.resolve_neg() if value.is_neg() else value
    raise _refusal(op, name, value)


def _refusal(op: str, name: str, value: Any) -> Exception:
    if not isinstance(value, torch.Tensor):
        return TypeError(f"{op}: {name}: wanted a torch.Tensor, got {type(value).__name__}")
    if not (value.is_cpu or value.is_cuda):
        return ValueError(f"{op}: {name}: wanted a tensor on a CPU or CUDA device, got one on {value.device}")
    if value.layout is not torch.strided:
        return ValueError(f"{op}: {name}: wanted a strided tensor, got {value.layout}; call .to_dense() first")
    return UnsupportedDtypeError(f"{op}: {name}: wanted float32, float16 or bfloat16, got {value.dtype}")


def same_device(op: str, name: str, tensor: torch.Tensor, other_name: str, other: torch.Tensor) -> None:
    """Raises ValueError unless both tensors are on one device."""
    if tensor.device != other.device:
        raise ValueError(
            f"{op}: {other_name}: wanted the device of {name}, {tensor.device}, got {other.device}; "
            f"move one with .to(...)"
        )


def same_dtype(op: str, name: str, tensor: torch.Tensor, other_name: str, other: torch.Tensor) -> None:
    """Raises UnsupportedDtypeError unless both tensors have one dtype."""
    if tensor.dtype != other.dtype:
        raise UnsupportedDtypeError(
            f"{op}: {other_name}: wanted the dtype of {name}, {tensor.dtype}, got {other.dtype}; "
            f"convert one with .to(...)"
        )


def rank_at_least_one(op: str, name: str, tensor: torch.Tensor) -> None:
    """Raises ValueError for a tensor without dimensions."""
    if tensor.dim() == 0:
        raise ValueError(f"{op}: {name}: wanted at least one dimension, got a tensor of shape ()")


def rank(op: str, name: str, tensor: torch.Tensor, wanted: int) -> None:
    """Raises ValueError unless the rank is `wanted`."""
    if tensor.dim() != wanted:
        kind = "a matrix (rank 2)" if wanted == 2 else f"rank {wanted}"
        raise ValueError(f"{op}: {name}: wanted {kind}, got shape {tuple(tensor.shape)}")


def shape(op: str, name: str, tensor: torch.Tensor, wanted: tuple[int, ...], why: str) -> None:
    """Raises ValueError unless the shape is `wanted`, which `why` explains."""
    if tuple(tensor.shape) != wanted:
        raise ValueError(f"{op}: {name}: wanted shape {wanted} ({why}), got {tuple(tensor.shape)}")
