"""softmax on the Rust kernel: rows of any length, any leading dimensions, any strides."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.planned import Launch, Output, planned, tuned
from tilegym.backend.cutile_rs.utils import next_power_of_2
from tilegym.ops.cutile_rs import checks
from tilegym.ops.cutile_rs.autograd.operator import encoded
from tilegym.ops.cutile_rs.autograd.softmax import softmax_operator
from tilegym.ops.cutile_rs.configs import CHUNKED_BLOCK_SIZE, RowConfig, candidates_for
from tilegym.ops.cutile_rs.layout import row_key, rows


def _operator(
    x: torch.Tensor,
    use_tma: bool = False,
    use_chunked: bool = False,
    use_multi_wave: bool = False,
    *,
    kernel_configs: Mapping[str, int] | None = None,
) -> torch.Tensor:
    return softmax_operator(x, bool(use_chunked), encoded(kernel_configs))


@register_impl("softmax", backend="cutile-rs")
@planned(operator=_operator, autocast="float32")
def softmax(
    x: torch.Tensor,
    use_tma: bool = False,
    use_chunked: bool = False,
    use_multi_wave: bool = False,
    *,
    kernel_configs: Mapping[str, int] | None = None,
) -> torch.Tensor | Launch:
    """Softmax over the last dimension; see tilegym.ops.softmax. The kernel has one kind of load and one schedule."""
    x = checks.usable("softmax", "x", x)
    checks.rank_at_least_one("softmax", "x", x)
    if x.numel() == 0:
        return x.new_empty(x.shape)
    x2 = rows(x)

    def launch_with(config: RowConfig) -> Launch:
        limit = min(config.block_size, CHUNKED_BLOCK_SIZE) if use_chunked else config.block_size
        return Launch(
            "softmax",
            (Output.like(x, x.shape, seen_as=x2.shape), x2),
            {
                "block_size": min(next_power_of_2(x2.shape[1]), limit),
                "num_cta_in_cga": config.num_cta_in_cga,
                "occupancy": config.occupancy,
            },
        )

    candidates = candidates_for("softmax", x.device, RowConfig, kernel_configs)
    return tuned(launch_with, candidates, (row_key(x2), bool(use_chunked)), "softmax", x.device)
