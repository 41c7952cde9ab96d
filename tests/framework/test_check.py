"""`tilegym_rs.check` and its command, on an op in a folder of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from xml.etree import ElementTree

import pytest

import tilegym.ops
import tilegym_rs
from tilegym.backend import register_impl, registry
from tilegym_rs.check import check
from tilegym_rs.cli import main

ANALYSIS = {
    "kernel_name": "doubled",
    "source": "doubled.py",
    "launch_path": "fixed",
    "pattern": "elementwise",
    "ops_used": ["mulf"],
    "test_perf_configs": [{"shapes": [[5, 6]]}],
    "correctness_reference": {"function": "x + x"},
    "correctness_tolerance": {"f32": {"atol": 0, "rtol": 0}},
}


class Library:
    """Counts launches, as the kernel library does."""

    launches, compile_nanoseconds = 0, 0
    ops = ("doubled",)
    path = ""


@pytest.fixture(scope="module")
def symbol(tmp_path_factory):
    """A shared library that exports cutile_doubled and nothing else."""
    folder = tmp_path_factory.mktemp("symbol")
    source, library = folder / "symbol.c", folder / "libsymbol.so"
    source.write_text("int cutile_doubled(void) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return str(library)


@pytest.fixture
def tree(tmp_path, monkeypatch, symbol):
    """A project with the op `doubled`; every part is there."""
    project = tmp_path / "ops" / "cutile_rs"
    files = {
        project / "doubled.py": "def doubled(x):\n    LIBRARY.launches += 1\n    return x * FACTOR\n",
        project / "__init__.py": "from project import doubled\n",
        project / "doubled_kernel" / "kernel.rs": "",
        project / "doubled_kernel" / "ffi.rs": "op!(doubled)\n",
        project / "doubled_kernel" / "reference" / "analysis.json": json.dumps(ANALYSIS),
        project / "cutile_kernels" / "src" / "lib.rs": 'include!("../../doubled_kernel/ffi.rs");\n',
        tmp_path / "tests" / "ops" / "test_doubled.py": "",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    library = Library()
    library.path = symbol
    module = types.ModuleType("project_doubled")
    module.__dict__.update(LIBRARY=library, FACTOR=2)
    source = project / "doubled.py"
    exec(compile(source.read_text(), str(source), "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "project_doubled", module)
    monkeypatch.setattr(registry, "_table", {})
    assert tilegym.ops
    register_impl("doubled", "cutile-rs")(module.doubled)
    register_impl("doubled", "pytorch")(lambda x: x + x)
    monkeypatch.setattr(tilegym_rs, "counters", lambda: library)
    monkeypatch.setattr(tilegym_rs, "last_error", lambda: "")
    monkeypatch.setattr(tilegym_rs, "library", lambda: library)
    return types.SimpleNamespace(project=project, root=tmp_path, module=module, library=library)


def test_a_whole_op_passes(tree):
    report = check("doubled")
    assert (report.verdict, report.findings) == ("PASS", ())
    assert report.compared >= 3


def removed(*parts):
    return lambda tree: tree.root.joinpath(*parts).unlink()


def written(text, *parts):
    return lambda tree: tree.root.joinpath(*parts).write_text(text)


KERNEL = ("ops", "cutile_rs", "doubled_kernel")


@pytest.mark.parametrize(
    ("fault", "finding", "text"),
    [
        (removed(*KERNEL, "kernel.rs"), "files", "wanted kernel.rs"),
        (removed(*KERNEL, "ffi.rs"), "files", "wanted ffi.rs"),
        (written("", *KERNEL, "ffi.rs"), "files", "wanted a declaration of doubled"),
        (removed(*KERNEL, "reference", "analysis.json"), "files", "wanted reference/analysis.json"),
        (written("{", *KERNEL, "reference", "analysis.json"), "analysis", "wanted JSON"),
        (
            written(json.dumps({**ANALYSIS, "correctness_tolerance": {}}), *KERNEL, "reference", "analysis.json"),
            "analysis",
            "wanted a usable correctness_tolerance, got {}",
        ),
        (written("// doubled_kernel/", "ops/cutile_rs/cutile_kernels/src/lib.rs"), "crate", "sources in lib.rs"),
        (written("", "ops/cutile_rs/__init__.py"), "import", "import of the wrapper"),
        (removed("tests", "ops", "test_doubled.py"), "test", "wanted a test file"),
        (lambda tree: setattr(tree.library, "ops", ("other",)), "manifest", "got only other"),
        (lambda tree: setattr(tree.library, "path", None), "symbol", "cutile_doubled"),
        (lambda tree: tree.module.__dict__.update(FACTOR=3), "comparison", "Tensor-likes are not close"),
        (lambda tree: registry._table["doubled"].pop("pytorch"), "comparison", "wanted a reference"),
        (lambda tree: registry._table.clear(), "registration", "wanted an implementation registered"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_named(tree, fault, finding, text):
    fault(tree)
    found = [each for each in check("doubled").findings if each.id == finding]
    assert found
    assert text in found[0].message
    assert found[0].remedy


def test_the_command_in_every_form(tree, capsys):
    assert main(["check", "doubled", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ops"]["doubled"]["verdict"] == "PASS"
    tree.module.__dict__.update(FACTOR=3)
    assert main(["check", "--json"]) == 1
    (finding, *_) = json.loads(capsys.readouterr().out)["ops"]["doubled"]["findings"]
    assert {"id", "severity", "file", "line", "message", "remedy"} <= finding.keys()
    assert finding["file"].endswith("doubled.py")
    assert main(["check", "--junit"]) == 1
    assert ElementTree.fromstring(capsys.readouterr().out).get("failures") == "1"
    assert main(["check"]) == 1
    assert "doubled: FAIL" in capsys.readouterr().out


def test_an_unknown_op_is_a_finding(tree, capsys):
    assert main(["check", "nothing"]) == 1
    assert "wanted an implementation registered for cutile-rs" in capsys.readouterr().out


def test_suggested_tolerances_repeat_and_say_why(tree, capsys):
    tree.module.__dict__.update(FACTOR=2 * (1 + 1e-4))
    assert main(["check", "doubled", "--suggest"]) == 0
    first = capsys.readouterr().out
    main(["check", "doubled", "--suggest"])
    assert capsys.readouterr().out == first
    (found,) = json.loads(first)["doubled"].values()
    assert found["rtol"] == 4 * 2.0**-23
    assert 1e-4 < found["atol"] < 5e-3
    assert "float64" in found["reason"]
