"""Tensors of one shape in many memory layouts, to try an op with.

Each layout returns (view, memory): `view` is the op's input, `memory` the whole allocation behind it, whose bytes
outside the view an op must leave alone.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

Layout = Callable[[int, int, torch.dtype, torch.device], tuple[torch.Tensor, torch.Tensor]]


def _filled(*shape: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    return torch.randn(shape, device=device).to(dtype)


def _packed(rows: int, n: int, dtype: torch.dtype, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    memory = _filled(rows, n, dtype=dtype, device=device)
    return memory, memory


def _row_padded(rows: int, n: int, dtype: torch.dtype, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    memory = _filled(rows, n + 7, dtype=dtype, device=device)
    return memory[:, :n], memory


def _column_slice(rows: int, n: int, dtype: torch.dtype, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    memory = _filled(rows, 2 * n + 3, dtype=dtype, device=device)
    return memory[:, n + 3 :], memory


def _offset_by_one(rows: int, n: int, dtype: torch.dtype, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    memory = _filled(rows * n + 2, dtype=dtype, device=device)
    return memory[1:-1].view(rows, n), memory


def _transposed(rows: int, n: int, dtype: torch.dtype, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    memory = _filled(n, rows, dtype=dtype, device=device)
    return memory.t(), memory


def _expanded(rows: int, n: int, dtype: torch.dtype, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    memory = _filled(1, n, dtype=dtype, device=device)
    return memory.expand(rows, n), memory


def _every_second_row(rows: int, n: int, dtype: torch.dtype, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    memory = _filled(2 * rows, n, dtype=dtype, device=device)
    return memory[::2], memory


def _every_second_column(
    rows: int, n: int, dtype: torch.dtype, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    memory = _filled(rows, 2 * n, dtype=dtype, device=device)
    return memory[:, ::2], memory


def _permuted_3d(rows: int, n: int, dtype: torch.dtype, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    memory = _filled(rows, 2, n, dtype=dtype, device=device)
    return memory.permute(1, 0, 2), memory


def _permuted_4d(rows: int, n: int, dtype: torch.dtype, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    memory = _filled(rows, 3, n, 2, dtype=dtype, device=device)
    return memory.permute(3, 1, 0, 2), memory


# Layouts of [rows, n] matrices.
MATRICES: dict[str, Layout] = {
    "packed": _packed,
    "row_padded": _row_padded,
    "column_slice": _column_slice,
    "offset_by_one": _offset_by_one,
    "transposed": _transposed,
    "expanded": _expanded,
    "every_second_row": _every_second_row,
    "every_second_column": _every_second_column,
}

# The same and tensors with leading dimensions.
ALL: dict[str, Layout] = {**MATRICES, "permuted_3d": _permuted_3d, "permuted_4d": _permuted_4d}
