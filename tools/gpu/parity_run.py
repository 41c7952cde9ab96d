#!/usr/bin/env python3
"""Launches what tools/gpu/parity has packed on the GPU of this machine: parity_run.py FOLDER RESULTS.

Needs numpy and the driver. RESULTS is an .npz of the arguments' bytes after each launch, by "name/argument"; "failed"
holds the cases that did not run and why. Cases run in child processes: a fault makes a context useless.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import sys
from pathlib import Path
from typing import Any

import numpy as np

ALIGNMENT = 256
Row = dict[str, Any]


class Driver:
    """The calls of libcuda that a launch takes, on the first device's primary context."""

    def __init__(self) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, name: str, *arguments: Any) -> None:
        status = getattr(self._cuda, name)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self._cuda.cuGetErrorName(status, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()}")

    def launch(self, image: bytes, entry: str, grid: list[int], arrays: list[bytes]) -> list[bytes]:
        """The arrays' bytes after the launch."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), image)
        self("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
        pointers = [ctypes.c_uint64() for _ in arrays]
        for pointer, content in zip(pointers, arrays, strict=True):
            self("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(len(content), ALIGNMENT)))
            self("cuMemcpyHtoD_v2", pointer, content, ctypes.c_size_t(len(content)))
        parameters = (ctypes.c_void_p * len(arrays))(*[ctypes.addressof(p) for p in pointers])
        x, y, z = [*grid, 1, 1][:3]
        self("cuLaunchKernel", function, x, y, z, 1, 1, 1, 0, None, parameters, None)
        self("cuCtxSynchronize")
        outputs = []
        for pointer, content in zip(pointers, arrays, strict=True):
            out = ctypes.create_string_buffer(len(content))
            self("cuMemcpyDtoH_v2", out, pointer, ctypes.c_size_t(len(content)))
            self("cuMemFree_v2", pointer)
            outputs.append(out.raw)
        self("cuModuleUnload", module)
        return outputs


def work(folder: Path, rows: list[Row], channel: Any) -> None:
    """Sends (name, arrays or the error) for each row; ends after an error."""
    driver = Driver()
    data = (folder / "data.bin").read_bytes()
    for row in rows:
        arrays = [data[begin : begin + size] for begin, size in row["data"]]
        try:
            outputs = driver.launch((folder / row["cubin"]).read_bytes(), row["entry"], row["grid"], arrays)
        except RuntimeError as error:
            channel.send((row["name"], str(error)))
            return
        channel.send((row["name"], outputs))
    channel.send(None)


def main(folder: Path, results: Path) -> int:
    rows: list[Row] = json.loads((folder / "list.json").read_text())
    found: dict[str, Any] = {}
    failed: list[tuple[str, str]] = []
    done = 0
    spawn = multiprocessing.get_context("spawn")
    while done < len(rows):
        receiver, sender = spawn.Pipe(duplex=False)
        child = spawn.Process(target=work, args=(folder, rows[done:], sender))
        child.start()
        sender.close()
        while True:
            try:
                message = receiver.recv()
            except EOFError:
                message = (rows[done]["name"], "the process ended")
            if message is None:
                break
            name, outcome = message
            done += 1
            if isinstance(outcome, str):
                failed.append((name, outcome))
                break
            for i, content in enumerate(outcome):
                found[f"{name}/{i}"] = np.frombuffer(content, np.uint8)
        child.join()
    np.savez_compressed(results, failed=np.array(json.dumps(failed)), **found)
    print(f"{len(rows) - len(failed)} cases ran, {len(failed)} failed")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
