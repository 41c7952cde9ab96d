"""Element by element comparison of a result with its reference, in float64."""

from __future__ import annotations

import dataclasses

import torch

from tilegym_rs.validation.records import FAIL, NOT_COMPARED, PASS


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """|actual - expected| <= atol + rtol * |expected|."""

    atol: float
    rtol: float

    def __str__(self) -> str:
        return f"{self.atol:g} + {self.rtol:g}|x|"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """verdict is one of records.PASS, FAIL and NOT_COMPARED; error is the largest absolute error of finite pairs."""

    verdict: str
    error: float | None
    message: str = ""


def compare(actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, *, nan_equal: bool = False) -> Outcome:
    """Compares values; shapes must be equal, dtypes may differ.

    A NaN in both fails unless `nan_equal`: a reference and a kernel that broke alike agree on nothing. Infinities are
    equal when their signs are. Tensors without elements are not compared, which is no pass.
    """
    if actual.shape != expected.shape:
        return Outcome(FAIL, None, f"shape: wanted {tuple(expected.shape)}, got {tuple(actual.shape)}")
    if actual.numel() == 0:
        return Outcome(NOT_COMPARED, None, "there are no elements to compare")
    got, want = actual.detach().double(), expected.detach().to(actual.device).double()
    nan_message = _nan_message(got, want, nan_equal)
    difference = torch.where(got == want, 0.0, (got - want).abs())
    both_nan = got.isnan() & want.isnan()
    # The limit of an infinite reference is infinite, too, so an infinite difference has to be ruled out apart.
    close = difference.isfinite() & (difference <= tolerance.atol + tolerance.rtol * want.abs())
    wrong = ~both_nan & ~close
    finite = difference[difference.isfinite()]
    error = float(finite.max()) if finite.numel() else None
    if nan_message:
        return Outcome(FAIL, error, nan_message)
    if bool(wrong.any()):
        return Outcome(FAIL, error, _mismatch_message(got, want, wrong, tolerance))
    return Outcome(PASS, error)


def _nan_message(got: torch.Tensor, want: torch.Tensor, nan_equal: bool) -> str:
    got_nan, want_nan = got.isnan(), want.isnan()
    kinds = (
        ("NaN only in the result", got_nan & ~want_nan),
        ("NaN only in the reference", want_nan & ~got_nan),
        ("NaN in both (nan_equal=True accepts that)", got_nan & want_nan & (not nan_equal)),
    )
    texts = [f"{name}: {_places(mask)}, {_values(got, want, mask)}" for name, mask in kinds if bool(mask.any())]
    return "; ".join(texts)


def _mismatch_message(got: torch.Tensor, want: torch.Tensor, wrong: torch.Tensor, tolerance: Tolerance) -> str:
    return f"outside {tolerance}: {_places(wrong)}, {_values(got, want, wrong)}"


def _first_index(mask: torch.Tensor) -> tuple[int, ...]:
    return tuple(int(i) for i in mask.nonzero()[0])


def _places(mask: torch.Tensor) -> str:
    return f"{int(mask.sum())} of {mask.numel()} elements, first at {_first_index(mask)}"


def _values(got: torch.Tensor, want: torch.Tensor, mask: torch.Tensor) -> str:
    index = _first_index(mask)
    return f"got {float(got[index]):.9g}, reference {float(want[index]):.9g}"
