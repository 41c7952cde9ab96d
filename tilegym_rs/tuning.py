"""Records of tuning on disk: which configuration of a kernel was the fastest, for what, where, and how that was found.

A record is an entry of the cache of compiled kernels, kind "tuning" (docs/file-formats.md), so the same rules hold:
published whole or not at all, under a checksum, read from trusted folders only, a broken one ignored and counted.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SCHEMA = "tilegym-rs.tuning"
VERSION = 1
_KIND = "tuning"
_SUFFIX = f".{_KIND}"


@dataclasses.dataclass(frozen=True)
class Subject:
    """What a record is about. Every field is a JSON value; a choice holds for equal subjects and for no others.

    Attributes:
        op: the kernel's name.
        key: what decides the choice, such as shapes, dtypes and strides.
        device: the GPU: name, architecture, multiprocessors.
        toolchain: versions of what made the machine code.
        candidates: the configurations, in order.
    """

    op: str
    key: Any
    device: dict[str, Any]
    toolchain: dict[str, Any]
    candidates: list[Any]

    def entry_key(self) -> str:
        """The text that names the cache entry."""
        return _dumped({"schema": SCHEMA, "version": VERSION, **dataclasses.asdict(self)})


@dataclasses.dataclass(frozen=True)
class Trial:
    """One candidate: the median of its times in ms, or None and the reason why it cannot be used."""

    milliseconds: float | None
    failure: str | None = None


@dataclasses.dataclass(frozen=True)
class Record:
    """A finished search.

    Attributes:
        subject: what it is about.
        best: index of the chosen candidate.
        trials: one per candidate.
        tensors: shape, dtype and strides of each tensor of the timed launches, where they are known.
        method: how the times were taken.
        made: when and with which versions.
    """

    subject: Subject
    best: int
    trials: list[Trial]
    tensors: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    method: dict[str, Any] = dataclasses.field(default_factory=dict)
    made: dict[str, Any] = dataclasses.field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The record as docs/file-formats.md describes it."""
        fields = dataclasses.asdict(self)
        subject, trials = fields.pop("subject"), fields.pop("trials")
        candidates = [
            {"config": config, "ms": trial["milliseconds"], "failure": trial["failure"]}
            for config, trial in zip(subject.pop("candidates"), trials, strict=True)
        ]
        return {"schema": SCHEMA, "version": VERSION, **subject, "candidates": candidates, **fields}

    @classmethod
    def from_json(cls, fields: Any) -> Record:
        """Raises ValueError naming what is not as docs/file-formats.md describes it."""
        _expect(isinstance(fields, dict), "wanted a JSON object")
        _expect(fields.get("schema") == SCHEMA, f"schema: wanted {SCHEMA!r}, got {fields.get('schema')!r}")
        _expect(fields.get("version") == VERSION, f"version: wanted {VERSION}, got {fields.get('version')!r}")
        for name, kind in _FIELDS.items():
            _expect(isinstance(fields.get(name), kind), f"{name}: wanted {kind.__name__}, got {fields.get(name)!r}")
        rows = fields["candidates"]
        _expect(all(isinstance(row, dict) and "config" in row for row in rows), "candidates: wanted config in each")
        trials = [Trial(row.get("ms"), row.get("failure")) for row in rows]
        best = fields["best"]
        _expect(0 <= best < len(rows) and _is_time(trials[best].milliseconds), f"best: wanted a timed one, got {best}")
        configs = [row["config"] for row in rows]
        subject = Subject(fields["op"], fields.get("key"), fields["device"], fields["toolchain"], configs)
        return cls(subject, best, trials, fields["tensors"], fields["method"], fields["made"])


_FIELDS = {
    "op": str,
    "device": dict,
    "toolchain": dict,
    "candidates": list,
    "best": int,
    "tensors": list,
    "method": dict,
    "made": dict,
}


def _expect(condition: bool, text: str) -> None:
    if not condition:
        raise ValueError(f"tuning record: {text}")


def _is_time(milliseconds: Any) -> bool:
    return isinstance(milliseconds, (int, float)) and math.isfinite(milliseconds) and milliseconds >= 0


def _dumped(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def find(subject: Subject) -> Record | None:
    """The record of a subject; None where there is no good one."""
    from tilegym_rs import _core

    payload = _core.find_cache_entry(_core.CacheEntry(subject.entry_key(), _KIND, "", b"").name)
    if payload is None:
        return None
    try:
        record = Record.from_json(json.loads(payload))
    except ValueError as error:
        _warn(f"{subject.op}: a tuning record is not used: {error}")
        return None
    if record.subject != subject:
        _warn(f"{subject.op}: a tuning record is not used: it is about something else")
        return None
    return record


def store(record: Record) -> None:
    """Keeps a record; one that cannot be written is counted and said once, and the choice holds in this process."""
    from tilegym_rs import _core

    subject = record.subject
    chosen = f"op={subject.op}\ndevice={subject.device.get('name')}\nbest={_dumped(subject.candidates[record.best])}\n"
    payload = (json.dumps(record.to_json(), indent=1, allow_nan=False) + "\n").encode()
    _core.store_cache_entry(_core.CacheEntry(subject.entry_key(), _KIND, chosen, payload))


def records(op: str | None = None) -> list[Record]:
    """Every good record, or those of one op: by op, then by key."""
    return sorted((record for _, record in _stored(op)), key=lambda r: (r.subject.op, r.subject.entry_key()))


def _stored(op: str | None) -> Iterable[tuple[str, Record]]:
    from tilegym_rs import _core

    for entry in _core.all_cache_entries(_SUFFIX):
        try:
            record = Record.from_json(json.loads(entry.payload))
        except ValueError as error:
            _warn(f"cache entry '{entry.name}': {error}")
            continue
        if op in (None, record.subject.op):
            yield entry.name, record


def clear(op: str | None = None, key: Any = None) -> int:
    """Removes records from the folder that is written: all, those of an op, of a key, or both; returns how many."""
    from tilegym_rs import _core

    chosen = [name for name, record in _stored(op) if key in (None, record.subject.key)]
    return sum(_core.remove_cache_entry(name) for name in chosen)


def export(path: Path, op: str | None = None) -> int:
    """Writes the records into one JSON file; returns how many. Raises OSError where it cannot be written."""
    chosen = [record.to_json() for record in records(op)]
    path.write_text(json.dumps({"schema": f"{SCHEMA}s", "version": VERSION, "records": chosen}, indent=1) + "\n")
    return len(chosen)


def import_file(path: Path) -> int:
    """Stores the records of an exported file; returns how many.

    Raises ValueError for a file that is none or holds a bad record; then nothing is stored.
    """
    try:
        content = json.loads(path.read_text())
        _expect(isinstance(content, dict) and content.get("schema") == f"{SCHEMA}s", f"wanted schema '{SCHEMA}s'")
        _expect(content.get("version") == VERSION, f"version: wanted {VERSION}, got {content.get('version')!r}")
        found = [Record.from_json(fields) for fields in content.get("records", [])]
        for record in found:
            record.subject.entry_key()  # no JSON has NaN
    except (OSError, ValueError) as error:
        raise ValueError(f"'{path}': wanted a file made by `tilegym-rs tune export`: {error}") from error
    for record in found:
        store(record)
    return len(found)


def _warn(text: str) -> None:
    from tilegym_rs import _core

    _core.log(3, text)
