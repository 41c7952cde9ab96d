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

# Those that no arrangement below is like.
OTHERS: dict[str, Layout] = {
    "column_slice": _column_slice,
    "every_second_row": _every_second_row,
    "permuted_3d": _permuted_3d,
    "permuted_4d": _permuted_4d,
}

# MATRICES and tensors with leading dimensions.
ALL: dict[str, Layout] = {**MATRICES, "permuted_3d": _permuted_3d, "permuted_4d": _permuted_4d}


def arrange(name: str, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """`values` in another layout, as (view, memory); "expanded" repeats the first slice instead of keeping all values.

    Raises:
        KeyError: no such layout; ARRANGEMENTS has them.
    """
    return ARRANGEMENTS[name](values)


def _copied(view: torch.Tensor, values: torch.Tensor, memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    view.copy_(values)
    return view, memory


def _filler(values: torch.Tensor, shape: list[int]) -> torch.Tensor:
    """Memory whose bytes outside the view are no plausible numbers, so that reading them shows."""
    memory = torch.empty(shape, dtype=values.dtype, device=values.device)
    return memory.fill_(float("nan") if values.is_floating_point() else 1)


def _as_is(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    memory = values.clone(memory_format=torch.contiguous_format)
    return memory, memory


def _padded(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if values.dim() == 0:
        return _offset(values)
    memory = _filler(values, [*values.shape[:-1], values.shape[-1] + 7])
    return _copied(memory[..., : values.shape[-1]], values, memory)


def _offset(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    memory = _filler(values, [values.numel() + 3])
    return _copied(memory[1 : 1 + values.numel()].view(values.shape), values, memory)


def _last_two_swapped(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if values.dim() < 2:
        return _strided(values)
    memory = _filler(values, [*values.shape[:-2], values.shape[-1], values.shape[-2]])
    return _copied(memory.transpose(-1, -2), values, memory)


def _strided(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if values.dim() == 0:
        return _offset(values)
    memory = _filler(values, [*values.shape[:-1], 2 * values.shape[-1]])
    return _copied(memory[..., ::2], values, memory)


def _repeated(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if values.dim() == 0 or values.shape[0] == 0:
        return _as_is(values)
    memory = values[:1].clone(memory_format=torch.contiguous_format)
    return memory.expand(values.shape), memory


# Layouts of a tensor of any rank. NaN fills the memory outside the view.
ARRANGEMENTS: dict[str, Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]] = {
    "packed": _as_is,
    "padded": _padded,
    "offset": _offset,
    "transposed": _last_two_swapped,
    "strided": _strided,
    "expanded": _repeated,
}
