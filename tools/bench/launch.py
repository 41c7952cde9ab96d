#!/usr/bin/env python3
"""What a launch costs its caller, on a driver that does nothing: the Rust side alone, and whole calls of ops.

Every figure is a median over rounds in which torch.empty, each op and each native loop take turns, so that drift of the
machine's speed cancels in the ratios. With --json the last line of output is one JSON object.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import importlib
import json
import os
import statistics
import struct
import subprocess
import tempfile
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Case:
    """One op on small tensors: the arguments of its call, and what the wrapper makes of them for the kernel library.

    Attributes:
        args: of the op.
        out: shape of its output as the kernel sees it.
        tensors: of the launch, after its output.
        scalars: of the launch; others have their defaults.
    """

    args: tuple[Any, ...]
    out: tuple[int, ...]
    tensors: tuple[torch.Tensor, ...]
    scalars: dict[str, int | float]


def cases(device: str = "cpu") -> dict[str, Case]:
    """All ops, on tensors of a device."""

    def made(*shape: int) -> torch.Tensor:
        return torch.randn(shape, device=device)

    x, y, a, b = made(8, 64), made(8, 64), made(8, 16), made(16, 32)
    q, k, v, sinks = made(1, 4, 2, 2, 16), made(1, 16, 2, 16), made(1, 16, 2, 16), made(4)
    start = torch.empty(0, dtype=torch.int32, device=device)
    tiles = {"bm": 128, "bn": 128, "bk": 32, "num_programs": 1, "persistent": 1}
    many = (a.expand(2, 8, 16).contiguous(), b.expand(2, 16, 32).contiguous())
    return {
        "softmax": Case((x,), (8, 64), (x,), {"block_size": 64}),
        "silu_and_mul": Case((x,), (8, 32), (x,), {"block_size": 32}),
        "swiglu": Case((x, y), (8, 64), (x, y), {"block_size": 64}),
        "matmul": Case((a, b), (8, 32), (a, b), tiles),
        "bmm": Case(many, (2, 8, 32), many, tiles | {"num_programs": 2}),
        "attention_sink": Case(
            (q, k, v, sinks, 0.25),
            (1, 4, 2, 2, 16),
            (q, k, v, sinks, start),
            {"scale": 0.25, "tile_m": 16, "tile_n": 32},
        ),
    }


def op_call(op: str, case: Case) -> Call:
    """The op on the case's arguments, as a user calls it."""
    function, args = getattr(tilegym.ops, op), case.args
    return lambda: function(*args, backend="cutile-rs")


def per_call(call: Call, number: int = _PYTHON_CALLS) -> float:
    """Microseconds of the thread's processor time that one call out of `number` takes: others may use the machine."""
    return timeit.Timer(call, timer=time.thread_time).timeit(number) / number * 1e6


class NativeLoop:
    """Packed calls of one op from compiled code; what its scalars leave out takes the manifest's default."""

    def __init__(self, driver: Path, op: str, case: Case) -> None:
        library = tilegym_rs.library()
        self._time = ctypes.CDLL(str(driver)).time_packed_calls
        self._time.restype = ctypes.c_longlong
        self._op = ctypes.cast(getattr(ctypes.CDLL(library.path), f"cutile_{op}_packed"), ctypes.c_void_p)
        self._tensors = (torch.empty(case.out), *case.tensors)
        descriptors = [bytes(_core.make_tensor_desc(tensor)) for tensor in self._tensors]
        self._descriptors = [ctypes.create_string_buffer(text, len(text)) for text in descriptors]
        given = {"device_id": -1, "raw_stream": 0} | case.scalars
        rows = [row for row in library.describe(op)["params"] if row["kind"] != "tensor"]
        values = [packed_value(row["kind"], given.get(row["name"], row["default"])) for row in rows]
        packed = [struct.pack("q", ctypes.addressof(desc)) for desc in self._descriptors] + values
        self._count = len(packed)
        self._arguments = ctypes.create_string_buffer(b"".join(packed))

    def nanoseconds(self) -> float:
        """Of one call, measured over many."""
        count, calls = ctypes.c_size_t(self._count), ctypes.c_longlong(_NATIVE_CALLS)
        taken = self._time(self._op, self._arguments, count, calls)
        if taken < 0:
            raise RuntimeError(f"a launch failed: {tilegym_rs.last_error()}")
        return float(taken) / _NATIVE_CALLS


def packed_value(kind: str, value: float) -> bytes:
    """A scalar in the eight bytes of a packed argument."""
    return struct.pack("d", value) if kind == "f32" else struct.pack("q", int(value))


def measure(seconds: float, driver: Path) -> dict[str, Any]:
    """Medians per op, and the worst of them."""
    calls = {op: op_call(op, case) for op, case in cases().items()}
    loops = {op: NativeLoop(driver, op, case) for op, case in cases().items()}
    empties = {op: functools.partial(torch.empty, calls[op]().shape) for op in calls}
    for op in calls:  # compile and plan before anything is timed
        calls[op](), calls[op](), loops[op].nanoseconds()
    rounds: dict[str, list[tuple[float, float, float]]] = {op: [] for op in calls}
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(rounds["softmax"]) < 5:
        for op, rows in rounds.items():
            rows.append((per_call(calls[op]), per_call(empties[op]), loops[op].nanoseconds()))
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
