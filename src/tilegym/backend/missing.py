"""A module-level __getattr__ for packages whose items need a backend that may be absent."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NoReturn

from tilegym.backend import selector

_REMEDIES = {
    "cutile": "pip install cuda-tile",
    "cutile-rs": "pip install './[cutile-rs]'",
    "triton": "pip install triton",
}


def make_missing_backend_handler(
    package_name: str, available_items: Collection[str], backend: str = "cutile"
) -> Callable[[str], NoReturn]:
    """Makes the `__getattr__` of a package which offers `available_items` only where `backend` runs.

    Returns:
        A function that raises ImportError with the remedy for those items while the backend is absent, and
        AttributeError for any other name.
    """

    def missing(name: str) -> NoReturn:
        if name in available_items and not selector.is_backend_available(backend):
            remedy = _REMEDIES.get(backend, f"install what backend {backend!r} needs")
            raise ImportError(f"{package_name}.{name} needs the backend {backend!r}, which is not available: {remedy}")
        raise AttributeError(f"module {package_name!r} has no attribute {name!r}")

    return missing
