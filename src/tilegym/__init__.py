"""Tile kernels written in Rust, called from PyTorch, behind one set of ops with interchangeable backends.

The import is light: PyTorch, the kernel library and the extensions are loaded at the first use of an op.

Example:
    >>> import torch, tilegym
    >>> tilegym.ops.softmax(torch.randn(4, 1000))  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from types import ModuleType

from tilegym import backend
from tilegym._shadowing import warn_when_shadowed
from tilegym.backend import (
    assert_backend_available,
    get_available_backends,
    get_available_backends_for_op,
    get_current_backend,
    get_registry_info,
    has_backend_impl,
    is_backend_available,
    print_registry_info,
    set_backend,
    use_backend,
)
from tilegym.logger import get_logger, set_env_log_level, set_log_level, warn_once

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "assert_backend_available",
    "backend",
    "get_available_backends",
    "get_available_backends_for_op",
    "get_current_backend",
    "get_logger",
    "get_registry_info",
    "has_backend_impl",
    "is_backend_available",
    "ops",
    "print_registry_info",
    "set_backend",
    "set_env_log_level",
    "set_log_level",
    "use_backend",
    "warn_once",
]


def __getattr__(name: str) -> ModuleType:
    if name == "ops":
        return importlib.import_module("tilegym.ops")
    raise AttributeError(f"module 'tilegym' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


warn_when_shadowed()
