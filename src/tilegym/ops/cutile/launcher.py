"""Launches of cuTile Python kernels: by cuTile's own launcher on a GPU, as exported bytecode on the CPU device."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import cuda.tile as ct
import torch

from tilegym.ops.cutile.export import Parameter, bytecode, constraint, parameter_of, specialised
from tilegym_rs import cpu, cpu_target


@dataclass(frozen=True)
class KernelCall:
    """A kernel with the arguments of one launch.

    Attributes:
        kernel: a cuda.tile.kernel.
        grid: tile blocks along x, y and z.
        arguments: by the names of the kernel's first parameters, in their order: tensors, int32 and float32.
        constants: values of its other parameters, which are ct.Constant.
        num_ctas: thread blocks per cluster; -1 is automatic.
        occupancy: tile blocks per multiprocessor; -1 is automatic.
    """

    kernel: ct.kernel
    grid: tuple[int, ...]
    arguments: Mapping[str, torch.Tensor | int | float]
    constants: tuple[int, ...]
    num_ctas: int = -1
    occupancy: int = -1

    @property
    def entry(self) -> str:
        """The kernel's name in a module."""
        return str(self.kernel._pyfunc.__name__)

    @property
    def hinted(self) -> ct.kernel:
        """The kernel with these hints; the same object for the same hints."""
        return _hinted(self.kernel, self.num_ctas, self.occupancy)


@functools.cache
def _hinted(kernel: ct.kernel, num_ctas: int, occupancy: int) -> ct.kernel:
    if num_ctas < 1 and occupancy < 1:
        return kernel
    hints = {"num_ctas": num_ctas, "occupancy": occupancy}
    return kernel.replace_hints(**{name: value for name, value in hints.items() if value > 0})


def launch(op: str, call: KernelCall) -> None:
    """Launches on the device of the tensors: on the current stream of a GPU, or to the end on the CPU device.

    Raises:
        ValueError: the grid is beyond what a device takes.
        RuntimeError: the kernel cannot be compiled or launched.
    """
    device = next(value.device for value in call.arguments.values() if isinstance(value, torch.Tensor))
    if device.type == "cuda":
        with torch.cuda.device(device):
            arguments = (*map(_detached, call.arguments.values()), *call.constants)
            ct.launch(torch.cuda.current_stream(device), call.grid, call.hinted, arguments)
        return
    _module_for(op, call).launch(call.entry, call.grid, dict(_flattened(call.arguments)))


def module_of(op: str, call: KernelCall) -> tuple[str, bytes]:
    """The entry's name and the bytecode that is specialised for a call, for the target of the CPU device.

    Raises:
        RuntimeError: cuTile Python does not compile it.
    """
    # Run-time integers and floats would be constants as they are.
    arguments = (*map(_as_parameter, call.arguments.values()), *call.constants)
    return call.entry, specialised(op, call.hinted, call.entry, cpu_target(), arguments)


def _as_parameter(value: Any) -> Any:
    return value if isinstance(value, torch.Tensor) else constraint(parameter_of(value))


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, torch.Tensor) else value


def _flattened(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """As cuTile's calling convention passes them: an array is its address, its extents and its strides."""
    for name, value in arguments.items():
        yield name, _detached(value)
        if isinstance(value, torch.Tensor):
            yield from ((f"{name}.shape[{axis}]", extent) for axis, extent in enumerate(value.shape))
            yield from ((f"{name}.strides[{axis}]", stride) for axis, stride in enumerate(value.stride()))


_modules: dict[tuple[Any, ...], cpu.Module] = {}
_exporting = threading.Lock()


def _module_for(op: str, call: KernelCall) -> cpu.Module:
    """The kernel's module, exported at the first call of each signature."""
    parameters: tuple[Parameter, ...] = tuple(map(parameter_of, call.arguments.values()))
    kernel, target = call.hinted, cpu_target()
    key = (kernel, target, parameters, call.constants)
    module = _modules.get(key)
    if module is None:
        with _exporting:
            image = bytecode(op, kernel, call.entry, target, parameters, call.constants)
            module = _modules.setdefault(key, cpu.load(image))
    return module
