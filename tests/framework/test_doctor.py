from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_toolchain import FakeToolchain

from tilegym_rs.cli import main
from tilegym_rs.cli.compiler_search import examine_tileiras
from tilegym_rs.cli.doctor_command import as_text
from tilegym_rs.cli.examination import examine
from tilegym_rs.driver_search import examine_driver


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeToolchain:
    monkeypatch.setenv("TILEGYM_RS_DEVICE", "cpu")
    return FakeToolchain(tmp_path, monkeypatch)


def test_report_as_json(fake: FakeToolchain, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["doctor", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert status == 0, report["problems"]
    assert report["settings"]["device"] == {
        "value": "cpu",
        "origin": "environment",
        "place": "TILEGYM_RS_DEVICE",
        "variable": "TILEGYM_RS_DEVICE",
    }
    assert report["driver"]["kind"] in {"real", "stub", "stand-in", "none"}
    assert set(report["driver"]) >= {"path", "stand_in"}
    assert report["cache"]["folders"] == [str(fake.cache)]
    assert report["library"]["state"] == "to be built at first use"
    assert report["build"]["libclang"] == {"found": True, "text": str(fake.root / "clang")}


def test_missing_part_is_a_problem_with_its_remedy(
    fake: FakeToolchain, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUDA_TOOLKIT_PATH", str(fake.root / "clang"))
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "problems\n  CUDA headers: wanted a folder with include/cuda.h" in said
    assert "correct or unset CUDA_TOOLKIT_PATH" in said


def test_bad_setting_is_a_problem_and_hides_nothing_else(
    fake: FakeToolchain, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TILEGYM_RS_THREADS", "many")
    assert main(["doctor", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["problems"] == ["TILEGYM_RS_THREADS: wanted a whole number, 0 or more, got 'many'"]
    assert report["library"]["state"] == "to be built at first use"


def test_nothing_is_missing_where_the_library_is_there(
    fake: FakeToolchain, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build"]) == 0
    path = capsys.readouterr().out.strip()
    monkeypatch.setenv("LIBCLANG_PATH", str(fake.root / "empty"))
    assert main(["doctor", "--json"]) == 0
    library = json.loads(capsys.readouterr().out)["library"]
    assert (library["state"], library["path"]) == ("ready", path)


_TILEIRAS = """#!/bin/sh
case $1 in
--version) echo "Cuda compilation tools, release 13.5, V13.5.37";;
--list-versions) [ -n "$OLD" ] && exit 1; printf '13.1\n13.2\n';;
--help) printf '  --gpu-name=<value>\n    =sm_90    -  SM 90\n    =sm_100a  -  SM 100\n';;
esac
"""


@pytest.fixture
def tileiras(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "tileiras"
    path.write_text(_TILEIRAS)
    path.chmod(0o755)
    monkeypatch.setenv("CUTILE_TILEIRAS_PATH", str(path))
    return path


def test_compiler_tells_what_it_can_do(tileiras: Path) -> None:
    assert examine_tileiras(str(tileiras)) == {
        "path": str(tileiras),
        "found_in": "CUTILE_TILEIRAS_PATH",
        "version": "13.5, V13.5.37",
        "bytecode_versions": ["13.1", "13.2"],
        "targets": ["sm_90", "sm_100a"],
    }


def test_compiler_that_does_not_list_its_versions_has_none(tileiras: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLD", "1")
    found = examine_tileiras(str(tileiras))
    assert (found["bytecode_versions"], found["targets"]) == ([], ["sm_90", "sm_100a"])


def test_chosen_compiler_that_is_not_there_is_not_replaced_by_another(tmp_path: Path) -> None:
    assert examine_tileiras(str(tmp_path / "absent"))["path"] is None


def test_report_covers_what_a_run_depends_on(fake: FakeToolchain, tileiras: Path) -> None:
    report = examine()
    assert report["problems"] == []
    assert report["tileiras"]["path"] == str(tileiras)
    assert report["device"]["default"] == "cpu"
    assert report["device"]["cpu"]["stands_in_for"] == "sm_90"
    assert report["cache"]["written_to"] == str(fake.cache)
    assert report["build"]["cargo"]["text"] == f"{fake.root}/bin/cargo with rustc 1.95.0"
    assert report["library"]["sources"] == str(fake.root / "ops" / "cutile_kernels")
    assert list(report["driver"]["search"])[-1] == "system's library cache"
    assert set(report["licences"]) == {"text", "parts"}


def test_text_shows_values_and_origins() -> None:
    report = {
        "settings": {"device": {"value": "cpu", "origin": "environment", "place": "TILEGYM_RS_DEVICE"}},
        "driver": {"kind": "none", "path": None, "stand_in": {"path": "/x/lib"}, "a name longer than its column": 1},
        "problems": [],
    }
    assert as_text(report).splitlines() == [
        "settings",
        "  device                cpu          (environment, TILEGYM_RS_DEVICE)",
        "driver",
        "  kind                  none",
        "  path                  none",
        "  stand_in",
        "    path                /x/lib",
        "  a name longer than its column 1",
        "no problems: ops can run here",
    ]


def test_driver_search_tells_where_the_stand_in_is(tmp_path: Path) -> None:
    stand_in = tmp_path / "libtilegym_cpu_driver.so"
    assert examine_driver(stand_in)["stand_in"] == {"path": None}
    stand_in.touch()
    assert examine_driver(stand_in)["stand_in"] == {"path": str(stand_in)}


def test_print_environment_gives_shell_words(fake: FakeToolchain, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--print-environment"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"export CARGO_TARGET_DIR={fake.cache}/target" in lines
    assert f"export CUDA_TOOLKIT_PATH={fake.root}/cuda" in lines
    assert fake.runs() == []


def test_failing_command_prints_one_line_and_returns_one(
    fake: FakeToolchain, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUTILE_RS_KERNELS_DIR", str(fake.root / "nowhere"))
    assert main(["build"]) == 1
    assert capsys.readouterr().err.startswith("tilegym-rs: kernel sources: wanted a crate folder")
