"""Wrappers that say what to launch, so that launching the same again costs no Python.

A planner looks at its arguments, refuses what the kernel does not take and returns a `Launch`. The extension makes the
launch and remembers it for calls that look alike: same dtypes, devices, shapes, strides, alignment up to 16 bytes,
sharing of memory among the tensors, and same other arguments. A planner may decide by these and by nothing else; what
else it reads it names in `Launch.environment` and `Launch.settings`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, overload

import torch

from tilegym.autotune import DISABLE_AUTOTUNE_ENV
from tilegym.backend.cutile_rs import modes, utils
from tilegym.backend.cutile_rs.autotuner import choose_config, is_recording
from tilegym.backend.cutile_rs.modes import Autocast

C = TypeVar("C")
P = ParamSpec("P")


@dataclass(frozen=True)
class Output:
    """A new dense tensor that the kernel writes and the caller gets.

    Attributes:
        shape: as the caller gets it.
        dtype, device: of the tensor.
        seen_as: the shape that the kernel sees, of as many elements; None is `shape`.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    seen_as: tuple[int, ...] | None = None

    @classmethod
    def like(cls, tensor: torch.Tensor, shape: tuple[int, ...], seen_as: tuple[int, ...] | None = None) -> Output:
        """An output of a tensor's dtype and device."""
        return cls(shape, tensor.dtype, tensor.device, seen_as)


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel.

    Attributes:
        op: the kernel library's name of the op.
        tensors: its tensors in order: outputs, and views of the caller's tensors. A copy in place of a view works, but
            then the launch is not remembered.
        scalars: its other arguments by name.
        result: what the caller gets; None is the output, or a tuple of them in order.
        environment: environment variables that the choice depended on.
        settings: functions without arguments whose results the choice depended on, such as torch's getters.
    """

    op: str
    tensors: tuple[torch.Tensor | Output, ...]
    scalars: Mapping[str, int | float]
    result: torch.Tensor | None = None
    environment: tuple[str, ...] = ()
    settings: tuple[Callable[[], object], ...] = ()


@overload
def planned(planner: Callable[P, Any], /) -> Callable[P, Any]: ...
@overload
def planned(
    *, operator: Callable[..., Any] | None = None, autocast: Autocast | None = None
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
def planned(
    planner: Callable[P, Any] | None = None,
    *,
    operator: Callable[..., Any] | None = None,
    autocast: Autocast | None = None,
) -> Any:
    """Decorator that makes a planner callable: it launches what the planner returns.

    A planner that returns something else than a `Launch` has done the work itself, and the caller gets that.
    The function's attribute `native` returns the callable of the extension, which the dispatcher calls directly;
    `traced` is what torch.compile sees instead; `planner` and `autocast` are the decorator's own arguments.

    Args:
        planner: where the decorator has no further arguments.
        operator: takes the planner's arguments and calls a torch operator, which has gradients and can be traced.
            Without one, a tensor that wants a gradient is refused.
        autocast: what torch.autocast makes of the tensors: the region's dtype, or float32; None leaves them alone.
    """

    def decorator(planner: Callable[P, Any]) -> Callable[P, Any]:
        with_gradient = operator or functools.partial(modes.refuse_gradient, planner.__name__)

        def plan(*args: P.args, **kwargs: P.kwargs) -> Any:
            modes.refuse_forward_gradient(planner.__name__, args, kwargs)
            if operator is not None and modes.is_watched(args, kwargs):
                return traced(*args, **kwargs)
            if autocast is not None and modes.autocasts(args, kwargs):
                return modes.under_autocast(call, autocast, args, kwargs)
            if modes.wants_gradient(args, kwargs):
                return with_gradient(*args, **kwargs)
            launch = planner(*args, **kwargs)
            if autocast is None or not isinstance(launch, Launch):
                return launch
            return dataclasses.replace(launch, settings=(*launch.settings, modes.autocast_getter(args, kwargs)))

        @functools.cache
        def native() -> Callable[P, Any]:
            make = utils.extension().PlannedOp
            made: Callable[P, Any] = make(plan, Launch, lambda: utils.kernel_library(), execute)
            return made

        @functools.wraps(planner)
        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            return native()(*args, **kwargs)

        def traced(*args: P.args, **kwargs: P.kwargs) -> Any:
            return modes.under_autocast(operator or call, autocast, args, kwargs)

        call.native = native  # type: ignore[attr-defined]
        call.traced = traced  # type: ignore[attr-defined]
        call.planner = planner  # type: ignore[attr-defined]
        call.autocast = autocast  # type: ignore[attr-defined]
        return call

    return decorator if planner is None else decorator(planner)


def execute(launch: Launch, kernels: Any) -> Any:
    """Makes a launch through any object that has the op as a function."""
    outputs: list[torch.Tensor] = []
    arguments: list[torch.Tensor] = []
    for tensor in launch.tensors:
        if isinstance(tensor, Output):
            outputs.append(torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device))
            tensor = outputs[-1] if tensor.seen_as is None else outputs[-1].view(tensor.seen_as)
        arguments.append(tensor)
    getattr(kernels, launch.op)(*arguments, **launch.scalars)
    if launch.result is not None:
        return launch.result
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def tuned(
    launch_with: Callable[[C], Launch], candidates: Sequence[C], key: Hashable, op: str, device: torch.device
) -> Launch:
    """The launch with the fastest configuration on a GPU, timed once per key; elsewhere with the first.

    Candidates that come to the same launch, since a tensor is smaller than their tiles, count as one.
    """
    first = launch_with(candidates[0])
    elsewhere = device.type != "cuda" and not is_recording()
    if len(candidates) == 1 or elsewhere or utils.are_kernels_replaced():
        return first
    by_launch = {tuple(launch_with(config).scalars.items()): config for config in reversed(candidates)}
    distinct = [config for config in candidates if config in by_launch.values()]
    if len(distinct) == 1:
        return first

    def run(config: C) -> Any:
        return execute(launch_with(config), utils.kernel_library())

    writes = [tensor for tensor in _written(first) if isinstance(tensor, torch.Tensor)]
    best: C = choose_config(run, distinct, key, op, device=device, writes=writes, tensors=first.tensors)
    return dataclasses.replace(launch_with(best), environment=(DISABLE_AUTOTUNE_ENV,))


def _written(launch: Launch) -> list[torch.Tensor | Output]:
    """The tensors that the kernel writes, as the library describes it."""
    params = utils.kernel_library().describe(launch.op)["params"]
    directions = [param["direction"] for param in params if param["kind"] == "tensor"]
    return [tensor for tensor, direction in zip(launch.tensors, directions, strict=True) if direction != "in"]
