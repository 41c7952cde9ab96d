#!/usr/bin/env python3
"""What a launch costs its caller, on a driver that does nothing: the Rust side alone, and whole calls of ops.

Every figure is a median over rounds in which torch.empty, each op and each native loop take turns, so that drift of the
machine's speed cancels in the ratios. With --json the last line of output is one JSON object.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import os
import statistics
import subprocess
import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import tilegym
import tilegym_rs
from tilegym_rs import _core

_HERE = Path(__file__).resolve().parent
_NATIVE_CALLS = 20_000
_PYTHON_CALLS = 2_000

Call = Callable[[], object]


def build_null_driver(folder: Path) -> Path:
    """Compiles the driver beside this file."""
    driver = folder / "null_driver.so"
    flags = ["-std=c++20", "-O2", "-shared", "-fPIC", f"-I{_HERE.parents[1] / 'csrc'}"]
    subprocess.run([os.environ.get("CXX", "c++"), *flags, _HERE / "null_driver.cc", "-o", driver], check=True)
    return driver


def load_library(driver: Path) -> None:
    """Makes the kernel library launch through `driver` in this process."""
    loading = importlib.import_module("tilegym_rs.library")
    loading.stand_in_path = lambda: driver
    tilegym_rs.library()


def op_calls() -> dict[str, tuple[Call, torch.Tensor]]:
    """Per op a call on small tensors, and an output like its own."""
    ops = tilegym.ops
    x = torch.randn(8, 64)
    a, b = torch.randn(8, 16), torch.randn(16, 32)
    return {
        "softmax": (lambda: ops.softmax(x, backend="cutile-rs"), torch.empty(8, 64)),
        "silu_and_mul": (lambda: ops.silu_and_mul(x, backend="cutile-rs"), torch.empty(8, 32)),
        "matmul": (lambda: ops.matmul(a, b, backend="cutile-rs"), torch.empty(8, 32)),
    }


def per_call(call: Call, number: int = _PYTHON_CALLS) -> float:
    """Microseconds of the thread's processor time that one call out of `number` takes: others may use the machine."""
    return timeit.Timer(call, timer=time.thread_time).timeit(number) / number * 1e6


class NativeLoop:
    """Packed calls of one op from compiled code; what `scalars` leaves out takes the manifest's default."""

    def __init__(self, driver: Path, op: str, tensors: list[torch.Tensor], scalars: dict[str, int]) -> None:
        library = tilegym_rs.library()
        self._time = ctypes.CDLL(str(driver)).time_packed_calls
        self._time.restype = ctypes.c_longlong
        self._op = ctypes.cast(getattr(ctypes.CDLL(library.path), f"cutile_{op}_packed"), ctypes.c_void_p)
        self._tensors = tensors
        self._descriptors = [ctypes.create_string_buffer(bytes(_core.make_tensor_desc(t)), 104) for t in tensors]
        given = {"device_id": -1, "raw_stream": 0} | scalars
        rows = [row for row in library.describe(op)["params"] if row["kind"] != "tensor"]
        values = [given.get(row["name"], row["default"]) for row in rows]
        packed = [ctypes.addressof(desc) for desc in self._descriptors] + values
        self._count = len(packed)
        self._arguments = (ctypes.c_int64 * self._count)(*packed)

    def nanoseconds(self) -> float:
        """Of one call, measured over many."""
        count, calls = ctypes.c_size_t(self._count), ctypes.c_longlong(_NATIVE_CALLS)
        taken = self._time(self._op, self._arguments, count, calls)
        if taken < 0:
            raise RuntimeError(f"a launch failed: {tilegym_rs.last_error()}")
        return float(taken) / _NATIVE_CALLS


def native_loops(driver: Path) -> dict[str, NativeLoop]:
    """One loop per op, on tensors like those of op_calls."""
    x, half = torch.randn(8, 64), torch.empty(8, 32)
    a, b = torch.randn(8, 16), torch.randn(16, 32)
    tiles = {"bm": 128, "bn": 128, "bk": 32, "num_programs": 1, "persistent": 1}
    return {
        "softmax": NativeLoop(driver, "softmax", [torch.empty(8, 64), x], {"block_size": 64}),
        "silu_and_mul": NativeLoop(driver, "silu_and_mul", [half, x], {"block_size": 32}),
        "matmul": NativeLoop(driver, "matmul", [half, a, b], tiles),
    }


def measure(seconds: float, driver: Path) -> dict[str, Any]:
    """Medians per op, and the worst of them."""
    calls, loops = op_calls(), native_loops(driver)
    empties = {op: (lambda shape=tuple(out.shape): torch.empty(shape)) for op, (_, out) in calls.items()}
    for op in calls:  # compile and plan before anything is timed
        calls[op][0](), calls[op][0](), loops[op].nanoseconds()
    rounds: dict[str, list[tuple[float, float, float]]] = {op: [] for op in calls}
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(rounds["softmax"]) < 5:
        for op, rows in rounds.items():
            rows.append((per_call(calls[op][0]), per_call(empties[op]), loops[op].nanoseconds()))
    ops = {op: summary(rows) for op, rows in rounds.items()}
    worst = {key: max(row[key] for row in ops.values()) for key in next(iter(ops.values()))}
    return worst | {"rounds": len(rounds["softmax"]), "ops": ops}


def summary(rows: list[tuple[float, float, float]]) -> dict[str, float]:
    """Medians of one op's rounds."""
    return {
        "rust_ns_per_launch": statistics.median(native for _, _, native in rows),
        "op_call_us": statistics.median(ours for ours, _, _ in rows),
        "torch_empty_us": statistics.median(empty for _, empty, _ in rows),
        "op_call_over_torch_empty": statistics.median(ours / empty for ours, empty, _ in rows),
    }


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="end with one JSON object; its totals are the worst op's")
    parser.add_argument("--seconds", type=float, default=6.0, help="time to measure for")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        driver = build_null_driver(Path(folder))
        load_library(driver)
        result = measure(arguments.seconds, driver)
    print(f"{'op':<16}{'rust ns':>10}{'op us':>10}{'empty us':>10}{'ratio':>10}")
    for op, row in result["ops"].items():
        print(f"{op:<16}" + "".join(f"{value:>10.2f}" for value in row.values()))
    if arguments.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
