"""The stand-in for tileiras that hands out packed cubins."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

STAND_IN = Path(__file__).resolve().parents[2] / "tools" / "gpu" / "tileiras"
BYTECODE = b"\x7fTileIR"
SHA = hashlib.sha256(BYTECODE).hexdigest()


@pytest.fixture
def assemble(tmp_path):
    """Calls the stand-in as the kernel library calls tileiras."""
    (tmp_path / "kernel.tileirbc").write_bytes(BYTECODE)
    (tmp_path / "cubins").mkdir()
    (tmp_path / "cubins" / f"{SHA}.sm_90.cubin").write_bytes(b"cubin")

    def call(gpu_name):
        return subprocess.run(
            [
                sys.executable,
                STAND_IN,
                "--gpu-name",
                gpu_name,
                "--opt-level",
                "3",
                "-o",
                "out.cubin",
                "kernel.tileirbc",
            ],
            cwd=tmp_path,
            env={"TILEGYM_GPU_CUBINS": str(tmp_path / "cubins"), "TILEGYM_GPU_MISSING": str(tmp_path / "missing")},
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def test_a_packed_cubin_is_handed_out(assemble, tmp_path):
    assert assemble("sm_90").returncode == 0
    assert (tmp_path / "out.cubin").read_bytes() == b"cubin"
    assert not (tmp_path / "missing").exists()


def test_a_cubin_of_another_gpu_is_not_taken(assemble, tmp_path):
    run = assemble("sm_100")
    assert run.returncode != 0
    assert SHA in run.stderr
    assert not (tmp_path / "out.cubin").exists()


def test_bytecode_without_a_cubin_is_kept(assemble, tmp_path):
    assemble("sm_100")
    assert (tmp_path / "missing" / f"{SHA}.tileirbc").read_bytes() == BYTECODE
