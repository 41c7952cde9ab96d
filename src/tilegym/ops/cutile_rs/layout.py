"""Rows of tensors, and whether two tensors share memory."""

from __future__ import annotations

import torch

from tilegym.backend.cutile_rs.utils import next_power_of_2

_LARGEST_EXTENT = 2**31 - 1


def rows(tensor: torch.Tensor) -> torch.Tensor:
    """[..., n] as [rows, n]: a view where the strides allow one, else a packed copy. The tensor has elements."""
    return tensor if tensor.dim() == 2 else tensor.reshape(-1, tensor.shape[-1])


def packed_rows(tensor: torch.Tensor) -> torch.Tensor:
    """Like rows, with a last stride of 1; rows may stay padded."""
    view = rows(tensor)
    if view.stride(1) == 1:
        return view
    if view.shape[1] == 1:
        # A single column is contiguous whatever its stride says.
        return view.as_strided(view.shape, (view.stride(0), 1))
    # What no kernel takes is refused where it is launched, without a copy of it.
    return view if max(view.shape) > _LARGEST_EXTENT else view.contiguous()


def row_key(*tensors: torch.Tensor) -> tuple[object, ...]:
    """What the choice of a tile for rows depends on. Row counts of one power of two count as one: batches vary."""
    return tuple((next_power_of_2(t.shape[0]), t.shape[1], t.dtype, t.stride()) for t in tensors)


def may_overlap_itself(tensor: torch.Tensor) -> bool:
    """Whether two indices may reach one element (exact for layouts made by slicing, permuting and expanding)."""
    reach = 1
    for stride, extent in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if extent == 1:
            continue
        if stride < reach:
            return True
        reach = stride * (extent - 1) + reach
    return False


def may_share_elements(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether two tensors of one dtype may have an element in common.

    Exact for disjoint spans and for [rows, n] tensors of one row pitch; other interleaved layouts count as sharing.
    """
    if first.numel() == 0 or second.numel() == 0:
        return False
    begin, end = _span(first)
    other_begin, other_end = _span(second)
    if end <= other_begin or other_end <= begin:
        return False
    if not _same_pitch(first, second):
        return True
    size = first.element_size()
    pitch = first.stride(0) * size
    ahead = (other_begin - begin) % pitch
    return ahead < first.shape[1] * size or ahead + second.shape[1] * size > pitch


def _same_pitch(first: torch.Tensor, second: torch.Tensor) -> bool:
    return (
        first.dim() == second.dim() == 2
        and first.stride(1) == second.stride(1) == 1
        and first.stride(0) == second.stride(0) >= first.shape[1] + second.shape[1]
    )


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    last = sum((extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.stride(), strict=True))
    begin = tensor.data_ptr()
    return begin, begin + (last + 1) * tensor.element_size()
