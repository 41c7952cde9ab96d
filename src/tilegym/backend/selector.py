"""The current backend: a process-wide default, and scopes that override it in one thread or task.

The default is `CUTILE_TUTORIALS_BACKEND`, read at the first use, else cutile-rs where it runs, else pytorch.
"""

from __future__ import annotations

import contextlib
import contextvars
import importlib.util
import os
from collections.abc import Iterator

from tilegym.backend import availability
from tilegym.logger import get_logger

_logger = get_logger(__name__)
_scoped: contextvars.ContextVar[str | None] = contextvars.ContextVar("tilegym_backend", default=None)
_process_wide: str | None = None


def canonical_name(backend: str) -> str:
    """The backend that a name stands for: TILEGYM_ALIAS_CUTILE lets "cutile" stand for another backend."""
    if backend == "cutile":
        return os.environ.get("TILEGYM_ALIAS_CUTILE", backend)
    return backend


def check_known(backend: str) -> str:
    """The canonical name.

    Raises:
        ValueError: nobody knows a backend of that name.
    """
    name = canonical_name(backend)
    known = availability.known_backends()
    if name not in known:
        raise ValueError(f"unknown backend {backend!r}; known backends: {', '.join(sorted(known))}")
    return name


def is_backend_available(backend: str) -> bool:
    """Whether the backend can run in this process; False for unknown names."""
    return availability.is_runnable(canonical_name(backend))


def get_available_backends() -> set[str]:
    """The backends that can run in this process (a copy; changing it changes nothing)."""
    return {name for name in availability.known_backends() if is_backend_available(name)}


def assert_backend_available(backend: str) -> None:
    """Raises ValueError unless the backend can run in this process."""
    if not is_backend_available(backend):
        raise ValueError(_unavailable(backend))


def _unavailable(backend: str) -> str:
    try:
        name = check_known(backend)
    except ValueError as error:
        return str(error)
    runnable = ", ".join(sorted(get_available_backends()))
    return f"backend {name!r} is not available here: {availability.remedy(name)}; available backends: {runnable}"


def get_current_backend() -> str:
    """The backend that ops use when the call does not name one.

    Raises:
        ValueError: CUTILE_TUTORIALS_BACKEND names a backend that cannot run.
    """
    return _scoped.get() or _process_wide or _initial_backend()


def set_backend(backend: str) -> None:
    """Makes `backend` the process-wide default. Scopes opened by use_backend keep theirs.

    Raises:
        ValueError: the backend is unknown or cannot run here.
    """
    global _process_wide
    assert_backend_available(backend)
    _process_wide = canonical_name(backend)
    _logger.info("backend set to %s", _process_wide)


@contextlib.contextmanager
def use_backend(backend: str) -> Iterator[None]:
    """Makes `backend` the current one inside the `with` block, for this thread or task only.

    Raises:
        ValueError: the backend is unknown or cannot run here.
    """
    assert_backend_available(backend)
    token = _scoped.set(canonical_name(backend))
    try:
        yield
    finally:
        _scoped.reset(token)


def _initial_backend() -> str:
    global _process_wide
    asked = os.environ.get("CUTILE_TUTORIALS_BACKEND")
    if asked is not None:
        if not is_backend_available(asked):
            raise ValueError(f"CUTILE_TUTORIALS_BACKEND: {_unavailable(asked)}")
        _process_wide = canonical_name(asked)
    else:
        _process_wide = "cutile-rs" if is_backend_available("cutile-rs") else "pytorch"
    return _process_wide


def get_available_triton_backend() -> str:
    """Which compiler Triton kernels go through: "nvt" for Tile IR (with ENABLE_TILE=1), else "oait"."""
    if os.environ.get("ENABLE_TILE") != "1":
        return "oait"
    try:
        found = importlib.util.find_spec("triton.backends.tileir") is not None
    except ImportError:
        found = False
    return "nvt" if found else "oait"
