#!/usr/bin/env python3
"""Ratios of the cutile-rs ops on the CPU device against torch eager, measured side by side in one run.

Prints a table; with --json PATH writes the same numbers, with the processor's flags and the thread count.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from pairs import HEADER, Pair, machine, measure

import tilegym

Call = Callable[[], object]


def _silu_and_mul_reference(x: torch.Tensor) -> torch.Tensor:
    hidden = x.shape[-1] // 2
    return torch.nn.functional.silu(x[..., :hidden]) * x[..., hidden:]


def cases() -> Iterator[tuple[str, Call, Call]]:
    """Label, our call and torch's call for every measured shape."""
    ops = tilegym.ops
    for dtype in (torch.float16, torch.float32):
        x = torch.randn(256, 2 * 8192).to(dtype)
        yield (
            f"silu_and_mul 256x8192 {_short(dtype)}",
            lambda x=x: ops.silu_and_mul(x, backend="cutile-rs"),
            lambda x=x: _silu_and_mul_reference(x),
        )
    for dtype in (torch.float32, torch.float16):
        y = torch.randn(256, 4096).to(dtype)
        yield (
            f"softmax 256x4096 {_short(dtype)}",
            lambda y=y: ops.softmax(y, backend="cutile-rs"),
            lambda y=y: torch.softmax(y, -1),
        )
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for n in (512, 1024):
            a, b = torch.randn(n, n).to(dtype), torch.randn(n, n).to(dtype)
            yield (
                f"matmul {n}^3 {_short(dtype)}",
                lambda a=a, b=b: ops.matmul(a, b, backend="cutile-rs"),
                lambda a=a, b=b: torch.mm(a, b),
            )


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.").replace("bfloat", "bf").replace("float", "f")


def main() -> None:
    """Measure every case and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--threads", type=int, default=2, help="torch.set_num_threads; our engine follows it")
    parser.add_argument("--seconds", type=float, default=3.0, help="time per case")
    parser.add_argument("--filter", default="", help="only cases whose label contains this")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    print(HEADER)
    pairs: list[Pair] = []
    with torch.no_grad():
        for name, ours, theirs in cases():
            if arguments.filter in name:
                pairs.append(measure(name, ours, theirs, "torch eager", seconds=arguments.seconds))
                print(pairs[-1].row(), flush=True)
    if arguments.json:
        record = {"machine": machine(arguments.threads), "torch": torch.__version__}
        arguments.json.write_text(json.dumps(record | {"pairs": [p.as_json() for p in pairs]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
