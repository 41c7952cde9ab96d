"""Reads the tuning spaces of an op, `<op>_kernel/tuning.json`: data, one row per candidate, per architecture.

    {"schema": "tilegym.tuning-space", "version": 1,
     "targets": {"sm_90": {"provenance": "measured on ...", "limits": "...", "spaces": {"default": [{"bm": 64}]}}}}

`provenance` says "unmeasured" or how the rows were found, `limits` what bounds them. `{"same_as": "matmul"}` in place
of `targets` takes another op's. The first row of a space is used untuned, so also on the CPU device.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

SCHEMA = "tilegym.tuning-space"
VERSION = 1
_FOLDER = Path(__file__).parent


@dataclasses.dataclass(frozen=True)
class Kind:
    """What values a field of a configuration takes: a text for messages, and the test."""

    wanted: str
    fits: Callable[[int], bool]


TILE = Kind("a power of two", lambda value: value >= 1 and value & (value - 1) == 0)
CTAS = Kind("-1 (automatic) or 1, 2, 4, 8 or 16", lambda value: value in (-1, 1, 2, 4, 8, 16))
OCCUPANCY = Kind("-1 (automatic) or 1 to 32", lambda value: value == -1 or 1 <= value <= 32)
COUNT = Kind("at least 1", lambda value: value >= 1)


def field(kind: Kind, **options: Any) -> Any:
    """A field of a configuration's dataclass."""
    return dataclasses.field(metadata={"kind": kind}, **options)


def fault(value: object, of: dataclasses.Field[Any]) -> str | None:
    """What a field wanted and got; None where the value fits."""
    if isinstance(value, bool) or not isinstance(value, int):
        return f"wanted a whole number, got {value!r}"
    kind: Kind | None = of.metadata.get("kind")
    return None if kind is None or kind.fits(value) else f"wanted {kind.wanted}, got {value}"


@functools.cache
def spaces_of(op: str, config: type, folder: Path = _FOLDER) -> dict[int, dict[str, tuple[Any, ...]]]:
    """Candidates per architecture (90 for sm_90) and space.

    Raises:
        ValueError: the file is missing or not as above; the text names file and key.
    """
    content, file = _content(op, folder)
    if "same_as" in content:
        content, file = _content(_text(content, "same_as", f"{file}: "), folder)
    targets = _object(content, "targets", f"{file}: ")
    return {_architecture(name, file): _spaces(targets, name, config, f"{file}: targets.") for name in targets}


def _content(op: str, folder: Path) -> tuple[dict[str, Any], Path]:
    file = folder / f"{op}_kernel" / "tuning.json"
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"{file}: wanted the tuning space of {op} as JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{file}: wanted an object, got {type(content).__name__}")  # noqa: TRY004  # of the file
    for name, wanted in (("schema", SCHEMA), ("version", VERSION)):
        if content.get(name) != wanted:
            raise ValueError(f"{file}: {name}: wanted {wanted!r}, got {content.get(name)!r}")
    return content, file


def _architecture(name: str, file: Path) -> int:
    found = re.fullmatch(r"sm_(\d+)", name)
    if found is None:
        raise ValueError(f"{file}: targets.{name}: wanted an architecture such as sm_90")
    return int(found[1])


def _spaces(targets: Mapping[str, Any], name: str, config: type, place: str) -> dict[str, tuple[Any, ...]]:
    target = _object(targets, name, place)
    place = f"{place}{name}."
    unknown = sorted(set(target) - {"provenance", "limits", "spaces"})
    if unknown:
        raise ValueError(f"{place}{unknown[0]}: wanted keys among provenance, limits and spaces")
    _text(target, "provenance", place)
    spaces = _object(target, "spaces", place)
    return {space: _rows(rows, config, f"{place}spaces.{space}") for space, rows in spaces.items()}


def _rows(rows: Any, config: type, place: str) -> tuple[Any, ...]:
    if not isinstance(rows, list) or not rows:
        raise ValueError(f"{place}: wanted at least one row, got {rows!r}")
    made = tuple(_row(row, config, f"{place}[{number}]") for number, row in enumerate(rows))
    if len(set(made)) < len(made):
        raise ValueError(f"{place}: wanted rows that differ, got one twice")
    return made


def _row(row: Any, config: type, place: str) -> Any:
    if not isinstance(row, dict):
        raise ValueError(f"{place}: wanted an object, got {row!r}")  # noqa: TRY004  # of the file
    fields = {field.name: field for field in dataclasses.fields(config)}
    for name, value in row.items():
        text = fault(value, fields[name]) if name in fields else f"wanted keys among {', '.join(fields)}"
        if text is not None:
            raise ValueError(f"{place}.{name}: {text}")
    for name, of in fields.items():
        if name not in row and of.default is dataclasses.MISSING:
            raise ValueError(f"{place}.{name}: wanted a value, got none")
    return config(**row)


def _object(parent: Mapping[str, Any], name: str, place: str) -> dict[str, Any]:
    value = parent.get(name)
    if not isinstance(value, dict) or not value:
        raise ValueError(f"{place}{name}: wanted an object, got {value!r}")
    return value


def _text(parent: Mapping[str, Any], name: str, place: str) -> str:
    value = parent.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{place}{name}: wanted a text, got {value!r}")
    return value
