"""The kernel library and the CPU device of this process, loaded at first use."""

from __future__ import annotations

import functools
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tilegym_rs.errors import BuildError, KernelError

if TYPE_CHECKING:
    from tilegym_rs import _core

STAND_IN_NAME = "libtilegym_cpu_driver.so"

_OF_THE_BUILD = ("autobuild", "kernels_dir", "features")
_RELOAD = "tilegym_rs.reload() is called or a new process starts"
_OPTIONS = ("target", "threads", "order", "checks")

_lock = threading.Lock()
_loaded: _core.KernelLibrary | None = None


def library() -> _core.KernelLibrary:
    """The kernel library of this process; each op is an attribute, `library().softmax(out, x, block_size=1024)`.

    The first call loads it, and builds it with cargo where it is missing or stale. Threads that call at once share one
    build.

    Raises:
        BuildError: it has to be built and cannot be.
        KernelError: the file found is not a kernel library of this version, or the stand-in driver is missing.
        ImportError: the package was installed without its extension.
    """
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _load()
    return _loaded


def _load() -> _core.KernelLibrary:
    from tilegym_rs import _core, build, hot_reload, settings

    build.offer_tileiras()
    file = build.ensure_library_file()
    loaded = _core.KernelLibrary(file.path, stand_in_path(), file.source_fingerprint)
    _configure(loaded.cpu_device)
    _hold_settings(_OF_THE_BUILD, _RELOAD)
    if settings.read("watch"):
        hot_reload.watch()
    return loaded


def _configure(device: _core.CpuDevice) -> None:
    """Hands the settings of files to the device, which reads the environment by itself."""
    from tilegym_rs import _core

    for name in _OPTIONS:
        value, origin, _ = _core.read_setting(name)
        if origin in {"project file", "user file"}:
            device.configure(name, str(value))
    _hold_settings((*_OPTIONS, "watch"), "a new process starts")


def _hold_settings(names: tuple[str, ...], until: str) -> None:
    """Says what a loaded library has taken up, so that a later change is warned of."""
    from tilegym_rs import _core

    for name in names:
        _core.hold_setting(name, until)


def replace(file: _core.LibraryFile) -> _core.KernelLibrary:
    """Makes a library the one of this process, for the ops that callers hold as well."""
    global _loaded
    from tilegym_rs import _core

    with _lock:
        old = _loaded
        if old is not None and old.path == str(file.path):
            return old
        fresh = _core.KernelLibrary(file.path, stand_in_path(), file.source_fingerprint)
        if old is not None:
            _core.replace_library(old, fresh)
        _loaded = fresh
        _hold_settings(_OF_THE_BUILD, _RELOAD)
        library_available.cache_clear()
        return fresh


def loaded_path() -> str | None:
    """The file of the library that this process has loaded."""
    return None if _loaded is None else _loaded.path


def stand_in_path() -> Path:
    """The CPU device's driver, which the package's installation puts beside the extension.

    Raises:
        KernelError: it is not there.
    """
    from tilegym_rs import build

    path = build.prebuilt_folder() / STAND_IN_NAME
    if path.is_file():
        return path
    raise KernelError(
        f"CPU device: wanted the stand-in driver at '{path}', found no file; install the package again with "
        "pip install './[cutile-rs]'"
    )


def counters() -> _core.Counters:
    """Launches and compilations since the library was loaded; all zero before that."""
    from tilegym_rs import _core

    return _loaded.counters() if _loaded is not None else _core.Counters()


def last_error() -> str:
    """Why the calling thread's last failed call of the kernel library failed; empty where there was none."""
    return _loaded.last_error() if _loaded is not None else ""


@functools.cache
def library_available() -> bool:
    """Whether library() can succeed: it is loaded, its file is fresh, or everything that builds it is there.

    Builds nothing. The answer is kept for the process.
    """
    if _loaded is not None:
        return True
    try:
        from tilegym_rs import build, settings

        stand_in_path()
        if build.find_library() is not None:
            return True
        return bool(settings.read("autobuild")) and all(check.found for check in build.find_toolchain().checks)
    except (ImportError, ValueError, BuildError, KernelError):
        return False


@functools.cache
def cpu_device() -> _core.CpuDevice:
    """The CPU device, without a kernel library. Raises KernelError where its driver is missing or broken."""
    from tilegym_rs import _core

    device = _core.CpuDevice(stand_in_path())
    _configure(device)
    return device


def sm_count(device_index: int = -1) -> int:
    """Multiprocessors of a device: a CUDA ordinal, or -1 for the GPU that the CPU device stands in for."""
    if device_index < 0:
        return cpu_device().target.multiprocessors
    import torch

    return int(torch.cuda.get_device_properties(device_index).multi_processor_count)


def cpu_target() -> str:
    """The architecture of the GPU that the CPU device stands in for, such as "sm_90"."""
    return f"sm_{cpu_device().target.compute_capability}"
