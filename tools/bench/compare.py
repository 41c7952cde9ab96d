#!/usr/bin/env python3
"""Time of one comparison of two tensors against one read of both, alternating in one run.

Prints the ratio; with --json PATH writes it. The read sums both tensors with torch.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median

import torch
from pairs import HEADER, machine, measure

from tilegym_rs.validation import cupti
from tilegym_rs.validation.compare import Tolerance, statistics


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--elements", type=int, default=64 << 20)
    parser.add_argument("--dtype", choices=["float32", "float16", "bfloat16", "float64"], default="float32")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--seconds", type=float, default=5.0)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    expected = torch.randn(arguments.elements, device=arguments.device).to(getattr(torch, arguments.dtype))
    noise = torch.randn(arguments.elements, device=arguments.device)
    actual = (expected * (1 + 1e-7 * noise)).to(expected.dtype)
    on_gpu = arguments.device == "cuda"

    def compare() -> object:
        return statistics(actual, expected, Tolerance(atol=1e-6, rtol=1e-3))

    def read() -> object:
        sums = actual.sum(), expected.sum()
        if on_gpu:
            torch.cuda.synchronize()
        return sums

    assert statistics(actual, expected, Tolerance(atol=1e-6, rtol=1e-3)).matches
    name = f"compare {arguments.elements >> 20} M {arguments.dtype}"
    pair = measure(name, compare, read, "torch.sum of both", seconds=arguments.seconds)
    print(HEADER)
    print(pair.row())
    if on_gpu:
        ours, theirs = (cupti.device_ms(call, 20) for call in (compare, read))
        if ours and theirs:
            ratio = median(ours) / median(theirs)
            print(f"on the device alone, by CUPTI: {median(ours):.4f} ms, {median(theirs):.4f} ms, {ratio:.2f} x")
    if arguments.json:
        record = {"machine": machine(arguments.threads), "torch": torch.__version__, "pairs": [pair.as_json()]}
        arguments.json.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
