"""Element by element comparison of a result with its reference, in one pass in C++."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from tilegym_rs.validation import on_device
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
    """A verdict of `records`, the largest absolute error of pairs without a NaN, and every statistic.

    `blocks` says of the tile blocks, where they are known: extents, grid, how many have mismatches, the worst one.
    """

    verdict: str
    error: float | None
    message: str = ""
    errors: Mapping[str, float] = dataclasses.field(default_factory=dict)
    blocks: Mapping[str, Any] = dataclasses.field(default_factory=dict)


_KEPT = 3
_MOST_DIMENSIONS = 16


def compare(
    actual: torch.Tensor,
    expected: torch.Tensor,
    tolerance: Tolerance,
    *,
    nan_equal: bool = False,
    tile: Mapping[str, int] | None = None,
    block: Sequence[int] | None = None,
) -> Outcome:
    """Compares values; shapes must be equal, dtypes and devices may differ.

    A NaN in both fails unless `nan_equal`: a reference and a kernel that broke alike agree on nothing. Infinities are
    equal when their signs are. Tensors without elements are not compared, which is no pass. `tile` is the
    configuration that made `actual` and `block` the extents of a tile block over its trailing dimensions, for the text.
    """
    if actual.shape != expected.shape:
        return Outcome(FAIL, None, f"shape: wanted {tuple(expected.shape)}, got {tuple(actual.shape)}")
    if actual.numel() == 0:
        return Outcome(NOT_COMPARED, None, "there are no elements to compare")
    found = statistics(actual, expected, tolerance, nan_equal=nan_equal, block=block)
    errors = {
        "max_abs": found.max_abs_error,
        "max_rel": found.max_rel_error,
        "max_ulp": found.max_ulp_error,
        "mean_abs": found.mean_abs_error,
        **{f"p{percent:g}": error for percent, error in found.percentiles.items()},
        "signed_zeros": found.signed_zeros,
    }
    message = "" if found.matches else _message(found, tolerance, nan_equal, tile or {})
    blocks = _block_summary(found.blocks) if found.blocks is not None else {}
    return Outcome(PASS if found.matches else FAIL, found.max_abs_error, message, errors, blocks)


def statistics(
    actual: torch.Tensor,
    expected: torch.Tensor,
    tolerance: Tolerance,
    *,
    nan_equal: bool = False,
    block: Sequence[int] | None = None,
    keep: int = _KEPT,
) -> _core.Comparison:
    """Every statistic of two tensors of one shape.

    Tensors on one CUDA device are compared there, in one pass by a kernel; without it, and for more than 16 dimensions,
    in pieces by PyTorch's operations. Tensors of two devices are copied to the host piece by piece.
    """
    from tilegym_rs import _core

    actual, expected = _plain(actual), _plain(expected)
    options: dict[str, Any] = {"rtol": tolerance.rtol, "atol": tolerance.atol, "equal_nan": nan_equal, "keep": keep}
    options["block"] = [int(extent) for extent in block] if block else None
    if actual.device.type == "cpu" and expected.device.type == "cpu":
        return _core.compare(actual, expected, **options)
    if actual.device.type == "cuda" and actual.device == expected.device:
        if _core.cuda_kernels and actual.dim() <= _MOST_DIMENSIONS:
            return _by_kernel(actual, expected, options)
        return on_device.statistics(actual, expected, options)
    whole = _core.PiecewiseComparison(list(actual.shape), **options)
    for first, part, reference in on_device.pieces(actual, expected):
        whole.add(part.cpu(), reference.cpu(), first)
    return whole.result()


def _by_kernel(actual: torch.Tensor, expected: torch.Tensor, options: dict[str, Any]) -> _core.Comparison:
    from tilegym_rs import _core

    needed = _core.cuda_workspace_bytes(list(actual.shape), options["block"])
    workspace = torch.empty(needed, dtype=torch.uint8, device=actual.device)
    stream = torch.cuda.current_stream(actual.device).cuda_stream
    return _core.compare_cuda(actual, expected, workspace, stream, **options)


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor without what DLPack does not carry: a gradient, pending conjugation or negation, a sparse layout."""
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    return tensor.resolve_conj().resolve_neg()


def _message(found: _core.Comparison, tolerance: Tolerance, nan_equal: bool, tile: Mapping[str, int]) -> str:
    share = 100 * found.mismatches / found.elements
    lines = [
        "Tensor-likes are not close!",
        "",
        f"Mismatched elements: {found.mismatches} / {found.elements} ({share:.1f}%)",
        *_greatest(found, tolerance),
        *_special_values(found, nan_equal),
        _listed("First", found.first),
    ]
    if len(found.worst) > 1 or (found.worst and found.worst[0].index != found.first[0].index):
        lines.append(_listed("Worst", found.worst))
    if tile:
        lines.append("Tile: " + ", ".join(f"{name}={value}" for name, value in tile.items()))
    if found.blocks is not None:
        lines.append(_block_line(found.blocks))
    return "\n".join(lines)


def _greatest(found: _core.Comparison, tolerance: Tolerance) -> list[str]:
    lines = []
    for kind, place, allowed in (
        ("absolute", found.greatest_absolute, tolerance.atol),
        ("relative", found.greatest_relative, tolerance.rtol),
    ):
        if place is None:
            continue
        difference = abs(place.actual - place.expected) if place.actual != place.expected else 0.0
        if kind == "relative":
            difference = difference / abs(place.expected) if place.expected else float("inf")
        lines.append(f"Greatest {kind} difference: {difference:.9g} at index {place.index} (up to {allowed:g} allowed)")
    return lines


def _special_values(found: _core.Comparison, nan_equal: bool) -> list[str]:
    counts = {
        "NaN only in the result": found.nan_in_actual,
        "NaN only in the reference": found.nan_in_expected,
        "NaN in both (nan_equal=True accepts that)": 0 if nan_equal else found.nan_in_both,
        "Infinity only in the result, or of another sign": found.infinity_in_actual,
        "Infinity only in the reference, or of another sign": found.infinity_in_expected,
    }
    return [f"{text}: {count} of {found.elements} elements" for text, count in counts.items() if count]


def _listed(title: str, places: Sequence[_core.Mismatch]) -> str:
    texts = [f"{place.index}: got {place.actual:.9g}, reference {place.expected:.9g}" for place in places]
    return f"{title}: " + "; ".join(texts)


def _worst(blocks: Sequence[_core.BlockErrors]) -> _core.BlockErrors:
    return max(blocks, key=lambda entry: (entry.max_abs_error, entry.mismatches))


def _block_summary(blocks: _core.BlockMap) -> dict[str, Any]:
    entries = blocks.blocks
    summary: dict[str, Any] = {
        "extents": list(blocks.extents),
        "grid": list(blocks.grid),
        "with_mismatches": sum(entry.mismatches > 0 for entry in entries),
    }
    if entries:
        worst = _worst(entries)
        summary |= {"worst": list(worst.block), "worst_max_abs": worst.max_abs_error}
    return summary


def _block_line(blocks: _core.BlockMap) -> str:
    failed = [entry for entry in blocks.blocks if entry.mismatches]
    first, worst = failed[0], _worst(failed)
    return (
        f"Blocks of {blocks.extents} elements: {len(failed)} of {math.prod(blocks.grid)} have mismatches, first "
        f"{first.block} with {first.mismatches}, worst {worst.block} with {worst.mismatches} and an error of up to "
        f"{worst.max_abs_error:.3g}"
    )
