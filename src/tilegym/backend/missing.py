"""A module-level __getattr__ for packages whose items need a backend that may be absent."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NoReturn

from tilegym.backend import availability, selector


def backend_is_missing(subject: str, backend: str) -> ImportError:
    """The error of something that needs a backend which cannot run here."""
    remedy = availability.remedy(backend)
    return ImportError(f"{subject} needs the backend {backend!r}, which is not available: {remedy}")


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
            raise backend_is_missing(f"{package_name}.{name}", backend)
        raise AttributeError(f"module {package_name!r} has no attribute {name!r}")

    return missing
