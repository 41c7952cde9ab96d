"""Fixtures of the framework's tests."""

import os
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_FIXTURES = _ROOT / "tests" / "cpp" / "runtime" / "fixtures"


def _compile(folder: Path, source: str, name: str, *definitions: str) -> Path:
    library = folder / f"{name}.so"
    compiler = os.environ.get("CXX", "c++")
    flags = ["-std=c++20", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{_ROOT / 'csrc'}", "-ldl"]
    subprocess.run([compiler, *flags, *definitions, str(_FIXTURES / source), "-o", str(library)], check=True)
    return library


@pytest.fixture(scope="session")
def fake_driver(tmp_path_factory):
    """A stand-in driver that runs nothing."""
    return _compile(tmp_path_factory.mktemp("driver"), "fake_driver.cc", "driver")


@pytest.fixture(scope="session")
def fake_kernels(tmp_path_factory):
    """A kernel library whose ops show what they were called with."""
    return _compile(tmp_path_factory.mktemp("kernels"), "fake_kernels.cc", "kernels")


@pytest.fixture(scope="session")
def fake_library(fake_kernels, fake_driver):
    """The fake kernel library, loaded with the fake driver."""
    from tilegym_rs import _core

    return _core.KernelLibrary(fake_kernels, fake_driver)
