"""The ops of backend "cutile": a cutile-rs wrapper plans the launch, a kernel in cuTile Python is launched."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import torch

from tilegym.backend import is_backend_available, register_impl, registry
from tilegym.backend.cutile_rs import modes, utils
from tilegym.backend.cutile_rs.planned import Launch, execute
from tilegym.backend.missing import backend_is_missing

_LARGEST_EXTENT = 2**31 - 1


class Kernels:
    """The kernels of this folder with the calls of the kernel library: one function an op, outputs first.

    Args:
        use: `use(op, call)` is called with each launch; None launches.
    """

    def __init__(self, use: Callable[[str, Any], object] | None = None) -> None:
        self._use = use

    def __getattr__(self, op: str) -> Callable[..., None]:
        try:
            module = importlib.import_module(f"tilegym.ops.cutile.{op}_kernel")
            launcher = importlib.import_module("tilegym.ops.cutile.launcher")
        except ModuleNotFoundError as error:
            raise backend_is_missing(op, "cutile") from error
        make, use = getattr(module, op), self._use or launcher.launch

        def launch(*tensors: torch.Tensor, **scalars: int | float) -> None:
            use(op, make(*tensors, **scalars))

        return launch


def register(op: str) -> None:
    """Registers the op's kernel of this folder under the planner of its cutile-rs wrapper.

    Raises:
        LookupError: the op has no such wrapper.
    """
    wrapper: Any = registry.find(op, "cutile-rs")
    if wrapper is None:
        raise LookupError(f"{op}: wanted a cutile-rs wrapper that plans the launch of {op}_kernel.py, got none")

    @functools.wraps(wrapper)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not is_backend_available("cutile"):
            raise backend_is_missing(op, "cutile")
        if wrapper.autocast is not None and modes.autocasts(args, kwargs):
            return modes.under_autocast(call, wrapper.autocast, args, kwargs)
        modes.refuse_forward_gradient(op, args, kwargs)
        if modes.wants_gradient(args, kwargs):
            raise RuntimeError(
                f"{op}: wanted tensors without gradient (backend 'cutile' has no backward), got requires_grad=True; "
                "call it under torch.no_grad() or with .detach(), or pass backend='cutile-rs'"
            )
        return _run(op, wrapper.planner, Kernels(), args, kwargs)

    def module_of(*args: Any, **kwargs: Any) -> tuple[str, bytes]:
        """The entry's name and the bytecode of what a call launches last, without launching it."""
        launcher = importlib.import_module("tilegym.ops.cutile.launcher")
        calls: list[Any] = []
        _run(op, wrapper.planner, Kernels(lambda _, call: calls.append(call)), args, kwargs)
        if not calls:
            raise ValueError(f"{op}: wanted a call that launches a kernel, got one with nothing to compute")
        entry, image = launcher.module_of(op, calls[-1])
        return entry, image

    for attribute in ("native", "traced", "planner", "autocast"):
        call.__dict__.pop(attribute, None)
    call.traced = torch.compiler.disable(call)  # type: ignore[attr-defined, no-untyped-call]
    call.module_of = module_of  # type: ignore[attr-defined]
    register_impl(op, backend="cutile")(call)


def _run(op: str, planner: Callable[..., Any], kernels: Kernels, args: Any, kwargs: Any) -> Any:
    with utils.kernels_from(kernels):
        launch = planner(*args, **kwargs)
        if not isinstance(launch, Launch):
            return launch
        _check_extents(op, launch)
        return execute(launch, kernels)


def _check_extents(op: str, launch: Launch) -> None:
    """Raises ValueError where an extent is beyond 32 bits, before memory is taken for the result."""
    for tensor in launch.tensors:
        if max(tensor.shape, default=0) > _LARGEST_EXTENT:
            raise ValueError(
                f"{op}: wanted tensors with extents of at most {_LARGEST_EXTENT}, got shape {tuple(tensor.shape)}"
            )
