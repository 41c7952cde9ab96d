"""The caller's memory while candidates are tried: kept, put back before each try and after the last."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any

import torch

# A function, what it holds, an object among that, its attributes: not the parameters of modules below.
_DEPTH = 4


def tensors_in(value: Any, depth: int = _DEPTH) -> Iterable[torch.Tensor]:
    """The tensors that a function can reach: its closure, defaults, partial arguments, object, the globals it names."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth > 0 and not isinstance(value, (str, bytes, type)):
        for part in _parts(value):
            yield from tensors_in(part, depth - 1)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if inspect.ismethod(value):
        return [value.__self__, value.__func__]
    if inspect.isfunction(value):
        return [*_named_by(value), value.__defaults__ or (), value.__kwdefaults__ or {}]
    return [vars(value)] if hasattr(value, "__dict__") and not inspect.ismodule(value) else []


def _named_by(function: FunctionType) -> list[Mapping[str, Any]]:
    try:
        names = inspect.getclosurevars(function)
    except ValueError:  # a variable of the closure that has no value yet
        return []
    return [names.nonlocals, names.globals]


class CallerMemory:
    """Copies of tensors' memory, and which of it a kernel writes.

    Overlapping tensors are one piece of memory, so an in-place operation and `out=` that aliases an input come back
    as they were. Only what was seen to change is put back before a try.
    """

    def __init__(self, tensors: Iterable[torch.Tensor], device: torch.device) -> None:
        """Copies. Raises torch.OutOfMemoryError where there is no room."""
        here = [tensor for tensor in tensors if tensor.device == device and tensor.numel() > 0]
        here = [tensor for tensor in here if tensor.layout == torch.strided and not _is_fake(tensor)]
        self._tensors = list({id(tensor): tensor for tensor in here}.values())
        self._pieces = [_bytes_of(*piece) for piece in _pieces(self._tensors)]
        self._copies = [piece.clone() for piece in self._pieces]
        self._written: set[int] = set()

    def look(self) -> None:
        """Finds out what the last try has written."""
        for number, (piece, copy) in enumerate(zip(self._pieces, self._copies, strict=True)):
            if number not in self._written and not torch.equal(piece, copy):
                self._written.add(number)

    def put_back(self) -> None:
        """Undoes what tries have written."""
        for number in self._written:
            self._pieces[number].copy_(self._copies[number])

    def written(self) -> list[torch.Tensor]:
        """The caller's tensors in memory that tries have written."""
        places = [(piece.data_ptr(), piece.data_ptr() + piece.numel()) for piece in self._pieces]
        changed = [places[number] for number in self._written]
        return [t for t in self._tensors if any(start <= t.data_ptr() < end for start, end in changed)]


def _is_fake(tensor: torch.Tensor) -> bool:
    return type(tensor) not in (torch.Tensor, torch.nn.Parameter)


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    """First byte and the byte behind the last, in the storage."""
    last = sum((extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.stride(), strict=True))
    size = tensor.element_size()
    return int(tensor.storage_offset()) * size, int(tensor.storage_offset() + last + 1) * size


def _pieces(tensors: Iterable[torch.Tensor]) -> list[tuple[torch.UntypedStorage, int, int]]:
    """The memory of tensors as spans of storages that do not overlap."""
    storages: dict[int, tuple[torch.UntypedStorage, list[tuple[int, int]]]] = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        storages.setdefault(storage.data_ptr(), (storage, []))[1].append(_span(tensor))
    return [(storage, *span) for storage, spans in storages.values() for span in _merged(sorted(spans))]


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged = [spans[0]]
    for start, end in spans[1:]:
        if start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _bytes_of(storage: torch.UntypedStorage, start: int, end: int) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage, start, (end - start,))  # type: ignore[call-overload, no-any-return]
