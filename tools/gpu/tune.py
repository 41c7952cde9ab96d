#!/usr/bin/env python3
"""A tuning run on a GPU: matmul, softmax, silu_and_mul and attention_sink are tuned and leave records; a second process
finds them and tunes nothing; then the six ops are timed beside torch. Prints one line per candidate and per time.

With `--device cpu` it launches every candidate on small operands of the same classes of extents, for tools/gpu/pack.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import torch

import tilegym
from tilegym.backend.cutile_rs import get_cache_stats
from tilegym.backend.cutile_rs.tuning.search import time_on_gpu
from tilegym.ops.reference import ORACLES
from tilegym_rs import tuning
from tilegym_rs.cli import main as tilegym_rs_command
from tilegym_rs.validation.compare import compare
from tilegym_rs.validation.records import PASS
from tilegym_rs.validation.tolerances import tolerance_for

Call = Callable[[], torch.Tensor]


class Operands:
    """Makes operands: large ones on a GPU, on the CPU device such as bring up the same kernels."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.small = device == "cpu"

    def randn(self, *shape: int, dtype: torch.dtype, scale: float = 1.0) -> torch.Tensor:
        return (torch.randn(*shape, device=self.device) * scale).to(dtype)

    def extent(self, extent: int) -> int:
        """An extent that decides nothing but the number of tiles: kernels know the powers of two in it up to 16."""
        return 64 if self.small else extent

    def pair(self, size: int, dtype: torch.dtype, *batches: int) -> list[torch.Tensor]:
        size = 256 if self.small else size
        return [self.randn(*batches, size, size, dtype=dtype, scale=size**-0.25) for _ in range(2)]


def gated(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.silu(gate) * up


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, _sinks: torch.Tensor) -> torch.Tensor:
    """torch's causal attention, which has no sinks: the same products."""
    batches, queries, heads, groups, depth = q.shape
    q = q.reshape(batches, queries, heads * groups, depth).transpose(1, 2)
    k, v = (t.repeat_interleave(groups, 2).transpose(1, 2) for t in (k, v))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.125)


def cases(make: Operands) -> dict[str, tuple[str, tuple[torch.Tensor, ...], dict[str, Any], Call]]:
    """Label: op, arguments, options, what torch does instead."""
    rows: dict[str, tuple[str, tuple[torch.Tensor, ...], dict[str, Any], Call]] = {}

    def add(label: str, op: str, args: Any, theirs: Callable[..., torch.Tensor], **options: Any) -> None:
        args = tuple(args)
        rows[label] = (op, args, options, lambda: theirs(*args))

    for size in (1024, 4096):
        for persistent in (True, False):
            pair = make.pair(size, torch.bfloat16)
            kind = "persistent" if persistent else "grid"
            add(f"matmul {kind} {size} bf16", "matmul", pair, torch.matmul, static_persistent=persistent)
    add("bmm 8x2048 f16", "bmm", make.pair(2048, torch.float16, 8), torch.bmm)
    for columns in (4096, 16384):
        x = make.randn(make.extent(8192), columns, dtype=torch.float16)
        add(f"softmax 8192x{columns} f16", "softmax", (x,), lambda x: torch.softmax(x, -1))
    for columns in (4096, 8192):
        x = make.randn(make.extent(16384), 2 * columns, dtype=torch.float16)
        add(f"silu_and_mul 16384x{columns} f16", "silu_and_mul", (x,), lambda x: gated(*x.chunk(2, -1)))
        halves = [make.randn(make.extent(16384), columns, dtype=torch.bfloat16) for _ in range(2)]
        add(f"swiglu 16384x{columns} bf16", "swiglu", halves, gated)
    for length in (1024, 4096):
        shape = (1, 256 if make.small else length, 8)
        q = make.randn(*shape, 8, 64, dtype=torch.bfloat16)
        k, v = (make.randn(*shape, 64, dtype=torch.bfloat16) for _ in range(2))
        add(
            f"attention_sink {length} bf16",
            "attention_sink",
            (q, k, v, make.randn(64, dtype=torch.bfloat16)),
            attention,
        )
    return rows


def call(op: str, args: tuple[torch.Tensor, ...], options: dict[str, Any]) -> torch.Tensor:
    result: torch.Tensor = getattr(tilegym.ops, op)(*args, backend="cutile-rs", **options)
    return result


def launch_all(make: Operands) -> dict[str, str]:
    """Makes every call once, which tunes what no record has the choice for. Returns the labels that failed."""
    failures: dict[str, str] = {}
    for label, (op, args, options, _) in cases(make).items():
        try:
            call(op, args, options)
        except Exception as error:  # one case must not hide the others
            failures[label] = f"{type(error).__name__}: {error}"
    return failures


def check_values(make: Operands) -> int:
    """Tuned results against the oracle, on the smaller cases."""
    wrong = 0
    for label, (op, args, options, _) in cases(make).items():
        if any(tensor.numel() > 1 << 25 for tensor in args) or op not in ORACLES:
            continue
        result = call(op, args, options)
        dtype = str(result.dtype).removeprefix("torch.")
        outcome = compare(result, ORACLES[op](*args), tolerance_for(op, dtype))
        print(f"{'right' if outcome.verdict == PASS else 'WRONG'}   {label}: largest error {outcome.error or 0.0:.1e}")
        wrong += outcome.verdict != PASS
    return wrong


def print_times(make: Operands) -> None:
    device = torch.device("cuda", 0)
    print("device time of a call, L2 flushed before each, median of 20:")
    for label, (op, args, options, theirs) in cases(make).items():
        ours = functools.partial(call, op, args, options)
        us, other = (time_on_gpu(work, lambda: None, 3, 20, device) * 1e3 for work in (ours, theirs))
        print(f"  {label:30} ours {us:9.1f} us, torch {other:9.1f} us, {other / us:5.2f}x torch's speed")


def second_process(make: Operands) -> int:
    """Nothing is to be tuned; every choice comes from a record."""
    failures = launch_all(make)
    stats = get_cache_stats().values()
    tuned = sum(not row["from_disk"] for row in stats)
    print(f"second process: {len(stats)} choices, {len(stats) - tuned} from records, {tuned} tuned; failed: {failures}")
    return tuned + len(failures) + (not stats)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--second", action="store_true", help="be the second process")
    given = parser.parse_args()
    make = Operands(given.device)
    torch.manual_seed(0)
    if given.second:
        return second_process(make)
    failures = launch_all(make)
    for label, reason in failures.items():
        print(f"FAILED  {label}: {reason}")
    if given.device == "cpu":
        return len(failures)
    tilegym_rs_command(["tune", "list"])
    print(f"first process: {len(tuning.records())} records, {len(failures)} failed")
    again = subprocess.run([sys.executable, __file__, "--second"], env=os.environ, check=False).returncode
    wrong = check_values(make)
    print_times(make)
    return len(failures) + again + wrong


if __name__ == "__main__":
    sys.exit(main())
