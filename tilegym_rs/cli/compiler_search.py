"""The tileiras compiler that would be used here, and what it can do."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

_SECONDS = 60


def examine_tileiras(chosen: str) -> dict[str, object]:
    """`path`, where it came from, its release, the bytecode versions it takes and the targets it compiles for.

    Args:
        chosen: the setting; it decides where it is set.
    """
    for place, path in _places(chosen):
        if path.is_file() and os.access(path, os.X_OK):
            return {"path": str(path), "found_in": place, **_abilities(path)}
    return {"path": None, "found_in": None, "version": None, "bytecode_versions": [], "targets": []}


def _places(chosen: str) -> Iterator[tuple[str, Path]]:
    if chosen:
        yield "CUTILE_TILEIRAS_PATH", Path(chosen)
        return
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations if spec else None) or ():
        yield "wheel nvidia-cuda-tileiras", Path(root) / "cu13" / "bin" / "tileiras"
    if found := shutil.which("tileiras"):
        yield "PATH", Path(found)


def _abilities(path: Path) -> dict[str, object]:
    release = re.search(r"release ([\d.]+, V[\d.]+)", _ask(path, "--version"))
    return {
        "version": release.group(1) if release else None,
        "bytecode_versions": re.findall(r"^\d+\.\d+$", _ask(path, "--list-versions"), re.MULTILINE),
        "targets": re.findall(r"^\s*=(sm_\d+\w*)", _ask(path, "--help"), re.MULTILINE),
    }


def _ask(path: Path, option: str) -> str:
    """What it prints; empty where it fails: an older one does not know every option."""
    try:
        return subprocess.run([path, option], capture_output=True, text=True, timeout=_SECONDS, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
