#!/usr/bin/env python3
"""Time of an op's first call in a new process, after its imports: cold, and with a warm cache of compiled kernels.

Each round is a process of its own on the CPU device. The last line is one JSON object: per op the medians in
milliseconds. warm_ms is the whole first call, load_ms the part of it that finds and loads the kernel library.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from typing import Any

OPS = ("softmax", "silu_and_mul", "matmul")

CHILD = """\
import json, sys, time
import torch, tilegym, tilegym.ops, tilegym_rs
shape = (64, 64)
args = [torch.randn(shape) for _ in range(2 if sys.argv[1] == "matmul" else 1)]
torch.add(args[0], args[0])
op = getattr(tilegym.ops, sys.argv[1])
def timed(call):
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3
load = timed(tilegym_rs.library)
first = load + timed(lambda: op(*args, backend="cutile-rs"))
second = timed(lambda: op(*args, backend="cutile-rs"))
print(json.dumps({"first_ms": first, "load_ms": load, "second_ms": second, "compiles": tilegym_rs.counters().compiles}))
"""


def first_call(op: str, mode: str, folder: str) -> dict[str, Any]:
    """Figures of one new process, whose kernels come from and go to the folder."""
    variables = {"TILEGYM_RS_CACHE": mode, "TILEGYM_RS_CACHE_SEEDS": folder, "TILEGYM_RS_CACHE_RECORD": ""}
    if mode == "off":
        variables["TILEGYM_RS_CACHE_RECORD"] = folder
    run = subprocess.run(
        [sys.executable, "-c", CHILD, op], env=os.environ | variables, capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        raise SystemExit(run.stderr)
    figures: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    result: dict[str, Any] = {"rounds": rounds, "device": "cpu"}
    with tempfile.TemporaryDirectory() as folder:
        for op in OPS:
            cold = [first_call(op, "off", folder) for _ in range(2)]
            warm = [first_call(op, "on", folder) for _ in range(rounds)]
            if any(figures["compiles"] for figures in warm):
                raise SystemExit(f"{op}: the cache was warm, and yet a kernel was compiled")
            result[op] = {
                "cold_ms": round(statistics.median(figures["first_ms"] for figures in cold), 2),
                "warm_ms": round(statistics.median(figures["first_ms"] for figures in warm), 2),
                "warm_least_ms": round(min(figures["first_ms"] for figures in warm), 2),
                "load_ms": round(statistics.median(figures["load_ms"] for figures in warm), 2),
                "second_ms": round(statistics.median(figures["second_ms"] for figures in warm), 3),
            }
            print(f"{op:14} " + ", ".join(f"{name} {value}" for name, value in result[op].items()))
    result["warm_ms"] = max(result[op]["warm_ms"] for op in OPS)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
