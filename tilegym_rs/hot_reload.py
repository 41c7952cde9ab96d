"""Taking up edited kernels in the running process, on request or whenever the sources change."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from tilegym_rs.errors import BuildError, KernelError

if TYPE_CHECKING:
    from tilegym_rs import _core

WARNING, INFO = 3, 2


def reload() -> _core.KernelLibrary:
    """Builds the kernel library where its sources have changed, and makes every later call use it.

    Settings files are read anew. Ops and libraries that callers hold go to the new library; calls that are running end
    in the old one, which stays in the process. Where nothing has changed the loaded library is returned.

    Raises:
        BuildError: it has to be built and cannot be; the old library stays in force.
        KernelError: the new file is not a kernel library of this version; the old library stays in force.
    """
    from tilegym_rs import _core, build
    from tilegym_rs.library import library, loaded_path, replace

    _core.forget_setting_files()
    if loaded_path() is None:
        return library()
    return replace(build.ensure_library_file())


class Watch:
    """A thread that reloads the kernel library when its sources change, until stop() or the end of the `with` block.

    A build that fails is logged, and the library in force stays; the next change tries again.
    """

    def __init__(self, interval: float = 0.5) -> None:
        """Looks at the sources every `interval` seconds, and reloads when they have been at rest for as long."""
        self._interval = interval
        self._stopped = threading.Event()
        self._seen = _stamps()
        self._thread = threading.Thread(target=self._run, name="tilegym-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the watch; a build that is running goes on to its end."""
        self._stopped.set()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self) -> None:
        changed = False
        while not self._stopped.wait(self._interval):
            now = _stamps()
            at_rest = now == self._seen
            if changed and at_rest:
                changed = False
                _reload_or_log()
            elif not at_rest:
                self._seen, changed = now, True


def watch(interval: float = 0.5) -> Watch:
    """Starts to reload the kernel library whenever its sources change. TILEGYM_RS_WATCH=1 does so by itself.

    Args:
        interval: seconds between two looks at the sources.

    Example:
        >>> with tilegym_rs.watch():  # doctest: +SKIP
        ...     input("edit kernel.rs, then press return")
    """
    if interval <= 0:
        raise ValueError(f"watch: interval: wanted more than 0 seconds, got {interval}")
    return Watch(interval)


def _reload_or_log() -> None:
    from tilegym_rs import _core

    try:
        path = reload().path
    except (BuildError, KernelError, ValueError) as error:
        _core.log(WARNING, f"watch: the library in force stays: {error}")
    else:
        _core.log(INFO, f"watch: the kernel library in force is {path}")


def _stamps() -> dict[Path, tuple[int, int, int]]:
    """Every source with what changes when it is written. Only a hint: what is built is decided by content."""
    from tilegym_rs import _core, build

    stamps = {}
    with contextlib.suppress(BuildError, ValueError):
        for path in _core.source_files(build.crate_in_force() or Path()):
            with contextlib.suppress(OSError):
                status = path.stat()
                stamps[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return stamps
