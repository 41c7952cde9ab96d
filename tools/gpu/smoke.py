#!/usr/bin/env python3
"""Smoke run of the cutile-rs ops on a GPU: values, CUDA graphs, streams, devices, cost of a call.

Every check prints a line; the exit status is the number of checks that failed. With `--device cpu` only what has no
GPU in it runs: that launches the same kernels, for tools/gpu/pack to collect.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

import tilegym
import tilegym_rs
from tilegym.ops.cutile_rs.configs import MatmulConfig
from tilegym.ops.cutile_rs.spaces import spaces_of
from tilegym.ops.reference import ORACLES
from tilegym_rs.validation.compare import compare
from tilegym_rs.validation.records import PASS
from tilegym_rs.validation.tolerances import tolerance_for

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
TARGET = 90

# They bring up every kernel that the other checks launch: those depend on powers of two that divide the extents, and on
# the power of two that holds a row.
SIZES = {"softmax": (48, 100, 256, 2048, 4096), "silu_and_mul": (48, 100, 256, 4096), "matmul": (48, 100, 256)}
Call = Callable[[], Any]


def op(name: str, *args: Any, **kwargs: Any) -> torch.Tensor:
    result: torch.Tensor = getattr(tilegym.ops, name)(*args, backend="cutile-rs", **kwargs)
    return result


def expect(name: str, result: torch.Tensor, *args: torch.Tensor) -> float:
    """The largest absolute error against the float64 oracle; raises where it is too large."""
    dtype = str(result.dtype).removeprefix("torch.")
    outcome = compare(result, ORACLES[name](*args), tolerance_for(name, dtype))
    if outcome.verdict != PASS:
        raise AssertionError(f"{name} {dtype} {tuple(result.shape)}: {outcome.message}")
    return outcome.error or 0.0


def operands(name: str, size: int, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, ...]:
    """48 rows of 2 * size columns, or two matrices of size x size."""
    if name != "matmul":
        return (torch.randn(48, 2 * size, device=device).to(dtype),)
    return tuple((torch.randn(size, size, device=device) / size**0.25).to(dtype) for _ in range(2))


def variants() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every op with every configuration that may be tuned to."""
    yield "softmax", {}
    yield "silu_and_mul", {}
    for space, persistent in (("grid", False), ("persistent", True)):
        for config in spaces_of("matmul", MatmulConfig)[TARGET][space]:
            yield "matmul", {"static_persistent": persistent, "kernel_configs": dataclasses.asdict(config)}


def check_values(device: str) -> str:
    errors: dict[str, float] = {}
    for name, options in variants():
        for dtype in DTYPES:
            for size in SIZES[name]:
                args = operands(name, size, dtype, device)
                error = expect(name, op(name, *args, **options), *args)
                label = f"{name} {str(dtype).removeprefix('torch.')}"
                errors[label] = max(error, errors.get(label, 0.0))
    return "largest errors: " + ", ".join(f"{label} {error:.1e}" for label, error in errors.items())


def check_both_devices(device: str) -> str:
    for place in ("cpu", device, "cpu", device):
        x = torch.randn(48, 96, device=place)
        result = op("softmax", x)
        assert result.device == x.device
        expect("softmax", result, x)
    return "CPU and CUDA tensors took turns in one process"


def replayed(name: str, args: tuple[torch.Tensor, ...]) -> None:
    """Captures a call, then replays it on other values."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = op(name, *args)
    for _ in range(3):
        for tensor in args:
            tensor.copy_(torch.randn_like(tensor) / tensor.shape[-1] ** 0.25)
        out.zero_()
        graph.replay()
        expect(name, out, *args)


def check_warm_graph(device: str) -> str:
    for name in ("softmax", "silu_and_mul", "matmul"):
        for dtype in DTYPES:
            args = operands(name, 256, dtype, device)
            op(name, *args)
            replayed(name, args)
    return "three ops, three dtypes, three replays with new values each"


def check_cold_graph(device: str) -> str:
    args = operands("softmax", 256, torch.float32, device)
    try:
        replayed("softmax", args)
    except RuntimeError as error:
        op("softmax", *args)
        replayed("softmax", args)
        return f"refused: {error}; replayed right once loaded"
    raise AssertionError("wanted a refusal of a kernel that is not loaded while a graph is captured, got none")


def check_side_stream(device: str) -> str:
    x, fresh = torch.zeros(64, 512, device=device), torch.randn(64, 512, device=device)
    op("softmax", x)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)  # cycles, about 0.1 s: a launch elsewhere would read the zeros
        x.copy_(fresh)
        out = op("softmax", x)
        pending = not stream.query()
        idle = torch.cuda.default_stream().query()
    torch.cuda.synchronize()
    expect("softmax", out, fresh)
    assert pending, "the call waited for its stream"
    assert idle, "the launch went to the default stream"
    return "in order on the side stream, without waiting"


def check_new_thread(device: str) -> str:
    x = torch.randn(48, 96, device=device)
    out = torch.empty_like(x)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(tilegym_rs.library().softmax, out, x, block_size=128).result()
    expect("softmax", out, x)
    return "a thread without a current context launches"


def check_mixed_devices(device: str) -> str:
    here, there = torch.randn(8, 8), torch.randn(8, 8, device=device)
    calls: tuple[Call, ...] = (
        lambda: op("matmul", there, here),
        lambda: op("silu_and_mul", there, out=torch.empty(8, 4)),
        lambda: tilegym_rs.library().softmax(here, there, block_size=8),
    )
    return "\n    ".join(["refused:", *(refusal(call) for call in calls)])


def refusal(call: Call) -> str:
    try:
        call()
    except ValueError as error:
        return str(error)
    raise AssertionError("wanted a ValueError for tensors on two devices, got a result")


def round_us(call: Call, calls: int = 200) -> float:
    """Host microseconds of a call, of `calls` without waiting for the device."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls * 1e6


def check_call_cost(device: str) -> str:
    x = torch.randn(16, 96, device=device)
    y, out = torch.randn(96, 96, device=device), torch.empty_like(x)
    bare = tilegym_rs.library().softmax
    calls: dict[str, Call] = {
        "torch.add": lambda: torch.add(x, x),
        "torch.empty": lambda: torch.empty((16, 96), device=device),
        "torch.softmax": lambda: torch.softmax(x, -1),
        "library().softmax": lambda: bare(out, x, block_size=128),
        "ops.softmax": lambda: op("softmax", x),
        "ops.silu_and_mul": lambda: op("silu_and_mul", x),
        "ops.matmul": lambda: op("matmul", x, y),
    }
    # In turns, so that a change of the clocks meets all of them.
    rounds = [{name: round_us(call) for name, call in calls.items()} for _ in range(26)][1:]
    times = {name: statistics.median(one[name] for one in rounds) for name in calls}
    rows = [f"{name:18} {us:6.2f} us  {us / times['torch.add']:5.2f} x torch.add" for name, us in times.items()]
    return "\n    ".join(["host time of a call on 16 x 96 float32:", *rows])


def device_us(call: Call) -> float:
    for _ in range(5):
        call()
    times = []
    for _ in range(30):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3)
    return float(statistics.median(times))


def torch_silu_and_mul(x: torch.Tensor) -> torch.Tensor:
    gate, value = x.chunk(2, -1)
    return torch.nn.functional.silu(gate) * value


def check_device_time(device: str) -> str:
    x = torch.randn(8192, 4096, device=device).half()
    gate = torch.randn(8192, 2 * 8192, device=device).half()
    a, b = operands("matmul", 4096, torch.bfloat16, device)
    pairs: dict[str, tuple[Call, Call]] = {
        "softmax 8192x4096 f16": (lambda: op("softmax", x), lambda: torch.softmax(x, -1)),
        "silu_and_mul 8192x8192 f16": (lambda: op("silu_and_mul", gate), lambda: torch_silu_and_mul(gate)),
        "matmul 4096 bf16": (lambda: op("matmul", a, b), lambda: a @ b),
    }
    rows = [
        f"{name:28} ours {device_us(ours):8.1f} us, torch {device_us(theirs):8.1f} us"
        for name, (ours, theirs) in pairs.items()
    ]
    return "\n    ".join(["time on the device, caches warm:", *rows])


# The cold launch comes first: nothing is loaded, and no context is current but torch's.
CHECKS = (
    check_cold_graph,
    check_values,
    check_both_devices,
    check_warm_graph,
    check_side_stream,
    check_new_thread,
    check_mixed_devices,
    check_call_cost,
    check_device_time,
)
ANYWHERE = (check_values,)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    device = parser.parse_args().device
    torch.manual_seed(0)
    failed = 0
    for check in CHECKS if device == "cuda" else ANYWHERE:
        try:
            print(f"passed  {check.__name__}: {check(device)}", flush=True)
        except Exception as error:  # a check that fails must not hide the others
            failed += 1
            print(f"FAILED  {check.__name__}: {type(error).__name__}: {error}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
