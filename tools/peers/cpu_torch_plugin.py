"""A pytest plugin that runs tests written for CUDA tensors on CPU tensors; loaded by run_cutile_python.

Nothing of cuTile Python is changed: tensors say that they are on a CUDA device only where DLPack is asked,
which is what the launcher looks at, and its kernels then run on the driver that the process found, the CPU device.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import types
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

_DLPACK_CUDA = 2
_OFFSET_OF_DEVICE_TYPE = 8  # behind the data pointer of a DLManagedTensor

ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

_plain_to_dlpack = torch._C._to_dlpack


def _as_cuda(tensor: torch.Tensor, *arguments: Any, **keywords: Any) -> object:
    capsule = _plain_to_dlpack(tensor.detach(), *arguments, **keywords)
    address = ctypes.pythonapi.PyCapsule_GetPointer(capsule, b"dltensor")
    ctypes.c_int32.from_address(address + _OFFSET_OF_DEVICE_TYPE).value = _DLPACK_CUDA
    return capsule


def _on_cpu(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    if isinstance(value, str) and value.split(":")[0] == "cuda":
        return "cpu"
    return value


class _CudaMeansCpu(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.cuda:
            return args[0]
        return func(*map(_on_cpu, args), **{name: _on_cpu(value) for name, value in (kwargs or {}).items()})


class _Stream(int):
    """The legacy default stream; launches on it return when they are done."""

    cuda_stream = 0

    def synchronize(self) -> None:
        """Nothing is under way."""

    wait_stream = wait_event = record_event = lambda self, *_: None


def _make_context_current() -> None:
    """As torch does with the first tensor on a device."""
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    driver.cuInit(0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)


def _reach_children() -> None:
    here = Path(__file__).resolve().parent
    paths = [str(here / "children"), str(here), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))


def _install() -> None:
    torch._C._to_dlpack = _as_cuda
    stream = _Stream(0)
    cuda = torch.cuda
    cuda.current_stream = cuda.default_stream = lambda *_: stream
    cuda.synchronize = lambda *_: None
    cuda.current_device = lambda: 0
    cuda.device_count = lambda: 1
    cuda.get_device_properties = lambda *_: types.SimpleNamespace(multi_processor_count=148, L2_cache_size=132644864)
    _CudaMeansCpu().__enter__()
    _make_context_current()
    _reach_children()


_install()


class _Outcomes:
    """Writes one line a test: name, outcome, reason. Tests that have a line already are left out.

    A test that is not done in time ends the process, whatever it waits for; a file named like the lines, ending in
    .running, then tells its name.
    """

    def __init__(self, path: Path, seconds: float) -> None:
        self._path = path
        self._running = path.with_suffix(".running")
        self._seconds = seconds

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        done = {json.loads(line)[0] for line in lines}
        items[:] = [item for item in items if item.nodeid not in done]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._running.write_text(item.nodeid)
        faulthandler.dump_traceback_later(self._seconds, exit=True)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()
            self._running.unlink()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        reason = "" if report.outcome == "passed" else _reason(report)
        outcome = "xfailed" if hasattr(report, "wasxfail") and report.outcome == "skipped" else report.outcome
        with self._path.open("a") as file:
            file.write(json.dumps([report.nodeid, outcome, reason]) + "\n")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome != "passed":
            with self._path.open("a") as file:
                file.write(json.dumps([report.nodeid, report.outcome, _reason(report)]) + "\n")


def _reason(report: Any) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr).strip().splitlines()[-1]
    return " ".join(text.split())[:300]


class _BenchmarkHooks:
    """Hooks that the suite's conftest fills for a plugin that is not needed here."""

    def pytest_benchmark_update_machine_info(self, config: Any, machine_info: Any) -> None: ...

    def pytest_benchmark_update_json(self, config: Any, benchmarks: Any, output_json: Any) -> None: ...


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(_BenchmarkHooks)


def pytest_configure(config: pytest.Config) -> None:
    path = os.environ.get("TILEGYM_PEER_OUTCOMES")
    if path:
        seconds = float(os.environ["TILEGYM_PEER_SECONDS"])
        config.pluginmanager.register(_Outcomes(Path(path), seconds))
