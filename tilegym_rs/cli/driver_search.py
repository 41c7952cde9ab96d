"""Which CUDA driver this machine would load, and the stand-in beside it."""

from __future__ import annotations

import ctypes
from pathlib import Path

_LIBRARY = "libcuda.so.1"
_STUB = 34  # CUDA_ERROR_STUB_LIBRARY: what the toolkit's empty driver answers to everything


def examine_driver(stand_in: Path) -> dict[str, object]:
    """`kind` ("real", "stub", "stand-in" or "none"), `path` and `version` of the driver; `stand_in.path`."""
    found: dict[str, object] = {"kind": "none", "path": None, "version": None}
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError:
        pass
    else:
        path = _mapped_path(stand_in)
        found = {"kind": _kind(library, path, stand_in), "path": str(path), "version": _version(library)}
    return found | {"stand_in": {"path": str(stand_in) if stand_in.is_file() else None}}


def _mapped_path(stand_in: Path) -> Path | None:
    """Where the loaded libcuda lies: the loader's search leaves its answer in the process's map only.

    The stand-in appears there under its own name, whatever link led to it.
    """
    mapped = {Path(line.split(maxsplit=5)[-1]) for line in Path("/proc/self/maps").read_text().splitlines()}
    drivers = [path for path in mapped if path.name.startswith("libcuda.so")]
    return next(iter(drivers), stand_in.resolve() if stand_in.resolve() in mapped else None)


def _kind(library: ctypes.CDLL, path: Path | None, stand_in: Path) -> str:
    if path is not None and stand_in.is_file() and path.resolve() == stand_in.resolve():
        return "stand-in"
    return "stub" if library.cuInit(0) == _STUB else "real"


def _version(library: ctypes.CDLL) -> str | None:
    number = ctypes.c_int(0)
    if library.cuDriverGetVersion(ctypes.byref(number)) != 0:
        return None
    return f"{number.value // 1000}.{number.value % 1000 // 10}"
