"""The kernel library as a file: found, or built with cargo at first use."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from tilegym_rs import _core, settings
from tilegym_rs.errors import BuildError

__all__ = [
    "BuildError",
    "crate_folder",
    "crate_in_force",
    "ensure_library",
    "find_library",
    "find_toolchain",
    "prebuilt_folder",
]

_WARNING = 3


def ensure_library(*, always_build: bool = False) -> Path:
    """Path of the kernel library that belongs to the sources as they are now.

    The first call after a change of the sources runs cargo, which takes from seconds to minutes, with progress on
    standard error and the lock on Python released. `always_build` builds even where CUTILE_RS_AUTOBUILD is off.
    Raises BuildError with everything that is missing, or with the compiler's first error. A library that this process
    has loaded stays in force until reload(), which is said where that is another one.
    """
    path = ensure_library_file(always_build=always_build).path
    loading = sys.modules.get("tilegym_rs.library")
    if loading is not None and loading.loaded_path() not in {None, str(path)}:
        _core.log(_WARNING, f"kernel library {path}: takes effect at tilegym_rs.reload() or in the next process")
    return path


def ensure_library_file(*, always_build: bool = False) -> _core.LibraryFile:
    """The same with the fingerprint of the sources, and whether this call has built it."""
    return _core.ensure_library(
        crate=crate_folder() or Path(),
        prebuilt=prebuilt_folder(),
        cuda_folders=_folders_of("nvidia", "cu13"),
        libclang_folders=_folders_of("clang", "native"),
        always_build=always_build,
    )


def find_library() -> Path | None:
    """The library that ensure_library would return without building, or None. Raises BuildError for bad settings."""
    found = _core.find_library(crate=crate_folder() or Path(), prebuilt=prebuilt_folder())
    return found.path if found else None


def crate_folder() -> Path | None:
    """The crate inside the installed tilegym, found without importing it; None where it carries no sources.

    CUTILE_RS_KERNELS_DIR, which comes first, is read where the library is built.
    """
    for package in _folders_of("tilegym"):
        crate = package / "ops" / "cutile_rs" / "cutile_kernels"
        if (crate / "Cargo.toml").is_file():
            return crate
    return None


def crate_in_force() -> Path | None:
    """The crate that is built: CUTILE_RS_KERNELS_DIR, else the one of the installed tilegym."""
    chosen = str(settings.read("kernels_dir"))
    return Path(chosen) if chosen else crate_folder()


def prebuilt_folder() -> Path:
    """The folder beside the extension where a wheel carries a kernel library of its own."""
    return Path(_core.__file__).parent / "lib"


def find_toolchain() -> _core.Toolchain:
    """What a build needs from this machine, part by part."""
    return _core.find_toolchain(
        cuda_folders=_folders_of("nvidia", "cu13"), libclang_folders=_folders_of("clang", "native")
    )


def offer_tileiras() -> None:
    """Tells the runtime where the wheel of tileiras keeps it, which it looks into before PATH."""
    for folder in _folders_of("nvidia", "cu13", "bin"):
        _core.add_tileiras_folder(folder)


def _folders_of(package: str, *below: str) -> list[Path]:
    """Folders of a top-level package, or a folder below them, without importing it."""
    spec = importlib.util.find_spec(package)
    locations = (spec.submodule_search_locations if spec else None) or []
    return [Path(location).joinpath(*below) for location in locations]
