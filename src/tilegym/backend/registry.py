"""The table of implementations, {op: {backend: function}}. It knows nothing of selection or availability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Implementation = Callable[..., Any]

# The entry under which a stub itself is stored; not a backend.
DEFAULT = "default"

_table: dict[str, dict[str, Implementation]] = {}
_listeners: list[Callable[[str], None]] = []


def add(op: str, backend: str, implementation: Implementation) -> None:
    """Stores an implementation; a later one for the same op and backend replaces it."""
    _table.setdefault(op, {})[backend] = implementation
    for listener in _listeners:
        listener(op)


def on_change(listener: Callable[[str], None]) -> Callable[[str], None]:
    """Decorator: calls `listener(op)` after each registration."""
    _listeners.append(listener)
    return listener


def find(op: str, backend: str) -> Implementation | None:
    """The implementation of an op for a backend, if there is one."""
    return _table.get(op, {}).get(backend)


def entries(op: str) -> dict[str, Implementation]:
    """All implementations of an op, with its stub under DEFAULT."""
    return dict(_table.get(op, {}))


def ops() -> list[str]:
    """The names of all ops."""
    return list(_table)


def backends() -> set[str]:
    """Every backend with at least one implementation."""
    return {backend for row in _table.values() for backend in row} - {DEFAULT}
