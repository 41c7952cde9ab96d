"""`tilegym-rs compare-records`: how the times of one run compare with those of another."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilegym_rs.validation.gap import Gap

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

_KERNELS = "cutile-rs"


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "compare-records",
        help="compare the times of two files of records",
        description="Compares the times in two files of records that pytest --print-record --cutile-rs-record wrote. "
        "The verdict is on the geometric mean of A / B: DONE up to 1.05, MILD_GAP up to 1.10, MODERATE_GAP up to 1.50, "
        "LARGE_GAP above; DONE also needs the same ops with the same inputs in both. The exit status is 0 for DONE, "
        "1 for a gap, 2 where the records cannot be compared.",
    )
    parser.add_argument("ours", metavar="A", type=Path, help="the run to judge")
    parser.add_argument("baseline", metavar="B", type=Path, help="what it is judged by")
    parser.add_argument("--backend", default=_KERNELS, help="backend of the records of A (default: %(default)s)")
    parser.add_argument(
        "--baseline-backend", help="backend of the records of B (default: the only one in B, or as in A)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command."""
    from tilegym_rs.validation import gap, record_file

    try:
        ours = [record for _, record in record_file.read(options.ours)]
        baseline = [record for _, record in record_file.read(options.baseline)]
        backend = options.baseline_backend or _baseline_backend(
            {record.backend for record in baseline}, options.backend
        )
        gaps = gap.compare_runs(
            (record for record in ours if record.backend == options.backend),
            (record for record in baseline if record.backend == backend),
        )
    except (OSError, ValueError) as error:
        print(f"tilegym-rs compare-records: {error}", file=sys.stderr)
        return 2
    print(json.dumps([_as_json(each) for each in gaps], indent=2) if options.json else "\n\n".join(map(_text, gaps)))
    return 0 if all(each.verdict == gap.LIMITS[0][1] for each in gaps) else 1


def _baseline_backend(found: set[str], ours: str) -> str:
    if len(found) == 1:
        return next(iter(found))
    if ours in found:
        return ours
    raise ValueError(f"--baseline-backend: wanted one of {', '.join(sorted(found)) or 'none'}, got none")


def _as_json(found: Gap) -> dict[str, Any]:
    # JSON has no infinity: the interval of too few samples has no end.
    rows = [
        {**dataclasses.asdict(row), "high": row.high if math.isfinite(row.high) else None, "verdict": row.verdict}
        for row in found.rows
    ]
    return {
        "device": found.device,
        "geomean_ratio": found.geomean,
        "verdict": found.verdict,
        "rows": rows,
        "missing": list(found.missing),
        "only_in_baseline": list(found.only_in_baseline),
    }


def _text(found: Gap) -> str:
    width = max(len(row.subject) for row in found.rows)
    lines = [f"{found.device}: times in ms, ratio A / B with its 99.9 % interval"]
    lines += [
        f"  {row.subject:<{width}}  {row.ours_ms:10.4f}  {row.baseline_ms:10.4f}  {row.ratio:7.3f} "
        f"[{row.low:.3f}, {row.high:.3f}]  {row.verdict}  ({row.clock} clock)"
        for row in found.rows
    ]
    lines += [f"  only in A: {subject}" for subject in found.missing]
    lines += [f"  only in B: {subject}" for subject in found.only_in_baseline]
    return "\n".join([*lines, f"geomean_ratio={found.geomean:.4f}", f"verdict: {found.verdict}"])
