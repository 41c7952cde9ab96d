"""Comparison of tensors on a device with PyTorch's operations there, where no kernel of ours can do it in one pass.

A piece in which every pair is finite and matches, which is the rule, is done with on the device; any other one is
copied to the host and judged there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from tilegym_rs import _core

# Elements of a piece: what its operations need besides the tensors is some times this in float64.
_PIECE = 1 << 22


def statistics(actual: torch.Tensor, expected: torch.Tensor, options: dict[str, Any]) -> _core.Comparison:
    """What `_core.compare` gives for the same options."""
    from tilegym_rs import _core

    whole = _core.PiecewiseComparison(list(actual.shape), **options)
    for first, part, reference in pieces(actual, expected) if actual.numel() else ():
        if options["block"] is not None or not _add_matching(whole, part, reference, first, options):
            whole.add(part.cpu(), reference.cpu(), first)
    return whole.result()


def pieces(
    actual: torch.Tensor, expected: torch.Tensor, first: int = 0
) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
    """Consecutive parts of two tensors in row-major order, each with the number of its first element."""
    if actual.numel() <= _PIECE or actual.dim() == 0:
        yield first, actual, expected
        return
    inner = actual.numel() // actual.shape[0]
    rows = max(1, _PIECE // inner)
    for start in range(0, actual.shape[0], rows):
        part, reference = actual[start : start + rows], expected[start : start + rows]
        if inner > _PIECE:
            yield from pieces(part[0], reference[0], first + start * inner)
        else:
            yield first + start * inner, part, reference


def _add_matching(
    whole: _core.PiecewiseComparison, actual: torch.Tensor, expected: torch.Tensor, first: int, options: dict[str, Any]
) -> bool:
    """Whether every pair is finite and matches; then the piece is added, else nothing is done."""
    if not (actual.is_floating_point() or expected.is_floating_point()):
        if not bool((actual == expected).all()):
            return False
        zero_errors = [0.0] * len(range((-first) % whole.sample_stride, actual.numel(), whole.sample_stride))
        whole.add_matching(actual.numel(), 0.0, 0.0, 0.0, 0.0, 0, first, zero_errors)
        return True
    a, e = actual.double().reshape(-1), expected.double().reshape(-1)
    error = (a - e).abs_()
    reference = e.abs()
    inside = error <= options["atol"] + options["rtol"] * reference
    if not bool((inside & error.isfinite()).all()):
        return False
    zeros = (error == 0) & (a == 0) & (a.signbit() != e.signbit())
    relative = (error / reference).masked_fill_(error == 0, 0.0)
    ulps = error / _spacing(reference, actual.dtype)
    found = torch.stack([error.sum(), error.max(), relative.max(), ulps.max(), zeros.sum().double()]).tolist()
    total, absolute, ratio, units, signs = found
    stride = whole.sample_stride
    samples = error[(-first) % stride :: stride].tolist()
    whole.add_matching(actual.numel(), total, absolute, ratio, units, int(signs), first, samples)
    return True


def _spacing(reference: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """One unit in the last place of the dtype at each number; 1 for integers."""
    if not dtype.is_floating_point:
        return torch.ones_like(reference)
    limits = torch.finfo(dtype)
    _, exponent = torch.frexp(reference)
    power = torch.ldexp(torch.ones_like(reference), exponent - 1).masked_fill_(reference == 0, 0.0)
    return power.clamp_min_(limits.smallest_normal).mul_(limits.eps)
