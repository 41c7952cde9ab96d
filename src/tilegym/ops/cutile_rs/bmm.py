"""bmm on the Rust kernels: any strides, transposes as views, two schedules."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import torch

from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.planned import Launch, Output, planned, tuned
from tilegym.ops.cutile_rs import checks
from tilegym.ops.cutile_rs.autograd.operator import encoded
from tilegym.ops.cutile_rs.autograd.products import bmm_operator
from tilegym.ops.cutile_rs.configs import MatmulConfig, configs_for, with_overrides
from tilegym.ops.cutile_rs.precision import tf32, tf32_settings
from tilegym.ops.cutile_rs.schedule import num_programs


def _operator(
    a: torch.Tensor,
    b: torch.Tensor,
    transpose_a: bool = False,
    transpose_b: bool = False,
    static_persistent: bool | None = True,
    *,
    allow_tf32: bool | None = None,
    kernel_configs: Mapping[str, int] | None = None,
) -> torch.Tensor:
    persistent = static_persistent is None or bool(static_persistent)
    options = (bool(transpose_a), bool(transpose_b), persistent, bool(tf32(allow_tf32)), encoded(kernel_configs))
    return bmm_operator(a, b, *options)


@register_impl("bmm", backend="cutile-rs")
@planned(operator=_operator, autocast="lower")
def bmm(
    a: torch.Tensor,
    b: torch.Tensor,
    transpose_a: bool = False,
    transpose_b: bool = False,
    static_persistent: bool | None = True,
    *,
    allow_tf32: bool | None = None,
    kernel_configs: Mapping[str, int] | None = None,
) -> torch.Tensor | Launch:
    """A[q] @ B[q]; see tilegym.ops.bmm. static_persistent=None means its default, True."""
    a, b = _operands(a, b, transpose_a, transpose_b)
    batches, m, k = a.shape
    n = b.shape[2]
    if 0 in (batches, m, k, n):
        return a.new_zeros((batches, m, n))
    persistent = static_persistent is None or bool(static_persistent)
    rounded = tf32(allow_tf32)
    candidates: tuple[MatmulConfig, ...] = configs_for("bmm persistent" if persistent else "bmm", a.device)
    if kernel_configs:
        candidates = (with_overrides("bmm", candidates[0], kernel_configs),)
    key = (batches, m, n, k, a.dtype, persistent, rounded, a.stride(), b.stride())
    launch = tuned(lambda config: _launch(a, b, config, persistent, rounded), candidates, key, "bmm", a.device)
    return dataclasses.replace(launch, settings=tf32_settings(allow_tf32, a.dtype))


def _operands(
    a: torch.Tensor, b: torch.Tensor, transpose_a: bool, transpose_b: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    a, b = checks.usable("bmm", "a", a), checks.usable("bmm", "b", b)
    checks.same_device("bmm", "a", a, "b", b)
    checks.same_dtype("bmm", "a", a, "b", b)
    for name, tensor in (("a", a), ("b", b)):
        checks.rank("bmm", name, tensor, 3)
    a, b = a.mT if transpose_a else a, b.mT if transpose_b else b
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"bmm: b: wanted {a.shape[0]} batches, as many as a has, got {b.shape[0]}")
    if a.shape[2] != b.shape[1]:
        raise ValueError(
            f"bmm: b: wanted {a.shape[2]} rows, as many as a has columns, got {b.shape[1]} "
            f"(a is {tuple(a.shape)}, b is {tuple(b.shape)} after transpose_a and transpose_b)"
        )
    return a, b


def _launch(a: torch.Tensor, b: torch.Tensor, config: MatmulConfig, persistent: bool, rounded: int) -> Launch:
    shape = (a.shape[0], a.shape[1], b.shape[2])
    return Launch(
        "bmm",
        (Output.like(a, shape), a, b),
        {
            "bm": config.bm,
            "bn": config.bn,
            "bk": config.bk,
            "group_size_m": config.group_size_m,
            "num_programs": num_programs(shape, a.device, config, persistent),
            "num_cta_in_cga": config.num_cta_in_cga,
            "occupancy": config.occupancy,
            "persistent": int(persistent),
            "allow_tf32": rounded,
        },
    )
