"""Modes of torch that make a call more than a launch: autocast and gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn

import torch

Autocast = Literal["lower", "float32"]


def autocasts(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether torch.autocast is on for the device of the tensors."""
    return torch.is_autocast_enabled(_device_type(args, kwargs))


_any_autocast: Callable[[], bool] | None = getattr(torch._C, "_is_any_autocast_enabled", None)


def autocast_getter(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Callable[[], bool]:
    """A function whose result changes when torch.autocast is switched on or off for tensors like these."""
    if _any_autocast is not None and not _any_autocast():
        return _any_autocast  # of no device: the cheaper question
    return functools.partial(torch.is_autocast_enabled, _device_type(args, kwargs))


def under_autocast(
    function: Callable[..., Any], rule: Autocast | None, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Calls `function` with its floating-point tensors as autocast wants them, where it is on, and autocast off."""
    device_type = _device_type(args, kwargs)
    if rule is None or not torch.is_autocast_enabled(device_type):
        return function(*args, **kwargs)
    dtype = torch.float32 if rule == "float32" else torch.get_autocast_dtype(device_type)

    def cast(value: Any) -> Any:
        is_float = isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype != torch.float64
        return value.to(dtype) if is_float else value

    with torch.autocast(device_type, enabled=False):
        return function(*map(cast, args), **{name: cast(value) for name, value in kwargs.items()})


def wants_gradient(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a tensor among the arguments asks for a gradient, and gradients are on."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in _tensors(args, kwargs))


def refuse_gradient(op: str, *_: Any, **__: Any) -> NoReturn:
    """Raises RuntimeError that names the ways out, for an op without a backward."""
    raise RuntimeError(
        f"{op}: wanted tensors without gradient (this op has no backward), got requires_grad=True; "
        "call it under torch.no_grad() or with .detach(), or pass backend='pytorch'"
    )


def _tensors(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    return (value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor))


def _device_type(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Of the first tensor that is on a GPU or the CPU; a call without one is refused elsewhere."""
    found = (tensor.device.type for tensor in _tensors(args, kwargs))
    return next((kind for kind in found if kind in ("cpu", "cuda")), "cpu")
