"""Which CUDA driver this machine would load and why, and the stand-in beside it."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

from tilegym_rs.library import STAND_IN_NAME

LIBRARY = "libcuda.so.1"
_STUB = 34  # CUDA_ERROR_STUB_LIBRARY: what the toolkit's empty driver answers to everything
_CACHE_PROGRAMS = ("ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig")


def examine_driver(stand_in: Path) -> dict[str, object]:
    """What loading libcuda.so.1 by name gives here.

    Returns:
        `kind` ("real", "stub", "stand-in" or "none"), `path`, `version` and `error` of the driver; `search`: the places
        in the order of the loader, each with the library it holds or None; `stand_in.path`.
    """
    found: dict[str, object] = {"kind": "none", "path": None, "version": None, "error": None}
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        found["error"] = str(error)
    else:
        path = _mapped_path()
        found |= {"kind": _kind(library, path), "path": str(path), "version": _version(library)}
    return found | {"search": search_order(), "stand_in": {"path": str(stand_in) if stand_in.is_file() else None}}


def search_order() -> dict[str, str | None]:
    """Where the loader looks for the driver, in its order, and what lies there."""
    places: dict[str, str | None] = {}
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if folder:
            path = Path(folder) / LIBRARY
            places[f"LD_LIBRARY_PATH {folder}"] = str(path) if path.exists() else None
    places["system's library cache"] = _in_loader_cache()
    return places


def stub_refusal(driver: dict[str, object]) -> str:
    """Why a toolkit's stub is not used, with the places that were searched and the remedy."""
    search = driver["search"]
    assert isinstance(search, dict)
    order = "; ".join(f"{place}: {path or 'nothing'}" for place, path in search.items())
    return (
        f"driver: wanted the {LIBRARY} of an NVIDIA driver, got the empty stub {driver['path']}, which a toolkit "
        f"brings for linking only; searched in this order: {order}; take the stub's folder off LD_LIBRARY_PATH, or set "
        "TILEGYM_RS_DEVICE=cpu for the CPU device"
    )


def _in_loader_cache() -> str | None:
    for program in _CACHE_PROGRAMS:
        try:
            listing = subprocess.run([program, "-p"], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            continue
        lines = (line.strip() for line in listing.splitlines())
        return next((line.split(" => ")[-1] for line in lines if line.startswith(f"{LIBRARY} ")), None)
    return None


def _mapped_path() -> Path | None:
    """Where the loaded libcuda lies: the loader's search leaves its answer in the process's map only.

    The stand-in appears there under its own name, whatever link led to it.
    """
    mapped = [Path(line.split(maxsplit=5)[-1]) for line in Path("/proc/self/maps").read_text().splitlines()]
    for name in ("libcuda.so", STAND_IN_NAME):
        for path in mapped:
            if path.name.startswith(name):
                return path
    return None


def _kind(library: ctypes.CDLL, path: Path | None) -> str:
    if path is not None and _is_stand_in(path):
        return "stand-in"
    try:
        return "stub" if library.cuInit(0) == _STUB else "real"
    except AttributeError:
        return "stub"


def _is_stand_in(path: Path) -> bool:
    """Whether the library has the private table of our driver, whatever its name."""
    from tilegym_rs import _core
    from tilegym_rs.errors import KernelError

    try:
        _core.CpuDevice(path)
    except KernelError:
        return False
    return True


def _version(library: ctypes.CDLL) -> str | None:
    number = ctypes.c_int(0)
    try:
        if library.cuDriverGetVersion(ctypes.byref(number)) != 0:
            return None
    except AttributeError:
        return None
    return f"{number.value // 1000}.{number.value % 1000 // 10}"
