"""The cache of compiled kernels through Python: a warm process, bundles, the command."""

import json
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import tilegym_rs
from tilegym_rs import _core as core
from tilegym_rs import bundles, cache
from tilegym_rs.cli import main

USUAL_FOLDER = os.environ.get("TILEGYM_RS_CACHE_DIR")


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A cache of its own, empty. The kernel library is found first: it would be built anew there."""
    tilegym_rs.library()
    for name in ("TILEGYM_RS_CACHE", "TILEGYM_RS_CACHE_SEEDS", "TILEGYM_RS_CACHE_RECORD", "TILEGYM_RS_CACHE_MAX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TILEGYM_RS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def leave_for_the_usual_folder(monkeypatch):
    """For child processes, which would build the kernel library in the folder of the test."""
    if USUAL_FOLDER is None:
        monkeypatch.delenv("TILEGYM_RS_CACHE_DIR")
    else:
        monkeypatch.setenv("TILEGYM_RS_CACHE_DIR", USUAL_FOLDER)


def softmax(columns):
    """A kernel of a tile size that nothing else in this process uses."""
    import torch

    x = torch.randn(3, 5)
    out = torch.empty_like(x)
    tilegym_rs.library().softmax(out, x, block_size=columns)
    torch.testing.assert_close(out, x.softmax(-1))


def entries(folder):
    return [path for path in (folder / "images").rglob("*") if path.is_file()]


def compiles():
    return tilegym_rs.counters().compiles


def test_events_are_counted_by_name(folder):
    before = cache.stats()
    softmax(1 << 14)
    after = cache.stats()
    assert (after.hits, after.misses) == (before.hits, before.misses + 1)
    assert after.stored == before.stored + 1
    assert len(entries(folder)) == 1


def test_refresh_compiles_at_every_call_and_off_keeps_nothing(folder, monkeypatch):
    monkeypatch.setenv("TILEGYM_RS_CACHE", "off")
    softmax(1 << 15)
    assert entries(folder) == []
    monkeypatch.setenv("TILEGYM_RS_CACHE", "refresh")
    before = compiles()
    softmax(1 << 16)
    softmax(1 << 16)
    assert compiles() == before + 2
    assert len(entries(folder)) == 1


CHILD = """\
import json, torch, tilegym_rs
x = torch.randn(3, 5)
out = torch.empty_like(x)
tilegym_rs.library().softmax(out, x, block_size=8)
good = torch.allclose(out, x.softmax(-1))
print(json.dumps([good, tilegym_rs.counters().compiles, tilegym_rs.cache.stats().hits]))
"""


def test_another_process_finds_what_this_one_compiled(folder, monkeypatch):
    # The library lies in the usual cache: the folder of this test is a seed of the second process.
    softmax(8)
    monkeypatch.setenv("TILEGYM_RS_CACHE_SEEDS", str(folder))
    leave_for_the_usual_folder(monkeypatch)
    run = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == [True, 0, 1]


@pytest.fixture
def bundle(folder, tmp_path):
    for key in ("a", "b"):
        core.import_cache_entry(make_entry(key))
    path = tmp_path / "out" / "kernels.bundle"
    assert cache.export_bundle(path) == 2
    return path


def make_entry(key, payload=b"image"):
    """An entry as the cache would write it: checked by the reader in C++, made here by the page on formats."""
    import hashlib
    import struct

    digest = hashlib.sha256(key.encode()).hexdigest()
    name, text = f"{digest[:2]}/{digest[2:]}.tileirbc".encode(), b"arch=sm_90\n"
    head = struct.pack("<8sIIQQ", b"TILEGYMC", 1, len(name), len(text), len(payload))
    body = name + text + payload
    return core.CacheEntry.decode(head + hashlib.sha256(head + body).hexdigest().encode() + body)


def test_a_bundle_brings_its_entries_into_an_empty_cache(bundle, folder, monkeypatch, tmp_path):
    first = bundle.read_bytes()
    assert cache.export_bundle(bundle) == 2
    assert bundle.read_bytes() == first, "the same entries give the same bytes"
    monkeypatch.setenv("TILEGYM_RS_CACHE_DIR", str(tmp_path / "other"))
    assert cache.import_bundle(bundle) == 2
    assert {path.read_bytes() for path in entries(folder)} == {
        path.read_bytes() for path in entries(tmp_path / "other")
    }
    assert [path.name for path in bundle.parent.iterdir()] == [bundle.name]


def rewritten(source, target, change):
    """A copy of a bundle whose members went through a function of name and content."""
    import io

    with tarfile.open(source) as old, tarfile.open(target, "w:gz") as new:
        for member in old:
            for name, content in change(member.name, old.extractfile(member).read()):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                new.addfile(info, io.BytesIO(content))
    return target


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda name, content: [(name, content.replace(b"image", b"imagE"))], "bytes that fit their SHA-256"),
        (lambda name, content: [(name, content)] if "bundle" in name else [], "announces, got 0"),
        (lambda name, content: [(name, content.replace(b'"version": 1', b'"version": 7'))], "version 1, got 7"),
        (lambda name, content: [("../outside", content)], "version 1, got None"),
    ],
    ids=["changed", "incomplete", "version", "no index"],
)
def test_a_bad_bundle_stores_nothing(bundle, folder, monkeypatch, tmp_path, change, message):
    bad = rewritten(bundle, tmp_path / "bad.bundle", change)
    monkeypatch.setenv("TILEGYM_RS_CACHE_DIR", str(tmp_path / "other"))
    with pytest.raises(ValueError, match=message):
        cache.import_bundle(bad)
    assert entries(tmp_path / "other") == []


@pytest.mark.parametrize("content", [b"", b"text", None], ids=["empty", "text", "half"])
def test_a_file_that_is_no_bundle_is_refused(bundle, tmp_path, content):
    path = tmp_path / "no.bundle"
    path.write_bytes(bundle.read_bytes()[:200] if content is None else content)
    with pytest.raises(ValueError, match="wanted"):
        bundles.read_bundle(path)


def test_the_command_tells_exports_imports_and_clears(bundle, folder, capsys, tmp_path):
    assert main(["cache", "stats", "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["written"] == str(folder)
    assert (numbers["entries"], numbers["mode"]) == (2, "on")
    assert set(numbers["events"]) == {"hits", "misses", "stored", "evicted", "broken", "untrusted", "unwritable"}
    assert main(["cache", "clear"]) == 0
    assert entries(folder) == []
    assert main(["cache", "import", str(bundle)]) == 0
    assert main(["cache", "export", str(tmp_path / "again.bundle")]) == 0
    assert (tmp_path / "again.bundle").read_bytes() == bundle.read_bytes()
    assert main(["cache", "stats"]) == 0
    assert str(folder) in capsys.readouterr().out
    assert main(["cache", "import", str(tmp_path)]) == 1
    assert "wanted an archive" in capsys.readouterr().err


# --- the front of tileiras, and compiling ahead of time, with a compiler that is a script


FAKE = """\
#!/bin/sh
[ "$1" = --version ] && { echo "release 13.9, V13.9.9"; exit 0; }
echo "$@" >> "$(dirname "$0")/runs"
[ "$1" = --unknown ] && exit 7
[ -n "$FAKE_SIGNAL" ] && kill "-$FAKE_SIGNAL" $$
while [ $# -gt 0 ]; do
  case $1 in --gpu-name=*) target=${1#*=};; --gpu-name) target=$2; shift;; -o) out=$2; shift;; -*) ;; *) last=$1;; esac
  shift
done
{ echo "cubin of $target"; cat "$last"; } > "$out"
"""


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """A compiler whose output tells what it was given; returns what it was run with."""
    script = tmp_path / "fake" / "tileiras"
    script.parent.mkdir()
    script.write_text(FAKE)
    script.chmod(0o755)
    monkeypatch.setenv("TILEGYM_RS_TILEIRAS", str(script))
    monkeypatch.setenv("CUTILE_TILEIRAS_PATH", str(script))

    def runs():
        log = script.parent / "runs"
        return log.read_text().splitlines() if log.exists() else []

    return runs


@pytest.fixture
def front(folder, fake, monkeypatch, tmp_path):
    """Runs the caching front as other programs run tileiras."""
    monkeypatch.setenv("CUTILE_TILEIRAS_PATH", str(cache.front_path()))
    (tmp_path / "kernel.bc").write_bytes(b"bytecode")

    def call(*arguments):
        return subprocess.run(
            [cache.front_path(), *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return call


def test_the_front_compiles_once(front, fake, tmp_path):
    for spelling in (
        ("--gpu-name", "sm_90", "-O3", "-o", "out", "kernel.bc"),
        ("kernel.bc", "-o", "out", "--gpu-name=sm_90", "--opt-level=3"),
    ):
        (tmp_path / "out").unlink(missing_ok=True)
        run = front(*spelling)
        assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
        assert (tmp_path / "out").read_text() == "cubin of sm_90\nbytecode"
    assert len(fake()) == 1
    assert front("--gpu-name", "sm_100", "-O3", "-o", "out", "kernel.bc").returncode == 0
    assert len(fake()) == 2


def test_the_front_hands_on_what_it_does_not_know(front, fake):
    assert "V13.9.9" in front("--version").stdout
    assert front("--unknown").returncode == 7
    assert front("--gpu-name", "sm_90", "-o", "out", "absent.bc").returncode != 0


def test_the_front_ends_as_the_compiler_does(front, fake, monkeypatch):
    monkeypatch.setenv("FAKE_SIGNAL", "SEGV")
    assert front("--gpu-name", "sm_90", "-o", "out", "kernel.bc").returncode == -signal.SIGSEGV
    monkeypatch.delenv("FAKE_SIGNAL")
    assert front("--gpu-name", "sm_90", "-o", "out", "kernel.bc").returncode == 0
    assert len(fake()) == 2, "the failure is not kept"


def test_the_command_prints_what_leads_to_the_front(fake, folder, capsys):
    assert main(["cache", "front"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"export CUTILE_TILEIRAS_PATH={cache.front_path()}" in lines
    assert any(line.startswith("export TILEGYM_RS_TILEIRAS=") and line.endswith("fake/tileiras") for line in lines)


CUTILE_PYTHON = """\
import importlib.metadata as metadata, sys
found = metadata.version
def version(name):  # it prefers its compiler's wheel to PATH
    if name.startswith("nvidia-"):
        raise metadata.PackageNotFoundError(name)
    return found(name)
metadata.version = version
import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, ConstantConstraint, KernelSignature, export_kernel
@ct.kernel
def double(x, y, n: ct.Constant[int]):
    tile = ct.load(x, index=(ct.bid(0),), shape=(n,))
    ct.store(y, index=(ct.bid(0),), tile=tile + tile)
array = ArrayConstraint(ct.float32, 1, index_dtype=ct.int32, stride_lower_bound_incl=1, alias_groups=(),
                        may_alias_internally=False)
signature = KernelSignature([array, array, ConstantConstraint(16)], CallingConvention.cutile_python_v1())
export_kernel(double, [signature], sys.argv[1], gpu_code="sm_90", output_format="cubin")
"""


def test_cutile_python_finds_the_front_on_path(front, fake, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", f"{cache.front_path().parent}:/usr/bin:/bin")
    (tmp_path / "kernels.py").write_text(CUTILE_PYTHON)
    counts = []
    for _ in range(2):
        subprocess.run([sys.executable, tmp_path / "kernels.py", tmp_path / "out.cubin"], check=True)
        assert (tmp_path / "out.cubin").read_bytes().startswith(b"cubin of sm_90")
        counts.append(len(fake()))
    assert counts[0] > 0
    assert counts[1] == counts[0], "the second process compiles nothing"


SCRIPT = """\
import sys, torch, tilegym_rs
x = torch.randn(4, int(sys.argv[1]))
tilegym_rs.library().softmax(torch.empty_like(x), x, block_size=16)
print("ran for", tilegym_rs.cpu_target())
"""


def test_aot_compiles_what_a_script_uses_for_each_architecture(folder, fake, monkeypatch, capfd, tmp_path):
    leave_for_the_usual_folder(monkeypatch)
    (tmp_path / "script.py").write_text(SCRIPT)
    path = tmp_path / "kernels.bundle"
    script = ["python", str(tmp_path / "script.py"), "11"]
    assert main(["aot", "--arch", "sm_90,sm_100", "--output", str(path), "--", *script]) == 0
    said = capfd.readouterr().out
    assert "ran for sm_90" in said
    assert "ran for sm_100" in said
    compiled = bundles.read_bundle(path)
    assert sorted(entry.payload.split(b"\n")[0] for entry in compiled) == [b"cubin of sm_100", b"cubin of sm_90"]
    assert all(
        entry.name.endswith(".cubin") and "softmax_single_tile_kernel" in entry.description for entry in compiled
    )


def test_aot_says_what_went_wrong(folder, fake, monkeypatch, capfd, tmp_path):
    assert main(["aot", "--arch", "sm_90"]) == 1
    assert "wanted a command" in capfd.readouterr().err
    assert main(["aot", "--arch", "sm_90", "--output", str(tmp_path / "b"), "--", "false"]) == 1
    said = capfd.readouterr().err
    assert "false ended with exit status 1" in said
    assert "has launched no kernel" in said
    assert not list(Path(tmp_path).glob("tilegym-aot*"))
