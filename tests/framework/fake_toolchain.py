"""A crate and a toolchain made of small scripts, so that builds take milliseconds and can be made to fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_CARGO = """#!/bin/sh
[ "$1" = build ] || exit 0
echo $$ >> {root}/runs
{action}
made=$CARGO_TARGET_DIR/release/libcutile_kernels.so
mkdir -p "$CARGO_TARGET_DIR/release"
echo library > "$made"
{after}
printf '{{"reason":"compiler-artifact","package_id":"k","filenames":["%s"]}}\\n' "$made"
"""
_ENSURE = "from tilegym_rs import build; print(build.ensure_library())"


class FakeToolchain:
    """Crate, cache, cargo, rustc, libclang and CUDA headers below one folder, in force through the environment."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.cache = root / "cache"
        self.kernel = self._write("ops/softmax_kernel/kernel.rs", "const N: u32 = 1;")
        crate = self._write("ops/cutile_kernels/Cargo.toml", "[package]").parent
        self._write("cuda/include/cuda.h")
        self._write("cuda/include/curand.h")
        self._write("clang/libclang.so")
        self._script("rustc", "#!/bin/sh\necho 'rustc 1.95.0'\necho 'release: 1.95.0'\n")
        self.act(":")
        monkeypatch.setenv("PATH", f"{root / 'bin'}:/usr/bin:/bin")
        monkeypatch.setenv("CUTILE_RS_KERNELS_DIR", str(crate))
        monkeypatch.setenv("TILEGYM_RS_CACHE_DIR", str(self.cache))
        monkeypatch.setenv("LIBCLANG_PATH", str(root / "clang"))
        monkeypatch.setenv("CUDA_TOOLKIT_PATH", str(root / "cuda"))
        monkeypatch.setenv("CUTILE_RS_AUTOBUILD", "1")

    def act(self, action: str) -> None:
        """What cargo does, in shell words, before it makes the library."""
        self._script("cargo", _CARGO.format(root=self.root, action=action, after=":"))

    def act_after(self, action: str) -> None:
        """What cargo does when it has made the library `$made`."""
        self._script("cargo", _CARGO.format(root=self.root, action=":", after=action))

    def runs(self) -> list[int]:
        """Process ids of the cargo builds so far."""
        file = self.root / "runs"
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    def start(self) -> subprocess.Popen[str]:
        """Another process that asks for the library."""
        return subprocess.Popen(
            [sys.executable, "-c", _ENSURE],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _write(self, name: str, text: str = "") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def _script(self, name: str, text: str) -> None:
        self._write(f"bin/{name}", text).chmod(0o755)


def is_running(process_id: int) -> bool:
    """Whether a process is alive; a zombie has no command line."""
    try:
        return Path(f"/proc/{process_id}/cmdline").read_bytes() != b""
    except OSError:
        return False
