from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tilegym_rs import _core, settings


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with no settings but those that the test makes."""
    for each in _core.setting_rows():
        monkeypatch.delenv(each[1], raising=False)
    monkeypatch.delenv("TILEGYM_LOG_LEVEL", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    _core.forget_setting_files()
    yield tmp_path
    _core.forget_setting_files()


def test_values_have_python_types(project: Path) -> None:
    assert settings.read("autobuild") is True
    assert settings.read("threads") == 0
    assert settings.read("cache_max") == 2 * 1024**3
    assert settings.read("target") == "sm_90"


def test_environment_change_takes_effect_at_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTILE_RS_AUTOBUILD", "0")
    assert settings.read("CUTILE_RS_AUTOBUILD") is False
    monkeypatch.setenv("CUTILE_RS_AUTOBUILD", "1")
    assert settings.read("CUTILE_RS_AUTOBUILD") is True


def test_every_setting_tells_where_it_came_from(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = project / "tilegym-rs.toml"
    file.write_text("threads = 3\n")
    monkeypatch.setenv("TILEGYM_RS_DEVICE", "cpu")
    found = {each.key: each for each in settings.read_all()}
    assert (found["threads"].value, found["threads"].origin, found["threads"].place) == (3, "project file", str(file))
    assert (found["device"].origin, found["device"].place) == ("environment", "TILEGYM_RS_DEVICE")
    assert found["log"].origin == "default"
    assert all(each.doc for each in found.values())


def test_bad_value_is_a_value_error_with_variable_wanted_and_got(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEGYM_RS_THREADS", "-2")
    with pytest.raises(ValueError, match="TILEGYM_RS_THREADS: wanted a whole number, 0 or more, got '-2'"):
        settings.read("threads")


def test_unknown_name_is_a_value_error(project: Path) -> None:
    with pytest.raises(ValueError, match="got 'colour'"):
        settings.read("colour")
