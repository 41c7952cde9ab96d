"""swiglu on the Rust kernel: any leading dimensions, any strides."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.planned import Launch, Output, planned, tuned
from tilegym.backend.cutile_rs.utils import next_power_of_2
from tilegym.ops.cutile_rs import checks
from tilegym.ops.cutile_rs.autograd.gated import swiglu_operator
from tilegym.ops.cutile_rs.autograd.operator import encoded
from tilegym.ops.cutile_rs.configs import RowConfig, candidates_for
from tilegym.ops.cutile_rs.layout import row_key, rows


def _operator(a: torch.Tensor, b: torch.Tensor, *, kernel_configs: Mapping[str, int] | None = None) -> torch.Tensor:
    return swiglu_operator(a, b, encoded(kernel_configs))


@register_impl("swiglu", backend="cutile-rs")
@planned(operator=_operator)
def swiglu(
    a: torch.Tensor, b: torch.Tensor, *, kernel_configs: Mapping[str, int] | None = None
) -> torch.Tensor | Launch:
    """silu(a) * b; see tilegym.ops.swiglu."""
    a, b = checks.usable("swiglu", "a", a), checks.usable("swiglu", "b", b)
    checks.same_device("swiglu", "a", a, "b", b)
    checks.same_dtype("swiglu", "a", a, "b", b)
    if a.shape != b.shape:
        raise ValueError(f"swiglu: b: wanted the shape of a, {tuple(a.shape)}, got {tuple(b.shape)}")
    if a.numel() == 0:
        return torch.empty_like(a, memory_format=torch.contiguous_format)
    a_rows, b_rows = (rows(tensor if tensor.dim() else tensor.view(1)) for tensor in (a, b))

    def launch_with(config: RowConfig) -> Launch:
        return Launch(
            "swiglu",
            (Output.like(a, a.shape, seen_as=a_rows.shape), a_rows, b_rows),
            {
                "block_size": min(next_power_of_2(a_rows.shape[1]), config.block_size),
                "num_cta_in_cga": config.num_cta_in_cga,
                "occupancy": config.occupancy,
            },
        )

    candidates = candidates_for("swiglu", a.device, RowConfig, kernel_configs)
    return tuned(launch_with, candidates, row_key(a_rows, b_rows), "swiglu", a.device)
