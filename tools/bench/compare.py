#!/usr/bin/env python3
"""Time of one comparison of two tensors against one read of both, alternating in one run.

Prints the ratio; with --json PATH writes it. The read sums both tensors with torch.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from pairs import HEADER, machine, measure

from tilegym_rs import _core


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--elements", type=int, default=64 << 20)
    parser.add_argument("--dtype", choices=["float32", "float16", "bfloat16", "float64"], default="float32")
    parser.add_argument("--seconds", type=float, default=5.0)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    expected = torch.randn(arguments.elements).to(getattr(torch, arguments.dtype))
    actual = (expected * (1 + 1e-7 * torch.randn(arguments.elements))).to(expected.dtype)

    def compare() -> object:
        return _core.compare(actual, expected, rtol=1e-3, atol=1e-6)

    def read() -> object:
        return actual.sum(), expected.sum()

    assert _core.compare(actual, expected, rtol=1e-3, atol=1e-6).matches
    name = f"compare {arguments.elements >> 20} M {arguments.dtype}"
    pair = measure(name, compare, read, "torch.sum of both", seconds=arguments.seconds)
    print(HEADER)
    print(pair.row())
    if arguments.json:
        record = {"machine": machine(arguments.threads), "torch": torch.__version__, "pairs": [pair.as_json()]}
        arguments.json.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
