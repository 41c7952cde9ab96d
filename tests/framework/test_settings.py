from __future__ import annotations

import subprocess
import sys
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


def said_after(action: str, project: Path) -> str:
    """What a process says that takes up sm_90 and then acts."""
    script = (
        "import os; from tilegym_rs import _core; _core.hold_setting('TILEGYM_RS_TARGET', 'a new process starts'); "
        f"e = os.environ; {action}"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=project)
    return done.stderr


LATE = (
    "TILEGYM_RS_TARGET: changed to 'sm_100' when 'sm_90' was in use already, which stays in force until a new process "
    "starts"
)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("e['TILEGYM_RS_TARGET'] = 'sm_100'", 1),
        ("os.putenv('TILEGYM_RS_TARGET', 'sm_100')", 1),
        ("e['TILEGYM_RS_TARGET'] = 'sm_100'; e['TILEGYM_RS_TARGET'] = 'sm_90'; e['TILEGYM_RS_TARGET'] = 'sm_100'", 1),
        ("e['TILEGYM_RS_TARGET'] = 'sm_90'", 0),
        ("e['TILEGYM_RS_TARGET'] = 'nonsense'", 0),
        ("e['TILEGYM_RS_THREADS'] = '3'; e['UNRELATED'] = 'sm_100'", 0),
    ],
    ids=["changed", "below python", "once", "same", "bad value is told at its use", "others"],
)
def test_change_that_comes_too_late_is_said_once_by_name(project: Path, action: str, said: int) -> None:
    assert said_after(action, project).count(LATE) == said


def test_variable_removed_too_late_is_said_with_the_value_in_force(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEGYM_RS_TARGET", "sm_100")
    assert "TILEGYM_RS_TARGET: changed to 'sm_90' when 'sm_100'" in said_after("del e['TILEGYM_RS_TARGET']", project)


def test_settings_of_files_reach_the_cpu_device(project: Path) -> None:
    (project / "tilegym-rs.toml").write_text("target = 'sm_120'\n")
    script = "import tilegym_rs; print(tilegym_rs.cpu_target())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=project)
    assert done.stdout == "sm_120\n"
