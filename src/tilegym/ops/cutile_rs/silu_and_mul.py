"""silu_and_mul on the Rust kernel: padded rows as they are, other layouts through a packed copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.planned import Launch, Output, planned, tuned
from tilegym.backend.cutile_rs.utils import bind_kernel_function, next_power_of_2
from tilegym.ops.cutile_rs import checks
from tilegym.ops.cutile_rs.autograd.gated import silu_and_mul_operator
from tilegym.ops.cutile_rs.autograd.operator import encoded
from tilegym.ops.cutile_rs.configs import RowConfig, candidates_for
from tilegym.ops.cutile_rs.layout import may_overlap_itself, may_share_elements, packed_rows, row_key


def _operator(
    input: torch.Tensor, out: torch.Tensor | None = None, *, kernel_configs: Mapping[str, int] | None = None
) -> torch.Tensor:
    if out is not None:
        raise ValueError(
            "silu_and_mul: out: wanted tensors without gradient where the result is written in place, got "
            "requires_grad=True or a traced call; call it without out, or under torch.no_grad()"
        )
    return silu_and_mul_operator(input, encoded(kernel_configs))


@register_impl("silu_and_mul", backend="cutile-rs")
@planned(operator=_operator)
def silu_and_mul(
    input: torch.Tensor, out: torch.Tensor | None = None, *, kernel_configs: Mapping[str, int] | None = None
) -> torch.Tensor | Launch:
    """silu(first half) * second half of the last dimension; see tilegym.ops.silu_and_mul."""
    input = checks.usable("silu_and_mul", "input", input)
    shape = _output_shape(input)
    if out is not None:
        _check_out(out, input, shape)
    if 0 in shape:
        return input.new_empty(shape) if out is None else out
    rows = packed_rows(input)
    candidates = candidates_for("silu_and_mul", input.device, RowConfig, kernel_configs)
    if out is None:
        fresh = Output.like(input, shape, seen_as=(rows.shape[0], shape[-1]))
        return _tuned(fresh, rows, candidates)
    return _into(out, input, rows, candidates)


def _tuned(
    out: torch.Tensor | Output, rows: torch.Tensor, candidates: Sequence[RowConfig], result: torch.Tensor | None = None
) -> Launch:
    """The launch that writes `out`, with the best candidate; the caller gets `result`."""

    def launch_with(config: RowConfig) -> Launch:
        return Launch("silu_and_mul", (out, rows), _scalars(rows, config), result=result)

    return tuned(launch_with, candidates, row_key(rows), "silu_and_mul", rows.device)


def _scalars(rows: torch.Tensor, config: RowConfig) -> dict[str, int]:
    return {
        "block_size": min(next_power_of_2(rows.shape[1] // 2), config.block_size),
        "num_cta_in_cga": config.num_cta_in_cga,
        "occupancy": config.occupancy,
    }


def _into(
    out: torch.Tensor, input: torch.Tensor, rows: torch.Tensor, candidates: Sequence[RowConfig]
) -> torch.Tensor | Launch:
    out_rows = packed_rows(out)
    if may_share_elements(_own_memory(out, out_rows), _own_memory(input, rows)):
        raise ValueError(
            "silu_and_mul: out: wanted memory apart from input's, got an overlap; pass another tensor or none"
        )
    if out_rows.data_ptr() == out.data_ptr():
        return _tuned(out_rows, rows, candidates, result=out)
    # The layout of `out` has no rows of its own, so the kernel writes a packed copy.
    bind_kernel_function("silu_and_mul")(out_rows, rows, **_scalars(rows, candidates[0]))
    return out.copy_(out_rows.view(out.shape))


def _output_shape(input: torch.Tensor) -> tuple[int, ...]:
    checks.rank_at_least_one("silu_and_mul", "input", input)
    columns = input.shape[-1]
    if columns % 2:
        raise ValueError(f"silu_and_mul: input: wanted an even last dimension, got shape {tuple(input.shape)}")
    return (*input.shape[:-1], columns // 2)


def _check_out(out: torch.Tensor, input: torch.Tensor, shape: tuple[int, ...]) -> None:
    checks.usable("silu_and_mul", "out", out)
    checks.same_device("silu_and_mul", "input", input, "out", out)
    checks.same_dtype("silu_and_mul", "input", input, "out", out)
    if out.shape != shape:
        raise ValueError(f"silu_and_mul: out: wanted shape {shape}, got {tuple(out.shape)}")
    if out.is_neg():
        raise ValueError("silu_and_mul: out: wanted memory that can be written directly, got a negated view")
    if may_overlap_itself(out):
        raise ValueError(
            f"silu_and_mul: out: wanted one element per index, got strides {out.stride()} for shape {shape}, "
            "which overlap; pass a tensor that was not expanded"
        )


def _own_memory(tensor: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """`rows` where it is a view of the tensor's memory, the tensor itself where it is a copy."""
    return rows if rows.data_ptr() == tensor.data_ptr() else tensor
