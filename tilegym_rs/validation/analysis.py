"""reference/analysis.json of an op, wherever the op's implementation lies."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import json
from pathlib import Path
from typing import Any

BACKEND = "cutile-rs"


def kernel_folder(op: str) -> Path | None:
    """The folder `<op>_kernel` beside the module that implements the op for cutile-rs; None where there is none.

    Ops of other projects are found by the module in which they were registered.
    """
    return next((folder for folder in _candidates(op) if folder.is_dir()), None)


def path_of(op: str) -> Path | None:
    """The op's analysis.json, or None."""
    folder = kernel_folder(op)
    path = folder / "reference" / "analysis.json" if folder else None
    return path if path is not None and path.is_file() else None


def of(op: str) -> dict[str, Any]:
    """The contents; empty where there is no such file.

    Raises:
        ValueError: the file is no JSON object.
    """
    path = path_of(op)
    return _read(path, path.stat().st_mtime_ns) if path else {}


@functools.cache
def _read(path: Path, _changed: int) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: wanted JSON, got {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path}: wanted a JSON object, got {type(values).__name__}")  # noqa: TRY004
    return values


def _candidates(op: str) -> list[Path]:
    folders = []
    source = implementation_file(op)
    if source is not None:
        folders.append(source.parent)
    spec = importlib.util.find_spec("tilegym")
    roots = (spec.submodule_search_locations if spec else None) or []
    folders += [Path(root) / "ops" / "cutile_rs" for root in roots]
    return [folder / f"{op}_kernel" for folder in folders]


def implementation_file(op: str) -> Path | None:
    """The source file of the op's implementation for cutile-rs, or None where it is not loaded."""
    from tilegym.backend import registry

    implementation = registry.find(op, BACKEND)
    if implementation is None:
        return None
    try:
        return Path(inspect.getfile(inspect.unwrap(implementation)))
    except (TypeError, OSError):
        return None
