"""`import tilegym` in bare environments, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from importlib import metadata
from pathlib import Path

import pytest

from tilegym._shadowing import foreign_distributions

HIDE = """
import sys

class Hiding:
    def __init__(self, finder):
        self._finder = finder

    def __getattr__(self, name):
        return getattr(self._finder, name)

    def find_spec(self, name, path=None, target=None):
        return None if name in {hidden!r} else self._finder.find_spec(name, path, target)

sys.meta_path[:] = [Hiding(finder) for finder in sys.meta_path]
"""


def run(code, *, hidden=(), **environment):
    script = HIDE.format(hidden=set(hidden)) + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
        check=False,
    )


def test_import_is_light():
    done = run("import tilegym; assert not {'torch', 'numpy', 'tilegym_rs._core'} & set(sys.modules)")
    assert done.returncode == 0, done.stderr


def test_references_work_without_the_extras():
    code = """
        import torch, tilegym
        assert tilegym.get_current_backend() == "pytorch"
        assert not tilegym.is_backend_available("cutile-rs")
        assert tilegym.ops.softmax(torch.zeros(1, 2)).tolist() == [[0.5, 0.5]]
    """
    done = run(code, hidden=["cuda", "triton", "tilegym_rs", "rich", "cffi"])
    assert done.returncode == 0, done.stderr


def test_an_absent_extension_is_explained():
    code = """
        import torch, tilegym
        tilegym.ops.softmax(torch.zeros(1, 2), backend="cutile-rs")
    """
    done = run(code, hidden=["tilegym_rs"])
    assert done.returncode == 1
    assert "backend 'cutile-rs' needs the extension" in done.stderr
    assert "pip install" in done.stderr


def test_the_plugin_imports_neither_torch_nor_tilegym():
    done = run("import tilegym_rs.plugin; assert not {'torch', 'tilegym', 'rich', 'numpy'} & set(sys.modules)")
    assert done.returncode == 0, done.stderr


def test_cutile_disabled_does_not_break_the_import():
    done = run("import tilegym; tilegym.get_available_backends()", TILEGYM_DISABLE_CUTILE="1")
    assert done.returncode == 0, done.stderr


def test_every_public_name_exists():
    import tilegym

    assert [name for name in tilegym.__all__ if not hasattr(tilegym, name)] == []


class Distribution:
    version = "1.4.0"

    def __init__(self, files, root):
        self.files = [metadata.PackagePath(name) for name in files]
        self._root = root

    def locate_file(self, path):
        return Path(self._root) / path


@pytest.mark.parametrize(
    ("root", "files", "count"),
    [
        ("/other", ["tilegym/__init__.py"], 1),
        ("/here", ["tilegym/__init__.py"], 0),
        ("/other", ["unrelated.py"], 0),
    ],
    ids=["elsewhere", "ours", "editable"],
)
def test_foreign_distributions(root, files, count):
    assert len(foreign_distributions([Distribution(files, root)], Path("/here/tilegym"))) == count
