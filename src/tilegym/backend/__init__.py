"""Which implementation of an op runs: the selector knows the backends, the dispatcher the implementations."""

from __future__ import annotations

from tilegym.backend.dispatcher import (
    dispatch,
    get_available_backends_for_op,
    get_registry_info,
    has_backend_impl,
    print_registry_info,
    register_impl,
)
from tilegym.backend.missing import make_missing_backend_handler
from tilegym.backend.selector import (
    assert_backend_available,
    get_available_backends,
    get_available_triton_backend,
    get_current_backend,
    is_backend_available,
    set_backend,
    use_backend,
)

__all__ = [
    "assert_backend_available",
    "dispatch",
    "get_available_backends",
    "get_available_backends_for_op",
    "get_available_triton_backend",
    "get_current_backend",
    "get_registry_info",
    "has_backend_impl",
    "is_backend_available",
    "make_missing_backend_handler",
    "print_registry_info",
    "register_impl",
    "set_backend",
    "use_backend",
]
