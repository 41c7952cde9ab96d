"""Times reading, verifying and printing a 1 MB module against the whole process of NVIDIA's tileirdisasm.

Ours is timed as a whole process too: the program tilegym-ir, and the command `tilegym-rs ir dump --verify`, which
starts Python and becomes that program; and inside a running process. Both sides write to a file. The last line is one
JSON object. Run: python tools/bench/tile_ir.py [--megabytes N]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from pairs import HEADER, Pair, machine, measure

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "peers"))

from parity import modules, tool  # noqa: E402
from parity.kernel_builder import Kernel, module  # noqa: E402


def large_module(size: int) -> bytes:
    """Loops, reductions, views and constants of the corpus, again and again in one kernel, in about `size` bytes."""

    def emit(k: Kernel) -> None:
        # The locations of a module's operations take as much room as their code.
        while 2 * len(k.code.buf) < size:
            modules.name_conflicts(k)
            modules.control_flow_without_return(k)
            modules.mixed_indices(k)

    return module(emit)


def run(output: Path, *command: str | Path) -> Callable[[], object]:
    def call() -> object:
        with output.open("wb") as file:
            return subprocess.run(command, check=True, stdout=file)

    return call


def installed(name: str) -> Path:
    """A command of this environment."""
    return Path(sys.executable).parent / name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=1.0)
    options = parser.parse_args()
    disassembler = tool("tileirdisasm")
    pairs: list[Pair] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.tileirbc"
        path.write_bytes(large_module(int(options.megabytes * 1e6)))
        output = Path(folder) / "text"
        theirs = run(output, disassembler, path)
        cases = {
            "tilegym-ir, whole process": run(output, installed("tilegym-ir"), "dump", "--verify", path),
            "tilegym-rs ir dump, whole process": run(output, installed("tilegym-rs"), "ir", "dump", "--verify", path),
            "in a running process": in_process(path),
        }
        for name, ours in cases.items():
            pairs.append(measure(name, ours, theirs, "tileirdisasm, whole process", warmup=1))
        size = path.stat().st_size
    print(HEADER)
    for pair in pairs:
        print(pair.row())
    record = {"bytes": size, "pairs": [pair.as_json() for pair in pairs], "machine": machine(os.cpu_count() or 1)}
    print(json.dumps(record))


def in_process(path: Path) -> Callable[[], object]:
    from tilegym_rs import tile_ir

    def call() -> object:
        loaded = tile_ir.load(path)
        return loaded.verify(), loaded.text()

    return call


if __name__ == "__main__":
    main()
