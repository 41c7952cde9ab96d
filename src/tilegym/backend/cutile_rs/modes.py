"""Modes of torch that make a call more than a launch: autocast and gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn

import torch
from torch.autograd import forward_ad

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


def is_watched(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether torch wants to see the call as an operator: for a dispatch mode (make_fx, fake tensors), a transform of
    torch.func, or a tensor of a type with operators of its own. A launch beside them would be missed."""
    return torch._C._len_torch_dispatch_stack() > 0 or any(map(_has_own_operators, _tensors(args, kwargs)))


def _has_own_operators(tensor: torch.Tensor) -> bool:
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return True
    return type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__


def refuse_forward_gradient(op: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raises RuntimeError for a tensor with a tangent, or one that torch.func differentiates by: no op has that."""
    for tensor in _tensors(args, kwargs):
        if _is_differentiated_by_func(tensor):
            how = "torch.func differentiates by it; use torch.autograd, or backend='pytorch'"
        elif forward_ad._current_level >= 0 and _tangent_of(tensor) is not None:
            how = (
                "it has a tangent (no op has a forward derivative); pass unpack_dual(...).primal, or backend='pytorch'"
            )
        else:
            continue
        raise RuntimeError(f"{op}: wanted tensors without a derivative of torch.func or forward mode, got one: {how}")


def _tangent_of(tensor: torch.Tensor) -> torch.Tensor | None:
    tangent: torch.Tensor | None = forward_ad.unpack_dual(tensor).tangent  # type: ignore[no-untyped-call]
    return tangent


def _is_differentiated_by_func(tensor: torch.Tensor) -> bool:
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        if functorch.is_gradtrackingtensor(tensor):
            return True
        tensor = functorch.get_unwrapped(tensor)
    return False


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
