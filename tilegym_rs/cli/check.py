"""`tilegym-rs check`: whether ops are whole and right."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from tilegym_rs.check import CheckReport

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "check",
        help="check the files of ops and compare them with their references",
        description="Checks the files, symbol, registration and test of ops and compares them with their references on "
        "a few inputs. The exit status is 0 only where nothing was found.",
    )
    parser.add_argument("ops", nargs="*", metavar="OP", help="default: every registered op")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    form.add_argument("--junit", action="store_true", help="print JUnit XML instead of text")
    form.add_argument(
        "--suggest",
        action="store_true",
        help="print the correctness_tolerance that the errors against float64 suggest, and why, and check nothing",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command."""
    from tilegym_rs.check import FAIL, check, checkable_ops

    if options.suggest:
        return _suggest(options.ops or checkable_ops())
    reports = [check(op) for op in options.ops or checkable_ops()]
    if options.json:
        print(json.dumps({"ops": {report.op: report.to_plain() for report in reports}}, indent=2))
    else:
        print(_junit(reports) if options.junit else "\n".join(map(_text, reports)))
    return 1 if not reports or any(report.verdict == FAIL for report in reports) else 0


def _suggest(ops: list[str]) -> int:
    import torch

    from tilegym_rs.device import default_device
    from tilegym_rs.validation.suggest import suggest

    try:
        found = {op: suggest(op, torch.device(default_device())) for op in ops}
    except LookupError as error:
        raise ValueError(error.args[0]) from None
    values = {
        op: {each.dtype: {**dataclasses.asdict(each.tolerance), "reason": each.reason} for each in suggestions}
        for op, suggestions in found.items()
    }
    print(json.dumps(values, indent=2))
    return 0


def _text(report: CheckReport) -> str:
    lines = [f"{report.op}: {report.verdict}, {report.compared} comparisons"]
    for finding in report.findings:
        place = f"{finding.file}:{finding.line}: " if finding.line else f"{finding.file}: " if finding.file else ""
        lines += [f"  [{finding.id}] {place}{finding.message}", f"    remedy: {finding.remedy}"]
    return "\n".join(lines)


def _junit(reports: list[CheckReport]) -> str:
    failures = sum(bool(report.findings) for report in reports)
    suite = ElementTree.Element("testsuite", name="tilegym-rs check", tests=str(len(reports)), failures=str(failures))
    for report in reports:
        case = ElementTree.SubElement(suite, "testcase", classname="tilegym-rs", name=report.op)
        for finding in report.findings:
            failure = ElementTree.SubElement(case, "failure", type=finding.id, message=_printable(finding.message))
            failure.text = _printable(f"{finding.file}:{finding.line}\n{finding.remedy}")
    return ElementTree.tostring(suite, encoding="unicode")


def _printable(text: str) -> str:
    """XML has no control characters."""
    return "".join(c if c in "\n\t" or ord(c) >= 32 else "?" for c in text)
