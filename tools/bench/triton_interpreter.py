#!/usr/bin/env python3
"""Ratios of the CPU device against Triton's interpreter on the same kernels, what one has without a GPU today.

Needs triton from PyPI. The Triton kernels below do the same work per tile block as ours.
"""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported

import argparse
import json
from pathlib import Path

import torch
import triton
import triton.language as tl
from pairs import HEADER, machine, measure

import tilegym


@triton.jit
def _silu_and_mul_kernel(out_ptr, in_ptr, hidden, in_stride, out_stride, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < hidden
    a = tl.load(in_ptr + row * in_stride + columns, mask=mask).to(tl.float32)
    b = tl.load(in_ptr + row * in_stride + hidden + columns, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * out_stride + columns, (a / (1 + tl.exp(-a)) * b).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _matmul_kernel(c_ptr, a_ptr, b_ptr, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # type: ignore[no-untyped-def]
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        a = tl.load(a_ptr + rows[:, None] * k + (start + inner)[None, :])
        b = tl.load(b_ptr + (start + inner)[:, None] * n + columns[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], acc.to(c_ptr.dtype.element_ty))


def _triton_silu_and_mul(x: torch.Tensor) -> torch.Tensor:
    rows, hidden = x.shape[0], x.shape[1] // 2
    out = torch.empty(rows, hidden, dtype=x.dtype)
    _silu_and_mul_kernel[(rows,)](out, x, hidden, x.stride(0), out.stride(0), BLOCK=triton.next_power_of_2(hidden))
    return out


def _triton_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype)
    _matmul_kernel[(m // 128, n // 128)](c, a, b, n, k, BM=128, BN=128, BK=64)
    return c


def main() -> None:
    """Measure both kernels and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    x = torch.randn(256, 2 * 8192).to(torch.float16)
    a, b = torch.randn(512, 512), torch.randn(512, 512)
    peer = f"triton {triton.__version__} interpreter"
    print(HEADER)
    pairs = []
    for name, ours, theirs in (
        (
            "silu_and_mul 256x8192 f16",
            lambda: tilegym.ops.silu_and_mul(x, backend="cutile-rs"),
            lambda: _triton_silu_and_mul(x),
        ),
        ("matmul 512^3 f32", lambda: tilegym.ops.matmul(a, b, backend="cutile-rs"), lambda: _triton_matmul(a, b)),
    ):
        pairs.append(measure(name, ours, theirs, peer, seconds=10, warmup=1, repeat=21))
        print(pairs[-1].row(), flush=True)
        print(f"  {1 / pairs[-1].ratio:.0f}x faster than the interpreter")
    if arguments.json:
        record = {"machine": machine(arguments.threads), "torch": torch.__version__, "triton": triton.__version__}
        arguments.json.write_text(json.dumps(record | {"pairs": [p.as_json() for p in pairs]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
