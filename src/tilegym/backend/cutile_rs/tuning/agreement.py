"""Whether candidates compute the same: one that differs from the others must not win by being wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch

# Candidates add in another order and, with another tile of keys, round in other places.
_EPSILONS = 8.0
_LEAST_RELATIVE = {torch.float32: 1e-3, torch.float64: 1e-9}
_PIECE = 1 << 24


def results_of(output: Any, written: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """What a try has computed: the tensors that it returned, and those of the caller's that it wrote."""
    returned = output if isinstance(output, (list, tuple)) else [output]
    found = [item for item in returned if isinstance(item, torch.Tensor)]
    return [*found, *(tensor for tensor in written if all(tensor is not item for item in found))]


def difference(results: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> str | None:
    """How results differ by more than rounding; None where they agree."""
    if len(results) != len(others):
        return f"{len(results)} results, not {len(others)}"
    for result, other in zip(results, others, strict=True):
        if result.shape != other.shape or result.dtype != other.dtype:
            return f"{result.dtype} of shape {tuple(result.shape)}, not {other.dtype} of {tuple(other.shape)}"
        count = _count(result, other)
        if count:
            return f"{count} of {result.numel()} elements are others"
    return None


def _count(result: torch.Tensor, other: torch.Tensor) -> int:
    if not result.dtype.is_floating_point:
        return int((result != other).sum())
    tolerance = max(_EPSILONS * torch.finfo(result.dtype).eps, _LEAST_RELATIVE.get(result.dtype, 0.0))
    wide = torch.float64 if result.dtype == torch.float64 else torch.float32
    scale = _scale(other, wide)
    return sum(_wrong(a.to(wide), b.to(wide), tolerance, scale) for a, b in _pieces(result, other))


def _wrong(a: torch.Tensor, b: torch.Tensor, tolerance: float, scale: float) -> int:
    near = (a - b).abs() <= tolerance * (b.abs() + scale)
    return int((~(near | (a == b) | (a.isnan() & b.isnan()))).sum())


def _scale(tensor: torch.Tensor, wide: torch.dtype) -> float:
    """Root mean square of the finite elements."""
    squares, count = 0.0, 0
    for piece, _ in _pieces(tensor, tensor):
        finite = piece.to(wide).nan_to_num(0.0, 0.0, 0.0)
        squares += float(finite.square().sum(dtype=torch.float64))
        count += finite.numel()
    return math.sqrt(squares / max(count, 1))


def _pieces(a: torch.Tensor, b: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Both in parts, so that a comparison needs little memory."""
    flat, other = a.reshape(-1), b.reshape(-1)
    for first in range(0, flat.numel(), _PIECE):
        yield flat[first : first + _PIECE], other[first : first + _PIECE]
