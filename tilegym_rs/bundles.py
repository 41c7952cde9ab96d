"""Bundles of compiled kernels: a tar archive (gzip) of cache entries, each under its own checksum."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from tilegym_rs import _core

BUNDLE_VERSION = 1
_INDEX = "bundle.json"
# No entry comes near it; a crafted archive must not fill the memory.
_LARGEST_ENTRY = 1 << 30


def write_bundle(path: Path, entries: Iterable[_core.CacheEntry]) -> int:
    """Writes entries into a bundle; returns their number. The same entries give the same bytes.

    Raises OSError where the file cannot be written; what was there before then stays.
    """
    chosen = sorted(entries, key=lambda entry: entry.name)
    index = json.dumps({"format": "tilegym-rs bundle", "version": BUNDLE_VERSION, "entries": len(chosen)})
    with (
        _replaced(path) as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        _add(archive, _INDEX, index.encode())
        for entry in chosen:
            _add(archive, entry.name, entry.encode())
    return len(chosen)


@contextlib.contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes its place at the end, whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        unfinished.chmod(0o644)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o644
    archive.addfile(member, io.BytesIO(content))


def read_bundle(path: Path) -> list[_core.CacheEntry]:
    """The entries of a bundle, each checked. Raises ValueError for a file that is no bundle or holds a broken entry."""
    subject = f"bundle '{path}'"
    try:
        with tarfile.open(path, mode="r:gz") as archive:
            return list(_members(archive, subject))
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ValueError(f"{subject}: wanted an archive made by `tilegym-rs cache export` or `aot`: {error}") from error


def _members(archive: tarfile.TarFile, subject: str) -> Iterator[_core.CacheEntry]:
    from tilegym_rs import _core

    wanted = _read_index(archive, subject)
    found = 0
    for member in archive:
        content = _content(archive, member, subject)
        if member.name == _INDEX:
            continue
        try:
            entry = _core.CacheEntry.decode(content)
        except ValueError as error:
            raise ValueError(f"{subject}: '{member.name}': {error}") from None
        found += 1
        yield entry
    if found != wanted:
        raise ValueError(f"{subject}: wanted the {wanted} entries that it announces, got {found}; copy it again")


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, subject: str) -> bytes:
    file = archive.extractfile(member) if member.isreg() and member.size <= _LARGEST_ENTRY else None
    if file is None:
        raise ValueError(f"{subject}: '{member.name}' is not a file that a bundle may hold")
    return file.read()


def _read_index(archive: tarfile.TarFile, subject: str) -> int:
    """The number of entries that the bundle announces in its first member."""
    first = archive.next()
    try:
        index = json.loads(_content(archive, first, subject)) if first and first.name == _INDEX else {}
        version, entries = index.get("version"), index.get("entries")
    except (ValueError, AttributeError):
        version, entries = None, None
    if version != BUNDLE_VERSION or not isinstance(entries, int):
        raise ValueError(
            f"{subject}: wanted format version {BUNDLE_VERSION}, got {version}; make it anew with this tilegym"
        )
    return entries
