"""`tilegym-rs cpu`: other CUDA programs on the CPU device, in processes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tilegym_rs.cli import cpu as cpu_command
from tilegym_rs.cli import main

GOLDENS = Path(__file__).resolve().parents[1] / "goldens" / "tile_ir"
BYTECODE = GOLDENS / "cutile_python_row_softmax_13_3.tileirbc"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEGYM_RS_CACHE_DIR", str(tmp_path))
    return tmp_path


def run_inside(*command, **options):
    arguments = [sys.executable, "-m", "tilegym_rs.cli", "cpu", "--", *map(str, command)]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False, **options)


def test_child_finds_the_cpu_device_first(cache, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/elsewhere")
    program = (
        "import json; from tilegym_rs.library import stand_in_path; "
        "from tilegym_rs.driver_search import examine_driver; print(json.dumps(examine_driver(stand_in_path())))"
    )
    driver = json.loads(run_inside(sys.executable, "-c", program).stdout)
    assert driver["kind"] == "stand-in"
    assert Path(driver["path"]).resolve() == Path(driver["stand_in"]["path"]).resolve()


def test_environment_keeps_what_was_there(cache):
    before = {"PATH": "/a", "LD_LIBRARY_PATH": "/b", "OTHER": "x"}
    after = cpu_command.child_environment(before)
    folder = cpu_command.private_folder()
    assert cache in folder.parents
    assert after["PATH"] == f"{folder}/bin:/a"
    assert after["LD_LIBRARY_PATH"] == f"{folder}/lib:/b"
    assert after["PYTHONPATH"] == f"{folder}/python"
    assert after["CUTILE_TILEIRAS_PATH"] == f"{folder}/bin/tileiras"
    assert after["OTHER"] == "x"


def test_folder_is_made_once_and_leaves_nothing_behind(cache):
    first = cpu_command.private_folder()
    assert cpu_command.private_folder() == first
    assert [path.name for path in first.parent.iterdir()] == [first.name]


def test_exit_status_and_arguments_are_the_commands(cache):
    done = run_inside(sys.executable, "-c", "import sys; print(sys.argv[1:]); sys.exit(7)", "--json", "-x")
    assert done.returncode == 7
    assert done.stdout == "['--json', '-x']\n"


@pytest.mark.parametrize(
    ("command", "text"),
    [([], "cpu: wanted a command behind --, got none"), (["no-such-program"], "found no 'no-such-program' on PATH")],
)
def test_bad_commands_are_refused(cache, capsys, command, text):
    assert main(["cpu", "--", *command]) == 1
    assert text in capsys.readouterr().err


def front(*arguments):
    program = cpu_command.private_folder() / "bin" / "tileiras"
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    "options",
    [["--gpu-name", "sm_120", "-O3", "--lineinfo"], ["--gpu-name=sm_90", "--opt-level", "3", "-g"]],
)
def test_front_passes_bytecode_through_as_an_image(cache, options):
    output = cache / "out.cubin"
    assert front(*options, BYTECODE, "-o", output).returncode == 0
    image = output.read_bytes()
    assert image[:8] == b"TILEGYMI"
    assert image[24:] == BYTECODE.read_bytes()


def test_front_refuses_versions_the_device_does_not_read(cache):
    newer = bytearray(BYTECODE.read_bytes())
    newer[9] = 4
    (cache / "newer").write_bytes(newer)
    done = front(cache / "newer", "-o", cache / "out", "--gpu-name", "sm_90")
    assert done.returncode != 0
    assert "13.4" in done.stderr
    assert not (cache / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [([], "wanted a bytecode file and -o"), (["missing", "-o", "x"], "cannot open input file"),
     ([BYTECODE, "-o"], "option o: wanted a value"), ([BYTECODE, "-o", "/no/folder/x"], "cannot write output file")],
)  # fmt: skip
def test_front_says_what_is_wrong(cache, arguments, text):
    done = front(*arguments)
    assert done.returncode != 0
    assert text in done.stderr


def test_front_has_a_version_of_its_own(cache):
    assert "the CPU device" in front("--version").stdout


CUTILE_PYTHON = """
import numpy as np
import cuda.tile as ct

class DeviceArray:
    def __init__(self, array):
        self.array = array
    @property
    def __cuda_array_interface__(self):
        return {**self.array.__array_interface__, "version": 3, "stream": None}

@ct.kernel
def scale(x, y, factor, size: ct.Constant[int]):
    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (size,)) * factor)

x = np.arange(1000, dtype=np.float32)
y = np.zeros_like(x)
ct.launch(0, (8, 1, 1), scale, (DeviceArray(x), DeviceArray(y), 3.0, 128))
print(np.array_equal(y, x * 3))
"""


def test_cutile_python_launches_on_numpy_arrays(cache):
    (cache / "script.py").write_text(CUTILE_PYTHON)
    done = run_inside(sys.executable, cache / "script.py", env=os.environ | {"CUDA_TILE_CACHE_DIR": str(cache)})
    assert done.stdout == "True\n", done.stderr


def test_torch_sees_no_gpu_and_does_not_crash(cache):
    program = "import torch; print(torch.cuda.is_available(), torch.cuda.device_count(), torch.ones(3).sum().item())"
    done = run_inside(sys.executable, "-c", program)
    assert done.stdout == "False 0 3.0\n", done.stderr
