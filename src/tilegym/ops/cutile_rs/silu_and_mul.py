"""silu_and_mul on the Rust kernel: padded rows as they are, other layouts through a packed copy."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.utils import bind_kernel_function, next_power_of_2
from tilegym.ops.cutile_rs import checks
from tilegym.ops.cutile_rs.configs import RowConfig, configs_for, with_overrides
from tilegym.ops.cutile_rs.layout import may_overlap_itself, may_share_elements, packed_rows


@register_impl("silu_and_mul", backend="cutile-rs")
def silu_and_mul(
    input: torch.Tensor, out: torch.Tensor | None = None, *, kernel_configs: Mapping[str, int] | None = None
) -> torch.Tensor:
    """silu(first half) * second half of the last dimension; see tilegym.ops.silu_and_mul."""
    input = checks.usable("silu_and_mul", "input", input)
    shape = _output_shape(input)
    if out is None:
        out = input.new_empty(shape)
    else:
        _check_out(out, input, shape)
    if out.numel() == 0:
        return out
    _launch(out, input, kernel_configs)
    return out


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


def _launch(out: torch.Tensor, input: torch.Tensor, overrides: Mapping[str, int] | None) -> None:
    input_rows, out_rows = packed_rows(input), packed_rows(out)
    checks.within_limits("silu_and_mul", "input", input_rows)
    checks.within_limits("silu_and_mul", "out", out_rows)
    if may_share_elements(_own_memory(out, out_rows), _own_memory(input, input_rows)):
        raise ValueError(
            "silu_and_mul: out: wanted memory apart from input's, got an overlap; pass another tensor or none"
        )
    config: RowConfig = with_overrides("silu_and_mul", configs_for("silu_and_mul", input.device)[0], overrides)
    bind_kernel_function("silu_and_mul")(
        out_rows,
        input_rows,
        block_size=min(next_power_of_2(out_rows.shape[1]), config.block_size),
        num_cta_in_cga=config.num_cta_in_cga,
        occupancy=config.occupancy,
    )
    if out_rows.data_ptr() != out.data_ptr():
        # The layout of `out` has no rows of its own, so the kernel wrote a packed copy.
        out.copy_(out_rows.view(out.shape))


def _own_memory(tensor: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """`rows` where it is a view of the tensor's memory, the tensor itself where it is a copy."""
    return rows if rows.data_ptr() == tensor.data_ptr() else tensor
