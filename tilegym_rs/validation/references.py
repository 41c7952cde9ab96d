"""What an op is compared with: PyTorch in float64 always, kernels of other languages where they can run."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import torch

ORACLE = "pytorch float64"


def packed(value: Any) -> Any:
    """A packed copy: the reference must not depend on the layouts under test, nor see what the op writes."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone(memory_format=torch.contiguous_format)


def oracle(op: str) -> tuple[str, Callable[..., torch.Tensor]]:
    """(what it is, the reference): the float64 one, else the op's PyTorch implementation called with float64.

    Raises:
        LookupError: the op has neither.
    """
    from tilegym.backend import registry
    from tilegym.ops.reference import ORACLES

    if op in ORACLES:
        return ORACLE, ORACLES[op]
    implementation = registry.find(op, "pytorch")
    if implementation is None:
        raise LookupError(
            f"{op}: wanted a reference to compare with, got none; register one with backend='pytorch' or add a float64 "
            "one to tilegym.ops.reference.ORACLES"
        )
    return _in_float64(implementation)


def _in_float64(implementation: Callable[..., Any]) -> tuple[str, Callable[..., torch.Tensor]]:
    def wide(value: Any) -> Any:
        return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    def call(*args: Any, **kwargs: Any) -> torch.Tensor:
        result: torch.Tensor = implementation(*map(wide, args), **{name: wide(v) for name, v in kwargs.items()})
        return result

    return ORACLE, call


def others(op: str, device: torch.device) -> tuple[dict[str, Callable[..., torch.Tensor]], dict[str, str]]:
    """({backend: implementation} that can run on the device, {backend: why not} of the others)."""
    import tilegym
    from tilegym.backend import registry

    usable: dict[str, Callable[..., torch.Tensor]] = {}
    reasons: dict[str, str] = {}
    for backend, why_not in (("cutile", _cutile(device)), ("triton", _triton(device))):
        implementation = registry.find(op, backend)
        if implementation is None:
            reasons[backend] = f"{op} has no {backend} kernel"
        elif why_not or not tilegym.is_backend_available(backend):
            reasons[backend] = why_not or f"backend {backend} is not available"
        else:
            usable[backend] = implementation
    return usable, reasons


def _cutile(device: torch.device) -> str:
    return "" if importlib.util.find_spec("cuda") is not None else "cuTile Python is not installed"


def _triton(device: torch.device) -> str:
    if device.type != "cuda":
        return "Triton kernels need a GPU"
    return "" if importlib.util.find_spec("triton") is not None else "Triton is not installed"
