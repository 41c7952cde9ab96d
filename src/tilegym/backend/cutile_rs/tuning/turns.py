"""One search at a time for one subject, among threads and among processes; others wait and take its record."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from tilegym.backend.cutile_rs import utils
from tilegym.logger import get_logger

_logger = get_logger(__name__)
_LONGEST_WAIT = 120.0
_BETWEEN_LOOKS = 0.05

_threads: dict[str, threading.RLock] = {}
_guard = threading.Lock()


@contextlib.contextmanager
def turn(name: str, text: str, persistent: bool) -> Iterator[None]:
    """Holds the turn for a subject. Whoever has waited too long goes ahead: a search twice is no harm."""
    with _guard:
        lock = _threads.setdefault(text, threading.RLock())
    taken = lock.acquire(timeout=_LONGEST_WAIT)
    try:
        with _among_processes(name, text) if persistent else contextlib.nullcontext():
            yield
    finally:
        if taken:
            lock.release()


@contextlib.contextmanager
def _among_processes(name: str, text: str) -> Iterator[None]:
    path = _lock_file(text)
    descriptor = None if path is None else _locked(path, name)
    try:
        yield
    finally:
        if path is not None and descriptor is not None:
            with contextlib.suppress(OSError):
                path.unlink()  # while it is held: nobody else's is removed
            os.close(descriptor)


def _lock_file(text: str) -> Path | None:
    """In the folder that is written; None where there is none."""
    try:
        folder = Path(utils.extension().cache_folders()[-1]) / "tuning"
        folder.mkdir(mode=0o700, exist_ok=True)
    except (OSError, RuntimeError, ValueError):
        return None
    return folder / f"{sha256(text.encode()).hexdigest()}.lock"


def _locked(path: Path, name: str) -> int | None:
    """The open file, locked; None where it cannot be or another process keeps it for too long."""
    end, told = time.monotonic() + _LONGEST_WAIT, False
    while time.monotonic() < end:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return None
        if _take(descriptor, path):
            return descriptor
        os.close(descriptor)
        if not told:
            _logger.info("%s: another process is tuning it; waiting for its record", name)
            told = True
        time.sleep(_BETWEEN_LOOKS)
    _logger.warning("%s: another process has been tuning it for %.0f s; not waiting any longer", name, _LONGEST_WAIT)
    return None


def _take(descriptor: int, path: Path) -> bool:
    """Locks the file, where it still has its name: the last holder removes that."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(descriptor).st_ino == path.stat().st_ino
    except OSError:
        return False
