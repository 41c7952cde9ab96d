"""Any Tile IR module on the CPU device: `tilegym_rs.cpu.load(bytecode).launch(entry, grid, args)`."""

from __future__ import annotations

import dataclasses
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tilegym_rs.errors import KernelError

if TYPE_CHECKING:
    from tilegym_rs import _core

__all__ = ["Entry", "KernelError", "Module", "load"]

Order = Literal["forward", "reversed", "shuffled"]

_ORDERS: tuple[Order, ...] = ("forward", "reversed", "shuffled")
_GRID_LIMITS = (2**31 - 1, 65535, 65535)


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry kernel of a module."""

    name: str
    parameters: tuple[str, ...]
    """Types in the order of the arguments, as Tile IR spells them: "i32", "f16", "ptr<f32>"."""


def load(bytecode: bytes | bytearray | memoryview | str | os.PathLike[str]) -> Module:
    """Loads a Tile IR module on the CPU device.

    Args:
        bytecode: Tile IR bytecode (versions 13.1 to 13.3) of any producer or an image of this package; the bytes
            themselves, or the path of a file that holds them.

    Raises:
        ValueError: it is no such module; the text names what was being read and the byte offset.
        KernelError: the CPU device is not installed.
        OSError: the file cannot be read.
    """
    return Module(_read(bytecode))


def _read(bytecode: bytes | bytearray | memoryview | str | os.PathLike[str]) -> bytes:
    if isinstance(bytecode, (str, os.PathLike)):
        return Path(bytecode).read_bytes()
    if isinstance(bytecode, (bytes, bytearray, memoryview)):
        return bytes(bytecode)
    raise TypeError(f"bytecode: wanted bytes or a path, got {type(bytecode).__name__}")


class Module:
    """A loaded module. Any number of threads may launch its entries at once."""

    def __init__(self, image: bytes) -> None:
        from tilegym_rs import _core
        from tilegym_rs.library import cpu_device

        self._module: _core.CpuModule = _core.CpuModule(cpu_device(), image)
        self._entries = tuple(Entry(name, tuple(types)) for name, types in self._module.entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entry kernels in the order of the module."""
        return self._entries

    @property
    def version(self) -> str:
        """Version of the bytecode, such as "13.3"."""
        return self._module.version

    @property
    def producer(self) -> str:
        """Who wrote the module; empty where it does not say."""
        return self._module.producer

    def prepare(self, entry: str) -> None:
        """Lowers an entry, which its first launch does otherwise.

        Raises:
            ValueError: the module has no entry of that name.
            KernelError: the entry holds an operation that the CPU device does not execute.
        """
        self._module.prepare(entry)

    def launch(
        self,
        entry: str,
        grid: int | Sequence[int],
        args: Sequence[object] | Mapping[str, object],
        *,
        memory: Iterable[object] = (),
        order: Order = "forward",
        seed: int = 0,
        threads: int = 0,
    ) -> None:
        """Runs an entry over a grid of tile blocks and returns when it is done. Releases the lock on Python.

        Args:
            entry: name of the kernel.
            grid: tile blocks along x, y and z; missing ones are 1. At most 2147483647, 65535 and 65535.
            args: one value a parameter, or names with values, which reports then use. A pointer takes a CPU tensor, a
                numpy array, any other object with a DLPack or a writable buffer interface, or None for a null pointer;
                the array has the pointer's type, or is of unsigned integers that hold its bits. Every other parameter
                takes a number, which is rounded once to the parameter's type. Extents and strides that the kernel's
                producer declares are ordinary parameters.
            memory: arrays that the kernel reaches without a parameter of their own, by addresses in other arrays.
            order: order of the tile blocks. No right kernel depends on it.
            seed: of the shuffled order.
            threads: upper limit of worker threads; 0 is the limit of the device, by TILEGYM_RS_THREADS one a core.

        Raises:
            TypeError: an argument does not fit its parameter.
            ValueError: an unknown entry, a wrong number of arguments, a number out of range, an array that is not in
                host memory or is read-only, a grid beyond the limits.
            KernelError: the kernel failed: an access outside of its arguments, by argument and element, a failed
                assertion, or an operation that the CPU device does not execute.
            KeyboardInterrupt: Ctrl-C ended the launch.
        """
        names, values = _named(args)
        self._module.launch(
            entry,
            _grid(grid),
            values,
            names,
            list(memory),
            _order(order),
            _whole("seed", seed, 2**64 - 1),
            _whole("threads", threads, 2**31 - 1),
        )

    def __repr__(self) -> str:
        names = ", ".join(entry.name for entry in self._entries)
        return f"<Tile IR {self.version} module: {names}>"


def _named(args: Sequence[object] | Mapping[str, object]) -> tuple[list[str], list[object]]:
    if isinstance(args, Mapping):
        return list(args), list(args.values())
    return [], list(args)


def _order(order: str) -> int:
    if order not in _ORDERS:
        raise ValueError(f"order: wanted one of {', '.join(_ORDERS)}, got {order!r}")
    return _ORDERS.index(order)


def _whole(name: str, value: int, limit: int) -> int:
    if not 0 <= value <= limit:
        raise ValueError(f"{name}: wanted 0 to {limit}, got {value}")
    return int(value)


def _grid(grid: int | Sequence[int]) -> tuple[int, int, int]:
    sizes = [operator.index(size) for size in (grid if isinstance(grid, Sequence) else (grid,))]
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"grid: wanted 1 to 3 sizes, got {len(sizes)}")
    sizes += [1] * (3 - len(sizes))
    for axis, size, limit in zip("xyz", sizes, _GRID_LIMITS, strict=True):
        if not 1 <= size <= limit:
            raise ValueError(f"grid: wanted 1 to {limit} tile blocks along {axis}, got {size}")
    return sizes[0], sizes[1], sizes[2]
