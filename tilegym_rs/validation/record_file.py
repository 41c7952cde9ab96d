"""Records in a file: JSON Lines, one record a line, on disk as soon as it is written (docs/file-formats.md)."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tilegym_rs.validation.records import SCHEMA, VERSION, Record


def start(path: Path) -> None:
    """Makes an empty file, and the folder for it. Raises OSError where that cannot be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8"):
        pass


def append(path: Path, test: str, number: int, values: Mapping[str, Any]) -> None:
    """Adds the record `number` of a test; several processes may append to one file."""
    line = {"schema": SCHEMA, "version": VERSION, "test": test, "number": number, **values}
    data = (json.dumps(_json(line), allow_nan=False) + "\n").encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        # The lock keeps lines whole where a file system splits a write.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sort(path: Path) -> None:
    """Puts the lines into the order of tests and numbers, whichever worker wrote first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    ordered = sorted(lines, key=_place)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text("".join(f"{line}\n" for line in ordered), encoding="utf-8")
    temporary.replace(path)


def _place(line: str) -> tuple[str, int]:
    values = json.loads(line)
    return values["test"], values["number"]


def read(path: Path) -> list[tuple[str, Record]]:
    """(test, record) of every line.

    Raises:
        ValueError: a line is no record, or one of a later version. The last line may be cut short, as by a crash.
        OSError: the file cannot be read.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    found = []
    for number, line in enumerate(lines, start=1):
        # A crash can cut the last line short, which then has no newline.
        if line and (number < len(lines) or _is_json(line)):
            found.append(_parsed(line, f"{path}, line {number}"))
    return found


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _parsed(line: str, place: str) -> tuple[str, Record]:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{place}: wanted a JSON object, got {line[:60]!r} ({error})") from None
    if not isinstance(values, dict) or values.get("schema") != SCHEMA:
        raise ValueError(f"{place}: wanted a record of schema {SCHEMA!r}, got {line[:60]!r}")
    version = values.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise ValueError(f"{place}: wanted version 1 to {VERSION} of the record, got {version!r}; update tilegym")
    try:
        return str(values["test"]), Record.from_plain(_from_json(values))
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"{place}: wanted the fields of a record, got {line[:60]!r} ({error})") from None


_WORDS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


def _json(value: Any) -> Any:
    """JSON has no infinities and no NaN: they become {"float": "inf"}."""
    if isinstance(value, float) and (value != value or value in (_WORDS["inf"], _WORDS["-inf"])):
        return {"float": str(value)}
    if isinstance(value, Mapping):
        return {key: _json(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(entry) for entry in value]
    return value


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"float"} and value["float"] in _WORDS:
            return _WORDS[value["float"]]
        return {key: _from_json(entry) for key, entry in value.items()}
    return [_from_json(entry) for entry in value] if isinstance(value, list) else value
