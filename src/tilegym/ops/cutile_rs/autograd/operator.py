"""Makes a torch operator `torch.ops.tilegym.<op>` of a wrapper.

Calls that want nothing special never come here: an operator costs several microseconds, a plain launch does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.library import Library, register_autograd, register_fake

_library: Any = Library("tilegym", "FRAGMENT")  # type: ignore[no-untyped-call]


def define(
    schema: str,
    *,
    run: Callable[..., Any],
    fake: Callable[..., Any],
    save: Callable[..., None],
    backward: Callable[..., Any],
) -> Callable[..., torch.Tensor]:
    """Defines `tilegym::<schema>` for CPU and CUDA tensors.

    Args:
        schema: name, parameters and results, as torch.library.Library.define takes them.
        run: computes the result; it is called with gradients off.
        fake: an empty tensor of the result's shape, strides and dtype, from the same arguments.
        save: `save(ctx, inputs, output)` keeps what backward needs.
        backward: `backward(ctx, gradient)` gives one gradient, or None, for each parameter.

    Returns:
        The operator, which takes positional arguments in the order of the schema.
    """
    name = _library.define(schema, tags=(torch.Tag.pt2_compliant_tag, torch.Tag.needs_fixed_stride_order))
    for device in ("CPU", "CUDA"):
        _library.impl(name, run, device)
    register_fake(f"tilegym::{name}", fake, lib=_library)
    register_autograd(f"tilegym::{name}", backward, setup_context=save, lib=_library)
    operator: Callable[..., torch.Tensor] = getattr(torch.ops.tilegym, name).default
    return operator


def decoded(overrides: str) -> dict[str, int] | None:
    """`kernel_configs` from the text that an operator's schema can hold: "bm=64,bn=32"; empty is None."""
    pairs = (pair.partition("=") for pair in overrides.split(",") if pair)
    return {name: int(value) for name, _, value in pairs} or None


def encoded(overrides: Any) -> str:
    """The text that `decoded` reads."""
    return ",".join(f"{name}={int(value)}" for name, value in (overrides or {}).items())
