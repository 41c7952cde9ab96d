"""Times reading, verifying and printing a 1 MB module against the whole process of NVIDIA's tileirdisasm.

Ours is timed twice: inside a running process, and as a Python process that is started for it. The last line is one JSON
object. Run: python tools/bench/tile_ir.py [--megabytes N]
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

OURS = """
import sys
from tilegym_rs import _core
module = _core.TileModule.load(sys.argv[1])
assert not module.verify()
sys.stdout.buffer.write(module.text().encode())
"""


def large_module(size: int) -> bytes:
    """Loops, reductions, views and constants of the corpus, again and again in one kernel, in about `size` bytes."""

    def emit(k: Kernel) -> None:
        # The locations of a module's operations take as much room as their code.
        while 2 * len(k.code.buf) < size:
            modules.name_conflicts(k)
            modules.control_flow_without_return(k)
            modules.mixed_indices(k)

    return module(emit)


def run(*command: str | Path) -> Callable[[], object]:
    def call() -> object:
        return subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    return call


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=1.0)
    options = parser.parse_args()
    disassembler = tool("tileirdisasm")
    pairs: list[Pair] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.tileirbc"
        path.write_bytes(large_module(int(options.megabytes * 1e6)))
        theirs = run(disassembler, path)
        pairs.append(measure("whole process", run(sys.executable, "-c", OURS, path), theirs, "tileirdisasm", warmup=1))
        pairs.append(measure("read, verify, print", in_process(path), theirs, "tileirdisasm, whole process", warmup=1))
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
