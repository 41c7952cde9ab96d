"""matmul on the Rust kernels: any strides, transposes as views, two schedules."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.planned import Launch, planned
from tilegym.ops.cutile_rs.autograd.products import matmul_operator
from tilegym.ops.cutile_rs.products import Product

_PRODUCT = Product("matmul", rank=2, transpose="trans_a and trans_b")


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
    transposed = (trans_a, trans_b)
    return _PRODUCT.call_operator(matmul_operator, a, b, transposed, static_persistent, allow_tf32, kernel_configs)


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
    return _PRODUCT.plan(a, b, (trans_a, trans_b), static_persistent, allow_tf32, kernel_configs)
