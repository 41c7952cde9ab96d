"""Tile IR modules: read bytecode, print it, check it, compare two, count what a launch does.

Works from a plain install: no toolkit, no GPU, no torch. Bytecode versions 13.1 to 13.3, from any producer.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tilegym_rs._core import TileChange as Change
from tilegym_rs._core import TileDiagnostic as Diagnostic
from tilegym_rs._core import TileFacts as Facts
from tilegym_rs._core import TileModule as Module
from tilegym_rs._core import TileStats as Stats
from tilegym_rs._core import TileUnknownOperation as UnknownOperation

__all__ = [
    "Change",
    "Diagnostic",
    "Facts",
    "Module",
    "Stats",
    "UnknownOperation",
    "diff",
    "load",
    "stats",
    "text",
    "verify",
]


def load(source: str | os.PathLike[str] | bytes, *, keep_unknown: bool = False) -> Module:
    """Reads a module from a file, which stays mapped while the module lives, or from bytes.

    Args:
        source: path of a bytecode file, or the bytecode.
        keep_unknown: an operation that the module's version does not have ends the reading of its entry only
            (`Module.unknown_operations` says where), instead of being an error.

    Raises:
        ValueError: it is no bytecode of a version that is understood; names what was being read and the byte offset.
    """
    if isinstance(source, bytes):
        return Module.parse(source, keep_unknown=keep_unknown)
    return Module.load(Path(source), keep_unknown=keep_unknown)


def text(module: Module, *, locations: bool = False) -> str:
    """The module as NVIDIA's `tileirdisasm` prints it; `locations`: with debug information, as its `-g`."""
    return module.text(locations=locations)


def verify(module: Module, *, limit: int = 100, hints: bool = False) -> list[Diagnostic]:
    """The rules of the dialect that the module breaks, at most `limit`; none for a valid one.

    Args:
        hints: also check keys and values of optimization hints, which compilers skip where they do not know them.

    Raises:
        ValueError: the module has unknown operations.
    """
    return module.verify(limit=limit, hints=hints)


def diff(before: Module, after: Module) -> list[Change]:
    """The differences by structure, an operation and a property each; none for equal modules.

    Names of values, locations and the order of tables make no difference.
    """
    return before.diff(after)


def stats(
    module: Module,
    *,
    grid: Sequence[int] = (1, 1, 1),
    arguments: Sequence[int | None] = (),
    entry: str | None = None,
) -> Stats:
    """What a launch does, over all tile blocks: operations, flops by type, bytes moved.

    Loads and stores count whole tiles, also what masks and edges cut. `Stats.notes` is empty where the counts are
    exact, else says what could not be followed, such as a loop whose bounds come from memory.

    Args:
        grid: tile blocks in x, y and z; missing ones are 1.
        arguments: values of the entry's parameters by position, None for pointers and what is not known.
        entry: name of the entry; may be left out where there is one.

    Raises:
        ValueError: no such entry, more arguments than it has, or a grid that is none.
    """
    if not 1 <= len(grid) <= 3:
        raise ValueError(f"grid: wanted 1 to 3 extents, got {len(grid)}")
    x, y, z = (*grid, 1, 1)[:3]
    return module.stats(grid=(x, y, z), arguments=list(arguments), entry=entry)
