"""`tilegym-rs ir pair`: the modules of both producers for one op, and what their comparison says."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tilegym_rs import cli, tile_ir


def test_pair_writes_both_producers_modules(tmp_path):
    pytest.importorskip("cuda.tile", reason="cuTile Python (PyPI cuda-tile) writes the reference")
    command = [sys.executable, "-m", "tilegym_rs.cli", "ir", "pair", "softmax", "--output", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    for variant in ("single_tile", "chunked"):
        assert f"{variant}: reference/reference_{variant}.mlir generated/generated_{variant}.mlir: " in run.stdout
        for place in (f"reference/reference_{variant}", f"generated/generated_{variant}"):
            module = tile_ir.load(tmp_path / f"{place}.tileirbc")
            assert [f"softmax_{variant}_kernel" in entry for entry in module.entries] == [True]
            assert module.verify() == []
            assert (tmp_path / f"{place}.mlir").read_text() == module.text()
    report = (tmp_path / "generated" / "diff_report.md").read_text()
    assert report.count("VERDICT: ") == 2


def test_pair_needs_a_registered_op(tmp_path, capsys):
    assert cli.main(["ir", "pair", "nonsense", "--output", str(tmp_path)]) == 1
    assert "nonsense: wanted kernel_variants in reference/analysis.json, got none" in capsys.readouterr().err
