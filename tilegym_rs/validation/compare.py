"""Element by element comparison of a result with its reference, in one pass in C++."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import torch

from tilegym_rs.validation.records import FAIL, NOT_COMPARED, PASS

if TYPE_CHECKING:
    from tilegym_rs import _core


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """|actual - expected| <= atol + rtol * |expected|."""

    atol: float
    rtol: float

    def __str__(self) -> str:
        return f"{self.atol:g} + {self.rtol:g}|x|"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A verdict of `records`, and the largest absolute error of pairs without a NaN."""

    verdict: str
    error: float | None
    message: str = ""


def compare(actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, *, nan_equal: bool = False) -> Outcome:
    """Compares values; shapes must be equal, dtypes and devices may differ.

    A NaN in both fails unless `nan_equal`: a reference and a kernel that broke alike agree on nothing. Infinities are
    equal when their signs are. Tensors without elements are not compared, which is no pass.
    """
    from tilegym_rs import _core

    if actual.shape != expected.shape:
        return Outcome(FAIL, None, f"shape: wanted {tuple(expected.shape)}, got {tuple(actual.shape)}")
    if actual.numel() == 0:
        return Outcome(NOT_COMPARED, None, "there are no elements to compare")
    found = _core.compare(
        actual.detach().cpu(), expected.detach().cpu(), rtol=tolerance.rtol, atol=tolerance.atol, equal_nan=nan_equal
    )
    if found.matches:
        return Outcome(PASS, found.max_abs_error)
    return Outcome(FAIL, found.max_abs_error, _message(found, tolerance, nan_equal))


def _message(found: _core.Comparison, tolerance: Tolerance, nan_equal: bool) -> str:
    counts = {
        "NaN only in the result": found.nan_in_actual,
        "NaN only in the reference": found.nan_in_expected,
        "NaN in both (nan_equal=True accepts that)": 0 if nan_equal else found.nan_in_both,
    }
    counts[f"outside {tolerance}"] = found.mismatches - sum(counts.values())
    texts = [f"{text}: {count} of {found.elements} elements" for text, count in counts.items() if count]
    first = found.first_mismatch
    if first is not None:
        texts.append(f"first at {first.index}: got {first.actual:.9g}, reference {first.expected:.9g}")
    return "; ".join(texts)
