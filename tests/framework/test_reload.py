"""Taking up another library in the running process, with fake libraries that build in milliseconds."""

from __future__ import annotations

import importlib
import threading
import time
from types import SimpleNamespace

import pytest
import torch
from fake_toolchain import FakeToolchain

import tilegym_rs
from tilegym_rs import BuildError, KernelError, build, hot_reload
from tilegym_rs import _core as core

loading = importlib.import_module("tilegym_rs.library")


@pytest.fixture
def twice(fake_kernels, compile_fake):
    """The fake kernels, and the same with another default factor and without the op `noop`."""
    return fake_kernels, compile_fake("fake_kernels.cc", "-DFAKE_FACTOR=3.0", "-DFAKE_NO_NOOP")


@pytest.fixture
def replaced(twice, fake_driver):
    """Loads the first library, takes what callers may hold of it, then replaces it with the second."""

    def replace(*names):
        old, fresh = (core.KernelLibrary(path, fake_driver) for path in twice)
        held = [getattr(old, name) for name in names]
        core.replace_library(old, fresh)
        return old, fresh, held

    return replace


def scaled(op) -> list[float]:
    x = torch.ones(2)
    out = torch.empty(2)
    op(out, x)
    return out.tolist()


def test_op_taken_before_goes_to_the_new_library(replaced):
    _, fresh, (scale,) = replaced("scale")
    launches = fresh.counters().launches
    assert scaled(scale) == [3.0, 3.0]
    assert fresh.counters().launches == launches + 1


def test_library_taken_before_hands_out_ops_of_the_new_one(replaced):
    old, _, _ = replaced()
    assert scaled(old.scale) == [3.0, 3.0]
    assert scaled(old.op("scale")) == [3.0, 3.0]


def test_op_that_is_gone_is_a_kernel_error_that_names_it(replaced):
    _, _, (noop,) = replaced("noop")
    with pytest.raises(KernelError, match="wanted the op 'noop', it has: scale"):
        noop(torch.ones(1, 1), torch.ones(1, 1), 1)


def test_chain_of_replacements_ends_at_the_last(twice, fake_driver):
    first, second = twice
    libraries = [core.KernelLibrary(path, fake_driver) for path in (first, second, first)]
    scale, noop = libraries[0].scale, libraries[0].noop
    core.replace_library(libraries[0], libraries[1])
    core.replace_library(libraries[1], libraries[2])
    assert scaled(scale) == [2.0, 2.0]
    noop(torch.ones(1, 1), torch.ones(1, 1), 1)


def test_replacing_a_library_by_itself_changes_nothing(fake_library):
    core.replace_library(fake_library, fake_library)
    assert scaled(fake_library.scale) == [2.0, 2.0]


def test_running_call_comes_to_its_end(twice, fake_driver):
    old, fresh = (core.KernelLibrary(path, fake_driver) for path in twice)
    before = old.counters().launches + fresh.counters().launches
    rest, ended = old.rest, []
    thread = threading.Thread(target=lambda: ended.append(rest(300)))
    thread.start()
    core.replace_library(old, fresh)
    rest(1)
    thread.join()
    assert ended == [None]
    assert old.counters().launches + fresh.counters().launches == before + 2


@pytest.fixture
def project(tmp_path, monkeypatch, twice, fake_driver):
    """A crate that a fake cargo builds to the first library, or after `edit` to the second."""
    fake = FakeToolchain(tmp_path, monkeypatch)
    libraries = {"const N: u32 = 1;": twice[0], "const N: u32 = 2;": twice[1]}

    def write(text: str) -> None:
        fake.act_after(
            f"cp {libraries[text]} $made" if text in libraries else "echo 'error: expected item' >&2; exit 101"
        )
        fake.kernel.write_text(text)

    def unchecked(**options):
        """The fake libraries do not know what they were made from."""
        return SimpleNamespace(path=ensure(**options).path, source_fingerprint="")

    write("const N: u32 = 1;")
    ensure = build.ensure_library_file
    monkeypatch.setattr(build, "ensure_library_file", unchecked)
    monkeypatch.setattr(loading, "_loaded", None)
    monkeypatch.setattr(loading, "stand_in_path", lambda: fake_driver)
    fake.write = write
    yield fake
    loading.library_available.cache_clear()


def test_reload_builds_what_has_changed_and_nothing_else(project):
    scale = tilegym_rs.library().scale
    assert tilegym_rs.reload() is tilegym_rs.library()
    assert len(project.runs()) == 1
    project.write("const N: u32 = 2;")
    assert scaled(scale) == [2.0, 2.0]
    assert tilegym_rs.reload() is tilegym_rs.library()
    assert scaled(scale) == [3.0, 3.0]
    assert len(project.runs()) == 2


def test_build_says_that_the_loaded_library_stays(project, capfd):
    scale = tilegym_rs.library().scale
    assert build.ensure_library().is_file()
    assert "takes effect" not in capfd.readouterr().err
    project.write("const N: u32 = 2;")
    path = build.ensure_library()
    assert (
        f"kernel library {path}: takes effect at tilegym_rs.reload() or in the next process" in capfd.readouterr().err
    )
    assert scaled(scale) == [2.0, 2.0]


def test_reload_goes_back_without_a_build(project):
    scale = tilegym_rs.library().scale
    for text in ("const N: u32 = 2;", "const N: u32 = 1;"):
        project.write(text)
        tilegym_rs.reload()
    assert scaled(scale) == [2.0, 2.0]
    assert len(project.runs()) == 2


def test_failed_build_leaves_the_library_in_force(project):
    scale = tilegym_rs.library().scale
    project.write("const N u32;")
    with pytest.raises(BuildError, match="expected item"):
        tilegym_rs.reload()
    assert scaled(scale) == [2.0, 2.0]


def wait_until(condition) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def test_watch_takes_up_an_edit_and_outlives_a_broken_one(project):
    scale = tilegym_rs.library().scale
    with tilegym_rs.watch(interval=0.05):
        project.write("const N u32;")
        wait_until(lambda: len(project.runs()) == 2)
        assert scaled(scale) == [2.0, 2.0]
        project.write("const N: u32 = 2;")
        wait_until(lambda: scaled(scale) == [3.0, 3.0])


def test_watch_is_started_by_its_setting(project, monkeypatch):
    started = []
    monkeypatch.setattr(hot_reload, "watch", lambda: started.append(1))
    monkeypatch.setenv("TILEGYM_RS_WATCH", "1")
    tilegym_rs.library()
    assert started == [1]


def test_watch_refuses_an_interval_of_nothing():
    with pytest.raises(ValueError, match="interval: wanted more than 0 seconds, got 0"):
        tilegym_rs.watch(0)
