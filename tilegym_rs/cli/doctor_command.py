"""`tilegym-rs doctor`: what is here, what is missing, what to do."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from tilegym_rs.cli.examination import examine

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "doctor",
        help="show what is here, what is missing and what to do",
        description="Shows what is here, what is missing and what to do. The exit status is 1 where ops cannot run.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command."""
    report = examine()
    print(json.dumps(report, indent=2) if options.json else as_text(report))
    return 1 if report["problems"] else 0


def as_text(report: dict[str, Any]) -> str:
    """The report as indented lines, a topic a paragraph, the problems at the end."""
    lines: list[str] = []
    for topic, values in report.items():
        if topic != "problems":
            lines += [topic, *_lines(values, 1)]
    problems = report["problems"]
    lines += ["problems", *(f"  {problem}" for problem in problems)] if problems else ["no problems: ops can run here"]
    return "\n".join(lines)


def _lines(values: dict[str, Any], depth: int) -> list[str]:
    lines = []
    for name, value in values.items():
        label = f"{'  ' * depth}{name:<{23 - 2 * depth}} "
        if not isinstance(value, dict):
            lines.append(label + _word(value))
        elif "found" in value:
            lines.append(f"{label}{'' if value['found'] else 'missing: '}{value['text']}")
        elif "origin" in value:
            place = f", {value['place']}" if value["place"] else ""
            lines.append(f"{label}{_word(value['value']):<12} ({value['origin']}{place})")
        else:
            lines += [label.rstrip(), *_lines(value, depth + 1)]
    return lines


def _word(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value) if value != "" else "-"
