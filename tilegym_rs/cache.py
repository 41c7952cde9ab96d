"""The cache of compiled kernels: what it did, and bundles of it to take elsewhere.

The settings cache, cache_dir, cache_max and cache_seeds govern it; docs/file-formats.md tells what lies in it.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True)
class Stats:
    """Events in this process: each look at one of the two levels is a hit or a miss."""

    hits: int
    misses: int
    stored: int
    evicted: int
    """Entries removed to stay below cache_max, the least recently used first."""
    broken: int
    """Entries that were cut short or changed; they are compiled anew and replaced."""
    untrusted: int
    """Entries not used because somebody else could have written them."""
    unwritable: int
    """Entries that could not be stored."""


def stats() -> Stats:
    """Events in this process."""
    from tilegym_rs import _core

    return Stats(**_core.cache_counts())


def totals() -> Stats:
    """Events in all processes that have ended, as the cache folder remembers them."""
    from tilegym_rs import _core

    return Stats(**_core.cache_totals())


def contents() -> dict[str, Any]:
    """Folders that are read, the one that is written, and its number of entries and bytes."""
    from tilegym_rs import _core

    found = _core.cache_contents()
    return {
        "folders": [str(folder) for folder in found.folders],
        "written": str(found.written),
        "entries": found.entries,
        "bytes": found.bytes,
    }


def clear() -> int:
    """Removes every compiled kernel and all kept bytecode; returns how many files. Loaded kernels stay."""
    from tilegym_rs import _core

    return _core.clear_cache()


def export_bundle(path: Path) -> int:
    """Writes every good entry into a bundle; returns their number. Raises OSError where the file cannot be written."""
    from tilegym_rs import _core, bundles

    return bundles.write_bundle(path, _core.all_cache_entries())


def import_bundle(path: Path) -> int:
    """Stores the entries of a bundle in the cache; returns their number.

    Raises ValueError for a file that is no bundle of this version or holds a broken entry; then nothing is stored.
    Raises BuildError where the cache cannot be written.
    """
    from tilegym_rs import _core, bundles

    entries = bundles.read_bundle(path)
    for entry in entries:
        _core.import_cache_entry(entry)
    return len(entries)


def front_path() -> Path:
    """The caching front of tileiras that this package carries."""
    from tilegym_rs import _core

    return Path(_core.__file__).parent / "bin" / "tileiras"
