#!/usr/bin/env python3
"""Writes docs/cpu-device.md: which operation on which element type the CPU device executes, and how exactly.

Every line comes from the cases that tests/framework/test_cpu_ops.py runs; nothing else gets in.

    tools/cpu_device_table.py            writes the page
    tools/cpu_device_table.py --check    exits 1 where the page is out of date
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "cpu-device.md"
sys.path.insert(0, str(ROOT / "tests" / "framework"))

from cpu_ops.all import elementwise_cases, structural_kernels  # noqa: E402

ELEMENTS = ("i1", "i4", "i8", "i16", "i32", "i64", "f16", "bf16", "tf32", "f32", "f64",
            "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN")  # fmt: skip

HEAD = """# The CPU device

What it executes, operation by operation, and how close the results are. The table is written by
`tools/cpu_device_table.py` from the cases of `tests/framework/test_cpu_ops.py`, which run all of it against the oracle
that the last column names: all values of 8-bit types (all pairs of them for two operands), all values of 16-bit types
for one operand, all special values and 10,000 random ones elsewhere; with the same bits in forward, reversed and
shuffled order of the tile blocks, on one thread and on four.

*exact*: the bits of the oracle, any NaN for a NaN. *n ulp*: at most n units in the last place away.

Where the dialect leaves a result open, the device gives a defined one: integer division and remainder by zero give 0,
the smallest integer divided by -1 is itself, a shift by the width or more leaves 0 (or the sign), a float beyond the
limits of an integer type becomes the nearest limit and NaN becomes 0 (to i1: every float but zero is true), elements of
a view outside its tensor are 0 without a padding value, and a masked load without one gives 0. Conversions to f8E4M3FN,
f8E5M2 and f4E2M1FN stop at the largest value, infinities too. Reductions and scans begin with their first element, not
with the identity. A tile is loaded as a whole before it is stored.

## Beside a GPU

`tools/gpu/parity` runs the same cases on a GPU, with approximate forms and random matrix products. On an H200 (tileiras
13.5, sm_90) the bits of all are equal but for these, most of which the dialect leaves open:

| case | here | there |
|---|---|---|
| integer division and remainder by zero | 0 | all ones, 2^32 - 1 for i64, or what follows from them |
| float to i8 beyond its limits | nearest limit | low bits of a wider integer |
| NaN to i64, and f64 NaN to i16 and i32 | 0 | smallest integer |
| i64 shifted by an amount of 2^32 or more | 0, or the sign | by the low 32 bits of the amount |
| -0.0 of tf32 to i1 | false | true |
| exp, log, sin, cos, tanh and the like | see the table | other last bits |
| divf and sqrt, approx or full | nearest value | within 2 ulp; 0 where the divisor is huge |
| matrix products of values with many bits | summed in the order of k | other last bits; f32 read as tf32 is cut |
| unsigned loops that end at the largest integer | end | do not end |

| operation | element types | agreement | oracle |
|---|---|---|---|
"""


def agreement(ulp: float) -> str:
    return "exact" if ulp == 0 else f"{ulp:g} ulp"


def page() -> str:
    rows: dict[tuple[str, float, str], set[str]] = defaultdict(set)
    for case in elementwise_cases():
        rows[case.op, case.ulp, case.oracle].add(case.element)
    for kernel in structural_kernels():
        for op in kernel.ops:
            rows[op, kernel.ulp, kernel.oracle].add(kernel.element)
    lines = []
    for (op, ulp, oracle), elements in sorted(rows.items()):
        listed = ", ".join(e for e in ELEMENTS if e in elements)
        lines.append(f"| `{op}` | {listed} | {agreement(ulp)} | {oracle} |\n")
    return HEAD + "".join(lines)


def main() -> int:
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page())
        return 0
    if PAGE.exists() and PAGE.read_text() == page():
        return 0
    print(f"{PAGE.relative_to(ROOT)} is out of date: run tools/cpu_device_table.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
