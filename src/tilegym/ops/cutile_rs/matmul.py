"""matmul on the Rust kernels: any strides, transposes as views, two schedules."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import torch

from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.planned import Launch, Output, planned, tuned
from tilegym.ops.cutile_rs import checks
from tilegym.ops.cutile_rs.autograd.operator import encoded
from tilegym.ops.cutile_rs.autograd.products import matmul_operator
from tilegym.ops.cutile_rs.configs import MatmulConfig, configs_for, with_overrides
from tilegym.ops.cutile_rs.precision import tf32, tf32_settings
from tilegym.ops.cutile_rs.schedule import num_programs


def _operator(
    a: torch.Tensor,
    b: torch.Tensor,
    trans_a: bool = False,
    trans_b: bool = False,
    static_persistent: bool | None = True,
    use_tma: bool | None = True,
    *,
    allow_tf32: bool | None = None,
    kernel_configs: Mapping[str, int] | None = None,
) -> torch.Tensor:
    persistent = static_persistent is None or bool(static_persistent)
    options = (bool(trans_a), bool(trans_b), persistent, bool(tf32(allow_tf32)), encoded(kernel_configs))
    return matmul_operator(a, b, *options)


@register_impl("matmul", backend="cutile-rs")
@planned(operator=_operator, autocast="lower")
def matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    trans_a: bool = False,
    trans_b: bool = False,
    static_persistent: bool | None = True,
    use_tma: bool | None = True,
    *,
    allow_tf32: bool | None = None,
    kernel_configs: Mapping[str, int] | None = None,
) -> torch.Tensor | Launch:
    """A @ B; see tilegym.ops.matmul. static_persistent=None means its default, True; loads are always tile views."""
    a, b = _operands(a, b, trans_a, trans_b)
    m, k, n = a.shape[0], a.shape[1], b.shape[1]
    if m == 0 or n == 0 or k == 0:
        return a.new_zeros((m, n))
    persistent = static_persistent is None or bool(static_persistent)
    rounded = tf32(allow_tf32)
    candidates = _candidates(persistent, a.device, kernel_configs)

    key = (m, n, k, a.dtype, persistent, rounded, a.stride(), b.stride())
    launch = tuned(lambda config: _launch(a, b, config, persistent, rounded), candidates, key, "matmul", a.device)
    return dataclasses.replace(launch, settings=tf32_settings(allow_tf32, a.dtype))


def _operands(a: torch.Tensor, b: torch.Tensor, trans_a: bool, trans_b: bool) -> tuple[torch.Tensor, torch.Tensor]:
    a, b = checks.usable("matmul", "a", a), checks.usable("matmul", "b", b)
    checks.same_device("matmul", "a", a, "b", b)
    checks.same_dtype("matmul", "a", a, "b", b)
    checks.rank("matmul", "a", a, 2)
    checks.rank("matmul", "b", b, 2)
    a, b = a.t() if trans_a else a, b.t() if trans_b else b
    if a.shape[1] != b.shape[0]:
        raise ValueError(
            f"matmul: b: wanted {a.shape[1]} rows, as many as a has columns, got {b.shape[0]} "
            f"(a is {tuple(a.shape)}, b is {tuple(b.shape)} after trans_a and trans_b)"
        )
    return a, b


def _candidates(
    persistent: bool, device: torch.device, overrides: Mapping[str, int] | None
) -> tuple[MatmulConfig, ...]:
    candidates: tuple[MatmulConfig, ...] = configs_for("matmul persistent" if persistent else "matmul", device)
    return (with_overrides("matmul", candidates[0], overrides),) if overrides else candidates


def _launch(a: torch.Tensor, b: torch.Tensor, config: MatmulConfig, persistent: bool, rounded: int) -> Launch:
    shape = (a.shape[0], b.shape[1])
    return Launch(
        "matmul",
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
