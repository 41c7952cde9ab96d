#!/usr/bin/env python3
"""Writes docs/ops.md: what was tried of each op, from the records of runs.

    pytest tests/ops --cutile-rs-record ops.jsonl --junitxml ops.xml
    REPORTS=. tools/peers/run_upstream_tests CHECKOUT --cuda-on-cpu-scaled
    tools/op_table.py --records ops.jsonl --suite ops.xml --peer softmax.xml --peer others.xml

Of our own records: dtypes, layouts, gradients. Of the peer's tests: passed, scaled, skipped by the tests themselves,
and skipped by our estimate (too large for the CPU device). Without a file its columns say "not run".
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

from tilegym_rs.validation import record_file, records

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "ops.md"
OURS = "too large for the CPU device"
NOT_RUN = "not run"
HEAD = (
    "| op | cases | dtypes | layouts | gradients | peer cases passed | scaled | skipped by the peer | too large here |",
    "|---|---|---|---|---|---|---|---|---|",
)


@dataclasses.dataclass
class Row:
    """What was tried of an op."""

    compared: int = 0
    failed: int = 0
    dtypes: set[str] = dataclasses.field(default_factory=set)
    layouts: set[str] = dataclasses.field(default_factory=set)
    gradients: set[str] = dataclasses.field(default_factory=set)
    peer: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def take(self, record: records.Record) -> None:
        self.compared += 1
        self.failed += record.verdict in records.FAILURES
        self.dtypes.add(record.dtype)
        self.layouts.add(record.layout or "packed")
        if record.case.startswith("gradients"):
            self.gradients.add(record.case.rpartition(" of ")[2])

    def cells(self, op: str, with_records: bool, with_peer: bool) -> list[str]:
        ours = [NOT_RUN] * 4
        if with_records:
            cases = f"{self.compared}" + (f", {self.failed} FAILED" if self.failed else "")
            ours = [
                cases,
                *(", ".join(sorted(names)) or "none" for names in (self.dtypes, self.layouts, self.gradients)),
            ]
        names = ("passed", "scaled", "skipped", "too large")
        peer = [str(self.peer[name]) for name in names] if with_peer else [NOT_RUN] * len(names)
        if self.peer["failed"]:
            peer[0] += f", {self.peer['failed']} FAILED"
        return [op, *ours, *peer]


def outcome_of(case: ET.Element) -> str:
    """passed, scaled, skipped (by the test), too large (by our estimate) or failed."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is not None:
        return "too large" if OURS in (skipped.get("message") or "") + (skipped.text or "") else "skipped"
    properties = {prop.get("name") for prop in case.iter("property")}
    return "scaled" if "scaled" in properties else "passed"


def op_of(case: ET.Element) -> str:
    """By the module of the test, `tests.ops.test_<op>`."""
    modules = [part for part in (case.get("classname") or "").split(".") if part.startswith("test_")]
    return modules[0].removeprefix("test_") if modules else ""


def table(rows: dict[str, Row], with_records: bool, with_peer: bool) -> list[str]:
    return [*HEAD, *(f"| {' | '.join(rows[op].cells(op, with_records, with_peer))} |" for op in sorted(rows))]


def seconds_of(files: Iterable[Path]) -> str:
    """The time of a run as pytest gives it."""
    suites = [suite for file in files for suite in ET.parse(file).iter("testsuite")]
    return f"{sum(float(suite.get('time', 0)) for suite in suites):.0f} s"


def page(given: argparse.Namespace) -> str:
    rows: dict[str, Row] = collections.defaultdict(Row)
    for file in given.records:
        for _, record in record_file.read(file):
            if record.backend == "cutile-rs":
                rows[record.op].take(record)
    for file in given.peer:
        for case in ET.parse(file).iter("testcase"):
            rows[op_of(case)].peer[outcome_of(case)] += 1
    lines = ["# Ops", "", "Made by `tools/op_table.py` from the records of runs on the CPU device.", ""]
    lines += table(rows, bool(given.records), bool(given.peer))
    lines += [""]
    if given.suite:
        lines.append(f"Time of tests/ops: {seconds_of(given.suite)}.")
    if given.peer:
        lines.append(f"Time of the peer's tests: {seconds_of(given.peer)}.")
    if given.machine:
        lines.append(f"Machine: {given.machine}.")
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("records", "peer", "suite"):
        parser.add_argument(f"--{name}", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--machine", default="", help="in words, for the times")
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    given.output.write_text(page(given))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
