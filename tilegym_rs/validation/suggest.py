"""Tolerances derived from measured errors against the float64 reference, with the reason."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

import torch

from tilegym_rs.validation import case_set, references
from tilegym_rs.validation.cases import KERNEL_BACKEND, bound
from tilegym_rs.validation.compare import Tolerance

# Roundings that an element may see beyond that of the result: a few units in the last place.
_UNITS = 4
# How far an unseen input may be from the seen ones.
_MARGIN = 2


@dataclasses.dataclass(frozen=True)
class Suggestion:
    """A tolerance for results of a dtype, and why."""

    op: str
    dtype: str
    tolerance: Tolerance
    reason: str


def suggest(op: str, device: torch.device) -> list[Suggestion]:
    """One suggestion for each dtype of the op's case set; the same at every call on the same machine.

    Raises:
        LookupError: the op has no cases.
    """
    found = case_set.case_set(op)
    if found.problem:
        raise LookupError(found.problem)
    cases = [case for case in found.cases if case.kind == "values" and case.layout == "packed"]
    return [_for_dtype(op, dtype, cases, device) for dtype in dict.fromkeys(case.dtype for case in cases)]


def _for_dtype(op: str, dtype: str, cases: Iterable[case_set.Case], device: torch.device) -> Suggestion:
    unit = torch.finfo(getattr(torch, dtype)).eps
    rtol = _UNITS * unit
    excess = largest = peers = 0.0
    elements = 0
    for case in cases:
        if case.dtype != dtype:
            continue
        positional, keywords = case_set.arguments(case, device)
        actual = bound(op, tuple(positional), KERNEL_BACKEND, keywords)().double()
        wanted = references.oracle(op)[1](*positional, **keywords).to(device).double()
        error = torch.where(actual == wanted, 0.0, (actual - wanted).abs())
        elements += error.numel()
        largest = max(largest, float(error.max()))
        excess = max(excess, float((error - rtol * wanted.abs()).max()))
        peers = max(peers, _error_of_torch(op, positional, keywords, wanted))
    atol = _rounded_up(_MARGIN * excess) if excess > 0 else 0.0
    reason = (
        f"rtol: {_UNITS} units of {unit:.3g}, the rounding of {dtype}; atol: {_MARGIN} times {max(excess, 0.0):.3g}, "
        f"by which the worst of {elements} elements lies outside that, rounded up. Largest error {largest:.3g}, "
        f"PyTorch's in {dtype} {peers:.3g}, both against float64"
    )
    return Suggestion(op, dtype, Tolerance(atol=atol, rtol=rtol), reason)


def _error_of_torch(op: str, positional: list[object], keywords: dict[str, object], wanted: torch.Tensor) -> float:
    from tilegym.backend import registry

    implementation = registry.find(op, "pytorch")
    if implementation is None:
        return math.nan
    found = implementation(*positional, **keywords).double()
    return float(torch.where(found == wanted, 0.0, (found - wanted).abs()).max())


def _rounded_up(value: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(float(f"{step * power:.0e}") for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-12))
