"""Which libcuda is found: stubs, stand-ins and none, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tilegym_rs import driver_search
from tilegym_rs.library import stand_in_path

STUBS = {
    "toolkit": 'extern "C" int cuInit(unsigned) { return 34; }',
    "empty": "",
}


@pytest.fixture(scope="module", params=STUBS)
def stub_folder(request, tmp_path_factory):
    """A folder whose libcuda.so.1 is a stub: one that answers as the toolkit's does, and one without any symbol."""
    folder = tmp_path_factory.mktemp("stubs")
    command = [os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-xc++", "-", "-o", str(folder / "libcuda.so.1")]
    subprocess.run(command, input=STUBS[request.param], text=True, check=True)
    return folder


def search(folder: Path, code: str = "driver_search.examine_driver(stand_in_path())") -> subprocess.CompletedProcess:
    script = (
        "import json; from tilegym_rs import device, driver_search; from tilegym_rs.library import stand_in_path; "
        f"print(json.dumps({code}))"
    )
    environment = os.environ | {"LD_LIBRARY_PATH": f"/nowhere:{folder}", "TILEGYM_RS_DEVICE": "cuda"}
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)


def test_stub_is_told_apart_and_its_place_in_the_search_is_shown(stub_folder):
    found = json.loads(search(stub_folder).stdout)
    stub = str(stub_folder / "libcuda.so.1")
    assert (found["kind"], found["path"]) == ("stub", stub)
    assert list(found["search"].items())[:2] == [
        ("LD_LIBRARY_PATH /nowhere", None),
        (f"LD_LIBRARY_PATH {stub_folder}", stub),
    ]
    text = driver_search.stub_refusal(found)
    assert f"LD_LIBRARY_PATH /nowhere: nothing; LD_LIBRARY_PATH {stub_folder}: {stub}; system's library cache: " in text
    assert "take the stub's folder off LD_LIBRARY_PATH" in text


def test_stand_in_is_known_under_the_drivers_name(tmp_path):
    (tmp_path / "libcuda.so.1").symlink_to(stand_in_path())
    assert json.loads(search(tmp_path).stdout)["kind"] == "stand-in"


def test_copy_of_the_stand_in_is_known(tmp_path):
    (tmp_path / "libcuda.so.1").write_bytes(stand_in_path().read_bytes())
    found = json.loads(search(tmp_path).stdout)
    assert (found["kind"], found["path"]) == ("stand-in", str(tmp_path / "libcuda.so.1"))


def test_gpu_that_is_asked_for_behind_a_stub_is_refused_with_the_search(tmp_path):
    source = tmp_path / "stub.cpp"
    source.write_text(STUBS["empty"])
    subprocess.run([os.environ.get("CXX", "c++"), "-shared", source, "-o", tmp_path / "libcuda.so.1"], check=True)
    said = search(tmp_path, "device.default_device()").stderr
    assert "TILEGYM_RS_DEVICE: wanted a GPU (cuda), but PyTorch sees none (driver: wanted the libcuda.so.1 of" in said
    assert "set it to cpu or auto for the CPU device" in said
