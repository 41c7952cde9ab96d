"""Calls of an op go to the implementation of the chosen backend.

The hot path is one dictionary look-up: per op there is a table {backend: implementation}, filled at the first call and
emptied when an implementation is registered. Fallbacks and errors live on the cold path.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from tilegym.backend import registry, selector
from tilegym.backend.forwarding import forwarder, without_unknown_defaults
from tilegym.backend.registry import Implementation
from tilegym.backend.selector import get_current_backend
from tilegym.logger import get_logger, warn_once

P = ParamSpec("P")
R = TypeVar("R")

_logger = get_logger(__name__)
_resolved: dict[str, dict[str, Implementation]] = {}
# What torch.compile and torch.export see.
_traced: dict[str, dict[str, Implementation]] = {}


def register_impl(name: str, backend: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator that registers a function as the implementation of op `name` for `backend`.

    The last registration wins. A backend name that nobody has used before is accepted and becomes known.
    """

    def decorator(function: Callable[P, R]) -> Callable[P, R]:
        registry.add(name, backend, function)
        _traced.setdefault(name, {})[backend] = getattr(function, "traced", function)
        return function

    return decorator


def dispatch(name: str, fallback_backend: str = "pytorch") -> Callable[[Callable[P, R]], Callable[..., R]]:
    """Decorator that turns a stub into the op `name`.

    A call goes to the backend in its keyword `backend`, else to the current one. Where that backend has no
    implementation, `fallback_backend` takes the call with one warning, and without that the stub itself runs.
    DISABLE_FALLBACK=1 turns both into NotImplementedError. Defaults written in the stub reach the implementation.
    """

    def decorator(stub: Callable[P, R]) -> Callable[..., R]:
        resolved = _resolved.setdefault(name, {})
        registry.add(name, registry.DEFAULT, stub)

        def choose(backend: str | None) -> Implementation:
            return _resolve(name, stub, backend or get_current_backend(), fallback_backend)

        op = forwarder(stub, resolved, _traced.setdefault(name, {}), get_current_backend, choose)
        op._tilegym_op_name = name  # type: ignore[attr-defined]
        return op

    return decorator


@registry.on_change
def _forget(op: str) -> None:
    _resolved.get(op, {}).clear()


def _resolve(name: str, stub: Implementation, backend: str, fallback: str) -> Implementation:
    chosen = selector.check_known(backend)
    found = registry.find(name, chosen)
    if found is None:
        return _fall_back(name, stub, chosen, fallback)
    implementation = without_unknown_defaults(stub, _native(found))
    if chosen == backend:
        # Neither aliases nor fallbacks are stored: the variables behind them are read at each call.
        _resolved[name][backend] = implementation
    return implementation


def _native(implementation: Implementation) -> Implementation:
    """What an implementation that is made at first use wants to be called instead."""
    make: Callable[[], Implementation] | None = getattr(implementation, "native", None)
    return implementation if make is None else make()


def _fall_back(name: str, stub: Implementation, backend: str, fallback: str) -> Implementation:
    found = registry.find(name, fallback)
    if os.environ.get("DISABLE_FALLBACK", "0") == "1":
        raise NotImplementedError(
            f"{name}: backend {backend!r} has no implementation and DISABLE_FALLBACK=1 forbids another; "
            f"implemented by: {', '.join(_implementers(name)) or 'none'}"
        )
    if found is None:
        _logger.warning("%s: backend '%s' has no implementation, using the default implementation", name, backend)
        return stub
    warn_once(f"{name}: backend {backend!r} has no implementation, falling back to {fallback!r}")
    return without_unknown_defaults(stub, found)


def _implementers(name: str) -> list[str]:
    return [backend for backend in registry.entries(name) if backend != registry.DEFAULT]


def get_available_backends_for_op(name: str) -> list[str]:
    """The backends with an implementation of the op, with "default" for its stub; only that for an unknown op."""
    return list(registry.entries(name)) or [registry.DEFAULT]


def has_backend_impl(name: str, backend: str) -> bool:
    """Whether `backend` has a real implementation of the op; the stub ("default") is none."""
    return backend != registry.DEFAULT and registry.find(name, backend) is not None


def get_registry_info() -> dict[str, dict[str, str]]:
    """Per op and backend, the implementation's module and name."""
    return {op: {backend: _where(f) for backend, f in registry.entries(op).items()} for op in registry.ops()}


def print_registry_info() -> None:
    """Prints get_registry_info, one op a paragraph."""
    for op, row in get_registry_info().items():
        print(op)
        for backend, where in row.items():
            print(f"  {backend}: {where}")


def _where(function: Callable[..., Any]) -> str:
    if hasattr(function, "__module__") and hasattr(function, "__name__"):
        return f"{function.__module__}.{function.__name__}"
    return str(function)
