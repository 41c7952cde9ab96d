"""bmm on the Rust kernels: any strides, transposes as views, two schedules."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.autotuner import autotune_launch
from tilegym.backend.cutile_rs.utils import bind_kernel_function
from tilegym.ops.cutile_rs import checks
from tilegym.ops.cutile_rs.configs import MatmulConfig, configs_for, with_overrides
from tilegym.ops.cutile_rs.precision import tf32
from tilegym.ops.cutile_rs.schedule import num_programs


@register_impl("bmm", backend="cutile-rs")
def bmm(
    a: torch.Tensor,
    b: torch.Tensor,
    transpose_a: bool = False,
    transpose_b: bool = False,
    static_persistent: bool | None = True,
    *,
    allow_tf32: bool | None = None,
    kernel_configs: Mapping[str, int] | None = None,
) -> torch.Tensor:
    """A[q] @ B[q]; see tilegym.ops.bmm. static_persistent=None means its default, True."""
    a, b = _operands(a, b, transpose_a, transpose_b)
    batches, m, k = a.shape
    n = b.shape[2]
    if 0 in (batches, m, k, n):
        return a.new_zeros((batches, m, n))
    persistent = static_persistent is None or bool(static_persistent)
    rounded = tf32(allow_tf32)
    candidates: tuple[MatmulConfig, ...] = configs_for("bmm persistent" if persistent else "bmm", a.device)

    def run(config: MatmulConfig) -> torch.Tensor:
        return _launch(a, b, config, persistent, rounded)

    if kernel_configs:
        return run(with_overrides("bmm", candidates[0], kernel_configs))
    if len(candidates) == 1 or a.device.type != "cuda":
        return run(candidates[0])
    key = (batches, m, n, k, a.dtype, persistent, rounded, a.stride(), b.stride())
    output: torch.Tensor = autotune_launch(run, candidates, key, "bmm", device=a.device).output
    return output


def _operands(
    a: torch.Tensor, b: torch.Tensor, transpose_a: bool, transpose_b: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    a, b = checks.usable("bmm", "a", a), checks.usable("bmm", "b", b)
    checks.same_device("bmm", "a", a, "b", b)
    checks.same_dtype("bmm", "a", a, "b", b)
    for name, tensor in (("a", a), ("b", b)):
        checks.rank("bmm", name, tensor, 3)
        checks.within_limits("bmm", name, tensor)
    a, b = a.mT if transpose_a else a, b.mT if transpose_b else b
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"bmm: b: wanted {a.shape[0]} batches, as many as a has, got {b.shape[0]}")
    if a.shape[2] != b.shape[1]:
        raise ValueError(
            f"bmm: b: wanted {a.shape[2]} rows, as many as a has columns, got {b.shape[1]} "
            f"(a is {tuple(a.shape)}, b is {tuple(b.shape)} after transpose_a and transpose_b)"
        )
    return a, b


def _launch(a: torch.Tensor, b: torch.Tensor, config: MatmulConfig, persistent: bool, rounded: int) -> torch.Tensor:
    out = a.new_empty((a.shape[0], a.shape[1], b.shape[2]))
    bind_kernel_function("bmm")(
        out,
        a,
        b,
        bm=config.bm,
        bn=config.bn,
        bk=config.bk,
        group_size_m=config.group_size_m,
        num_programs=num_programs(out, config, persistent),
        num_cta_in_cga=config.num_cta_in_cga,
        occupancy=config.occupancy,
        persistent=int(persistent),
        allow_tf32=rounded,
    )
    return out
