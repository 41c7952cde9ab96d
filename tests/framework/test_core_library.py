"""Loading: what a wrong file says, and what the package's own functions do around it."""

import importlib
import subprocess
import sys
import threading
import types

import pytest

import tilegym_rs
from tilegym_rs import KernelError, build
from tilegym_rs import _core as core

# The function of that name hides the module in the package.
loading = importlib.import_module("tilegym_rs.library")


@pytest.fixture
def unloaded(monkeypatch):
    """The functions as in a process that has not loaded anything."""
    monkeypatch.setattr(loading, "_loaded", None)
    loading.library_available.cache_clear()
    loading.cpu_device.cache_clear()
    yield
    loading.library_available.cache_clear()
    loading.cpu_device.cache_clear()


@pytest.fixture
def fakes_installed(monkeypatch, unloaded, fake_kernels, fake_driver):
    """As if the package's libraries were the fake ones; counts the builds."""
    builds = []
    file = types.SimpleNamespace(path=fake_kernels, source_fingerprint="fingerprint")
    monkeypatch.setattr(build, "ensure_library_file", lambda: builds.append(1) or file)
    monkeypatch.setattr(loading, "stand_in_path", lambda: fake_driver)
    return builds


@pytest.mark.parametrize("content", [None, b"", b"text, not an ELF file"], ids=["missing", "empty", "text"])
def test_a_file_that_is_no_library_is_a_kernel_error_with_its_path(tmp_path, fake_driver, content):
    path = tmp_path / "libcutile_kernels.so"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(KernelError, match=rf"kernel library: wanted a shared library at '{path}'"):
        core.KernelLibrary(path, fake_driver)


def test_a_library_of_something_else_is_told_apart(fake_driver):
    with pytest.raises(KernelError, match="wanted the symbol cutile_kernels_manifest_v1"):
        core.KernelLibrary(fake_driver, fake_driver)


def test_a_library_of_other_sources_is_refused_with_both_fingerprints(fake_kernels, fake_driver):
    with pytest.raises(KernelError, match=r"fingerprint 'newer', got 'fingerprint'; .*tilegym-rs build"):
        core.KernelLibrary(fake_kernels, fake_driver, "newer")


def test_none_is_no_path(fake_driver):
    with pytest.raises(TypeError):
        core.KernelLibrary(None, fake_driver)


def test_a_missing_driver_is_a_kernel_error(fake_kernels, tmp_path):
    with pytest.raises(KernelError, match="CPU device: wanted a shared library at"):
        core.KernelLibrary(fake_kernels, tmp_path / "driver.so")


def test_facts_of_the_library(fake_library, fake_kernels):
    assert fake_library.path == str(fake_kernels)
    assert fake_library.ops[:3] == ["noop", "scale", "echo"]
    assert (fake_library.source_fingerprint, fake_library.cutile_version) == ("fingerprint", "0.2.0")
    assert {"noop", "counters"} <= set(dir(fake_library))


def test_facts_of_the_cpu_device(fake_library, fake_driver):
    device = fake_library.cpu_device
    assert device.path == str(fake_driver)
    assert (device.launch_totals().launches, device.launch_totals().nanoseconds) == (3, 4000)
    assert (device.target.compute_capability, device.target.multiprocessors) == (90, 132)


def test_an_option_that_the_cpu_device_does_not_take_is_refused(fake_library):
    fake_library.cpu_device.configure("threads", "1")
    with pytest.raises(ValueError, match="option 'colour' with value 'red'"):
        fake_library.cpu_device.configure("colour", "red")


def test_the_last_error_is_the_calls_own(fake_library):
    with pytest.raises(KernelError):
        fake_library.fail(-3)
    assert fake_library.last_error() == "the library's own words"


def test_the_library_is_loaded_once(fakes_installed):
    assert tilegym_rs.library() is tilegym_rs.library()
    assert len(fakes_installed) == 1


def test_threads_that_ask_at_once_share_one_library(fakes_installed):
    start = threading.Barrier(8)
    found = []

    def ask():
        start.wait()
        found.append(tilegym_rs.library())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fakes_installed) == 1
    assert all(library is found[0] for library in found)


def test_counters_are_zero_before_anything_is_loaded(unloaded):
    assert tilegym_rs.counters().launches == 0
    assert tilegym_rs.last_error() == ""


def test_a_fresh_library_is_available_without_a_build(fakes_installed, monkeypatch, fake_kernels):
    monkeypatch.setattr(build, "find_library", lambda: fake_kernels)
    assert tilegym_rs.library_available()
    assert fakes_installed == []


def test_no_library_and_no_autobuild_is_not_available(fakes_installed, monkeypatch):
    monkeypatch.setattr(build, "find_library", lambda: None)
    monkeypatch.setenv("CUTILE_RS_AUTOBUILD", "0")
    assert not tilegym_rs.library_available()


def test_a_missing_stand_in_says_where_it_was_wanted(unloaded, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "prebuilt_folder", lambda: tmp_path)
    with pytest.raises(KernelError, match=rf"wanted the stand-in driver at '{tmp_path}/libtilegym_cpu_driver.so'"):
        loading.stand_in_path()


def test_the_cpu_device_needs_no_kernel_library(fakes_installed):
    assert tilegym_rs.sm_count(-1) == 132
    assert tilegym_rs.cpu_target() == "sm_90"
    assert fakes_installed == []


def test_importing_the_package_loads_neither_torch_nor_the_extension(tmp_path):
    code = "import sys, tilegym_rs; sys.exit(bool({'torch', 'tilegym_rs._core'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=tmp_path).returncode == 0
