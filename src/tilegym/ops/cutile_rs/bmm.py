"""bmm on the Rust kernels: any strides, transposes as views, two schedules."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from tilegym.backend import register_impl
from tilegym.backend.cutile_rs.planned import Launch, planned
from tilegym.ops.cutile_rs.autograd.products import bmm_operator
from tilegym.ops.cutile_rs.products import Product

_PRODUCT = Product("bmm", rank=3, transpose="transpose_a and transpose_b")


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
    transposed = (transpose_a, transpose_b)
    return _PRODUCT.call_operator(bmm_operator, a, b, transposed, static_persistent, allow_tf32, kernel_configs)


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
    return _PRODUCT.plan(a, b, (transpose_a, transpose_b), static_persistent, allow_tf32, kernel_configs)
