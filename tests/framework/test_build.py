from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_toolchain import FakeToolchain, is_running

from tilegym_rs import build


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeToolchain:
    return FakeToolchain(tmp_path, monkeypatch)


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def test_first_call_builds_and_the_second_starts_no_cargo(fake: FakeToolchain) -> None:
    path = build.ensure_library()
    assert path.read_text() == "library\n"
    assert path.is_relative_to(fake.cache)
    assert build.ensure_library() == path
    assert len(fake.runs()) == 1


def test_find_library_builds_nothing(fake: FakeToolchain) -> None:
    assert build.find_library() is None
    path = build.ensure_library()
    assert build.find_library() == path
    assert len(fake.runs()) == 1


def test_edited_kernel_gives_another_library(fake: FakeToolchain) -> None:
    before = build.ensure_library()
    fake.kernel.write_text("const N: u32 = 2;")
    assert build.ensure_library() != before


def test_missing_cargo_is_a_build_error_with_its_remedy(fake: FakeToolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(fake.root / "empty"))
    with pytest.raises(build.BuildError, match=r"cargo and rustc: wanted version 1\.89 or later .*; install it with"):
        build.ensure_library()


def test_autobuild_off_is_a_build_error_unless_asked_for(fake: FakeToolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTILE_RS_AUTOBUILD", "0")
    with pytest.raises(build.BuildError, match="CUTILE_RS_AUTOBUILD is off; run `tilegym-rs build`"):
        build.ensure_library()
    assert build.ensure_library(always_build=True).is_file()


def test_failed_cargo_is_a_build_error_with_its_words(fake: FakeToolchain) -> None:
    fake.act("echo 'error: no space' >&2; exit 101")
    with pytest.raises(build.BuildError, match=r"(?s)exit status 101.*full log: .*\nerror: no space"):
        build.ensure_library()


def test_other_threads_run_while_cargo_does(fake: FakeToolchain) -> None:
    fake.act(f"while [ ! -e {fake.root}/go ]; do sleep 0.05; done")

    def release() -> None:
        wait_until(fake.runs)
        (fake.root / "go").touch()

    thread = threading.Thread(target=release)
    thread.start()
    assert build.ensure_library().is_file()
    thread.join()


def test_interrupt_ends_the_build_and_leaves_nothing_behind(fake: FakeToolchain) -> None:
    fake.act("sleep 600")
    process = fake.start()
    wait_until(fake.runs)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in said
    wait_until(lambda: not is_running(fake.runs()[0]))
    fake.act(":")
    assert build.ensure_library().is_file()


def test_killed_builder_does_not_stand_in_the_way(fake: FakeToolchain) -> None:
    fake.act("sleep 600")
    process = fake.start()
    wait_until(fake.runs)
    process.kill()
    process.communicate(timeout=60)
    fake.act(":")
    assert build.ensure_library().is_file()
    assert len(fake.runs()) == 2


def test_killed_builder_takes_cargo_and_its_compilers_along(fake: FakeToolchain) -> None:
    fake.act(f"sleep 600 & echo $! >> {fake.root}/runs; wait")
    process = fake.start()
    wait_until(lambda: len(fake.runs()) == 2)
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not any(is_running(each) for each in fake.runs()))


def test_parallel_workers_of_pytest_build_once(fake: FakeToolchain) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    fake.act("sleep 1")
    test = fake.root / "test_build_of_worker.py"
    test.write_text(
        "import pytest; from tilegym_rs import build\n"
        "@pytest.mark.parametrize('i', range(8))\n"
        "def test_library_is_there(i): assert build.ensure_library().is_file()\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "4", "-p", "no:cacheprovider", str(test)]
    done = subprocess.run(command, cwd=fake.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(fake.runs()) == 1


def test_of_many_processes_one_builds(fake: FakeToolchain) -> None:
    fake.act("sleep 1")
    processes = [fake.start() for _ in range(4)]
    answers = [process.communicate(timeout=120) for process in processes]
    assert len({output for output, _ in answers}) == 1, answers
    assert len(fake.runs()) == 1


def test_waiting_process_names_the_one_it_waits_for(fake: FakeToolchain) -> None:
    fake.act(f"while [ ! -e {fake.root}/go ]; do sleep 0.05; done")
    first = fake.start()
    wait_until(fake.runs)
    second = fake.start()
    assert second.stderr is not None
    line = second.stderr.readline()
    (fake.root / "go").touch()
    assert line.startswith(f"tilegym: waiting for process {first.pid} (")
    assert {each.wait(timeout=60) for each in (first, second)} == {0}
    first.communicate()
    second.communicate()


def test_crate_is_found_without_importing_tilegym() -> None:
    script = "import sys; from tilegym_rs import build; print(build.crate_folder()); sys.exit('tilegym' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (Path(answer.stdout.strip()) / "Cargo.lock").is_file()


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo on PATH")
def test_toolchain_of_this_machine_is_complete() -> None:
    checks = build.find_toolchain().checks
    assert [check.name for check in checks] == ["cargo", "C compiler", "libclang", "CUDA headers"]
    assert [check.text for check in checks if not check.found] == []
