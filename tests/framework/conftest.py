"""Fixtures of the framework's tests."""

import os
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_FIXTURES = _ROOT / "tests" / "cpp" / "runtime" / "fixtures"


@pytest.fixture(scope="session")
def compile_fake(tmp_path_factory):
    """Compiles a source of tests/cpp/runtime/fixtures into a shared library and returns its path."""

    def compile_source(source, *definitions):
        library = tmp_path_factory.mktemp("fake") / f"{Path(source).stem}.so"
        flags = ["-std=c++20", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{_ROOT / 'csrc'}"]
        command = [os.environ.get("CXX", "c++"), *flags, *definitions, _FIXTURES / source, "-o", library, "-ldl"]
        subprocess.run(command, check=True)
        return library

    return compile_source


@pytest.fixture(scope="session")
def fake_driver(compile_fake):
    """A stand-in driver that runs nothing."""
    return compile_fake("fake_driver.cc")


@pytest.fixture(scope="session")
def fake_kernels(compile_fake):
    """A kernel library whose ops show what they were called with."""
    return compile_fake("fake_kernels.cc")


@pytest.fixture(scope="session")
def fake_library(fake_kernels, fake_driver):
    """The fake kernel library, loaded with the fake driver."""
    from tilegym_rs import _core

    return _core.KernelLibrary(fake_kernels, fake_driver)
