"""Can a backend run in this process? One cheap, cached question per backend; nothing is built or compiled here."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import shutil
from collections.abc import Callable

from tilegym.backend import registry


def is_runnable(backend: str) -> bool:
    """Whether `backend` can run here; a name without a row below is runnable once something is registered for it."""
    requirement = _REQUIREMENTS.get(backend)
    if requirement is None:
        return backend in registry.backends()
    return requirement()


def known_backends() -> set[str]:
    """The names that are accepted: the established ones and all that have an implementation."""
    return set(_REQUIREMENTS) | registry.backends()


def remedy(backend: str) -> str:
    """What to do for a backend that cannot run here."""
    if backend == "cutile" and _is_cutile_hidden():
        return "unset TILEGYM_DISABLE_CUTILE"
    return _REMEDIES.get(backend, f"install what backend {backend!r} needs")


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


@functools.cache
def _pytorch() -> bool:
    return _installed("torch")


@functools.cache
def _cutile_rs() -> bool:
    if not _pytorch():
        return False
    try:
        importlib.import_module("tilegym_rs._core")
        framework = importlib.import_module("tilegym_rs")
        return bool(framework.library_available())
    except (ImportError, AttributeError):
        return False


def _needs(backend: str, module: str) -> bool:
    return backend in registry.backends() and _installed(module)


def _cutile() -> bool:
    """Its kernels run on a GPU, or on the CPU device that comes with cutile-rs."""
    return not _is_cutile_hidden() and _installed("cuda.tile") and _cutile_rs()


def _is_cutile_hidden() -> bool:
    return os.environ.get("TILEGYM_DISABLE_CUTILE") == "1"


def _tilecpp() -> bool:
    compiler = os.environ.get("TILECPP_NVCC_PATH", "nvcc")
    return "tilecpp" in registry.backends() and shutil.which(compiler) is not None


_REMEDIES = {
    "cutile": "pip install cuda-tile",
    "cutile-rs": "pip install './[cutile-rs]'",
    "pytorch": "pip install torch",
    "triton": "pip install triton",
    "tilecpp": "install nvcc, or name it in TILECPP_NVCC_PATH",
}

_REQUIREMENTS: dict[str, Callable[[], bool]] = {
    "cutile-rs": _cutile_rs,
    "pytorch": _pytorch,
    "cutile": _cutile,
    "triton": lambda: _needs("triton", "triton"),
    "tilecpp": _tilecpp,
}
