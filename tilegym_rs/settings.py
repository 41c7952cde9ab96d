"""The settings: environment, then the project's tilegym-rs.toml, then the user's, then the default."""

from __future__ import annotations

import dataclasses

from tilegym_rs import _core

Value = bool | int | str


@dataclasses.dataclass(frozen=True)
class Setting:
    """A setting with the value in force and where that came from."""

    key: str
    variable: str
    doc: str
    value: Value
    origin: str
    """"environment", "project file", "user file" or "default"."""
    place: str
    """The variable or the file; empty for a default."""


def read(name: str) -> Value:
    """The value of a setting, by key or environment variable.

    The environment is read at every call, files once per process. Raises ValueError for an unknown name or a bad value.
    """
    value: Value = _core.read_setting(name)[0]
    return value


def read_all() -> list[Setting]:
    """Every setting there is, in the order of the table. Raises ValueError for a bad value."""
    return [Setting(key, variable, doc, *_core.read_setting(key)) for key, variable, doc in _core.setting_rows()]
