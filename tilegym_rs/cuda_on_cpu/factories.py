"""Functions of torch that take a device: each is wrapped so that "cuda" means the CPU.

Wrapped one by one, not by a TorchFunctionMode: a mode is off inside backward and in other threads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _device as device_contexts

from tilegym_rs.cuda_on_cpu.patches import Patches

_CPU = torch.device("cpu")
_FURTHER_FACTORIES = ("as_tensor", "asarray", "from_file", "frombuffer", "scalar_tensor", "empty_permuted")
_METHODS = ("new_empty", "new_zeros", "new_ones", "new_full", "new_tensor", "new_empty_strided")


def apply(patches: Patches) -> None:
    """Wraps every factory, and what else names a device."""
    for name in _factory_names():
        patches.set(torch, name, _mapped(getattr(torch, name)))
    for name in _METHODS:
        patches.set(torch.Tensor, name, _mapped(getattr(torch.Tensor, name)))
    patches.set(torch.Tensor, "to", _mapped(torch.Tensor.to))
    patches.set(torch.Tensor, "cuda", lambda self, *_, **__: self)
    patches.set(torch.Tensor, "pin_memory", lambda self, *_, **__: self)
    patches.set(torch.nn.Module, "cuda", lambda self, *_, **__: self)
    patches.set(torch, "set_default_device", _mapped(torch.set_default_device))
    patches.set(torch, "load", _mapped(torch.load))
    patches.set(device_contexts.DeviceContext, "__init__", _mapped(device_contexts.DeviceContext.__init__))
    patches.set(torch, "Generator", _generator())


def on_cpu(device: Any) -> Any:
    """The CPU where `device` is a CUDA device by name or object; anything else as it is."""
    if isinstance(device, torch.device):
        return _CPU if device.type == "cuda" else device
    return _CPU if isinstance(device, str) and device.partition(":")[0] == "cuda" else device


def _factory_names() -> list[str]:
    # Asked first, since torch caches the set: it must hold the originals.
    constructors = device_contexts._device_constructors()
    found = {name for name in dir(torch) if getattr(torch, name, None) in _hashable(constructors)}
    found |= {name for name in dir(torch) if name.endswith("_like") and callable(getattr(torch, name))}
    return sorted(found | {name for name in _FURTHER_FACTORIES if hasattr(torch, name)})


class _hashable:  # noqa: N801  # a set that values of any kind may be looked up in
    def __init__(self, values: Any) -> None:
        self._ids = {id(value) for value in values}

    def __contains__(self, value: object) -> bool:
        return id(value) in self._ids


def _mapped(function: Callable[..., Any]) -> Callable[..., Any]:
    # A function object of its own for each name: torch._dynamo refuses one under two names.
    @functools.wraps(function)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        return function(*map(on_cpu, args), **{name: on_cpu(value) for name, value in kwargs.items()})

    return mapped


def _generator() -> type:
    original = torch.Generator

    class Generator(original):  # type: ignore[misc, valid-type]
        def __new__(cls, device: Any = "cpu") -> Any:
            return original.__new__(cls, on_cpu(device))  # type: ignore[call-arg]

    return Generator
