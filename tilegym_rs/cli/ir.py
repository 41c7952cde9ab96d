"""`tilegym-rs ir`: Tile IR bytecode as text, checked, compared and counted."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilegym_rs.ir_rules import Comparison
    from tilegym_rs.tile_ir import Module, Stats

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


_MOST_PARAMETERS = 10_000


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "ir",
        help="print, check, compare and count Tile IR bytecode",
        description="Prints, checks, compares and counts Tile IR bytecode (versions 13.1 to 13.3).",
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    _add_dump(actions)
    _add_verify(actions)
    _add_validate(actions)
    _add_diff(actions)
    _add_stats(actions)
    _add_pair(actions)


def _add_dump(actions: Commands) -> None:
    parser = actions.add_parser(
        "dump",
        help="print the text of a module",
        description="Prints the text and nothing else. The exit status is 1 where an operation is not known.",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("-g", "--print-debug-info", action="store_true", help="with the location of every operation")
    parser.add_argument("--verify", action="store_true", help="print only modules that keep the rules of the dialect")
    parser.set_defaults(run=dump)


def _add_verify(actions: Commands) -> None:
    parser = actions.add_parser(
        "verify",
        help="check modules against the rules of the dialect",
        description="Checks modules against the rules of the dialect. The exit status is 1 where one is broken.",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--hints", action="store_true", help="check keys and values of optimization hints too")
    parser.set_defaults(run=verify)


def _add_validate(actions: Commands) -> None:
    parser = actions.add_parser(
        "validate",
        help="check that a module can serve as the IR of a kernel",
        description="Checks that a module is valid and holds an entry of that name. The exit status is 0 or 1.",
    )
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("kernel", help="part of the entry's name")
    parser.set_defaults(run=validate)


def _add_diff(actions: Commands) -> None:
    parser = actions.add_parser(
        "diff",
        help="compare a generated module with its reference",
        description="Compares by structure. The exit status is 0 (PASS), 1 (FAIL_FIXABLE) or 2 (PASS_WITH_NOTES).",
    )
    parser.add_argument("reference", type=Path, metavar="REFERENCE")
    parser.add_argument("generated", type=Path, metavar="GENERATED")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the report as Markdown")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.set_defaults(run=diff)


def _add_stats(actions: Commands) -> None:
    parser = actions.add_parser(
        "stats",
        help="count what a launch does",
        description="Counts operations, flops and bytes of a launch, from the IR and the values of the launch.",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--grid", type=_grid, default=(1, 1, 1), metavar="X[,Y[,Z]]", help="tile blocks; default 1")
    parser.add_argument(
        "--argument",
        action="append",
        type=_argument,
        default=[],
        metavar="POSITION=VALUE",
        help="value of an integer parameter, counted from 0; may be repeated",
    )
    parser.add_argument("--entry", help="entry of a module with several")
    parser.add_argument("--json", action="store_true", help="print one JSON object a file instead of text")
    parser.set_defaults(run=stats)


def _add_pair(actions: Commands) -> None:
    parser = actions.add_parser(
        "pair",
        help="write the IR of an op's Rust kernels and of its cuTile Python kernels",
        description="Writes reference/ and generated/ of an op, text and bytecode, with generated/diff_report.md.",
    )
    parser.add_argument("op", help="a registered op")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="in place of the op's own <op>_kernel")
    parser.add_argument("--dtype", default="float16", help="of its tensors; default float16")
    parser.set_defaults(run=pair)


def _grid(text: str) -> tuple[int, ...]:
    extents = tuple(int(word) for word in text.split(","))
    if not 1 <= len(extents) <= 3 or min(extents) < 1 or max(extents) >= 1 << 31:
        raise argparse.ArgumentTypeError(f"wanted one to three numbers from 1 to 2147483647, got '{text}'")
    return extents


def _argument(text: str) -> tuple[int, int]:
    position, _, value = text.partition("=")
    if not position.isdecimal() or not value:
        raise argparse.ArgumentTypeError(f"wanted POSITION=VALUE, got '{text}'")
    if int(position) >= _MOST_PARAMETERS or not -(1 << 63) <= int(value, 0) < 1 << 63:
        raise argparse.ArgumentTypeError(f"wanted a position below {_MOST_PARAMETERS} and 64 bits, got '{text}'")
    return int(position), int(value, 0)


def _load(path: Path) -> Module:
    from tilegym_rs import tile_ir

    try:
        # A dash is standard input.
        return tile_ir.load("/dev/stdin" if str(path) == "-" else path, keep_unknown=True)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _load_or_report(path: Path) -> Module | None:
    """The module, or nothing where standard error says why: the other files of the command are still of use."""
    try:
        return _load(path)
    except ValueError as error:
        print(f"tilegym-rs: {error}", file=sys.stderr)
        return None


def dump(options: argparse.Namespace) -> int:
    """Prints the text of each file; reports unknown operations on standard error."""
    status = 0
    for path in options.files:
        if (module := _load_or_report(path)) is None:
            status = 1
            continue
        unknown = _report_unknown(path, module)
        status |= unknown
        if options.verify and (unknown or _report_broken(path, module)):
            status = 1
            continue
        text = module.text(locations=options.print_debug_info)
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
    return status


def _report_broken(path: Path, module: Module) -> int:
    found = module.verify()
    for diagnostic in found:
        print(f"tilegym-rs: {path}: {diagnostic}", file=sys.stderr)
    return 1 if found else 0


def _report_unknown(path: Path, module: Module) -> int:
    for found in module.unknown_operations:
        print(f"tilegym-rs: {path}: entry '{found.entry}': {found.reason}", file=sys.stderr)
    return 1 if module.unknown_operations else 0


def verify(options: argparse.Namespace) -> int:
    """Prints a line for each broken rule and for each valid file."""
    status = 0
    for path in options.files:
        if (module := _load_or_report(path)) is None:
            status = 1
            continue
        if _report_unknown(path, module):
            status = 1
            continue
        found = module.verify(hints=options.hints)
        for diagnostic in found:
            print(f"{path}: {diagnostic}")
        if found:
            status = 1
        else:
            print(f"{path}: valid, version {module.version}, entries: {', '.join(module.entries) or 'none'}")
    return status


def validate(options: argparse.Namespace) -> int:
    """Prints what is wrong with a module as the IR of a kernel."""
    from tilegym_rs.ir_rules import Severity
    from tilegym_rs.ir_rules import validate as findings

    module = _load(options.file)
    status = _report_unknown(options.file, module)
    for diagnostic in module.verify() if status == 0 else []:
        print(f"FAIL: {diagnostic}")
        status = 1
    for finding in findings(module, options.kernel):
        if finding.severity is Severity.CRITICAL:
            print(f"FAIL: {finding.text}; entries: {finding.generated}")
            status = 1
        elif finding.severity is not Severity.OK:
            print(f"WARN: {finding.text}")
    print("FAIL" if status else f"PASS: {options.kernel}")
    return status


def diff(options: argparse.Namespace) -> int:
    """Prints the differences, the rules they break and the verdict."""
    from tilegym_rs.ir_report import as_markdown
    from tilegym_rs.ir_rules import compare

    reference, generated = _load(options.reference), _load(options.generated)
    comparison = compare(reference, generated)
    if options.report is not None:
        kernel = ", ".join(generated.entries) or "no entry"
        options.report.write_text(as_markdown(comparison, kernel), encoding="utf-8", errors="surrogateescape")
    print(json.dumps(_diff_object(comparison), indent=2) if options.json else _diff_text(comparison))
    unknown = _report_unknown(options.reference, reference) | _report_unknown(options.generated, generated)
    return 1 if unknown else comparison.verdict.value


def _diff_object(comparison: Comparison) -> dict[str, Any]:
    return {
        "verdict": comparison.verdict.name,
        "changes": [
            {
                "kind": change.kind,
                "place": change.place,
                "part": change.part,
                "before": change.before,
                "after": change.after,
            }
            for change in comparison.changes
        ],
        "findings": [
            {"item": f.item, "severity": f.severity.value, "reference": f.reference, "generated": f.generated}
            for f in comparison.findings
        ],
    }


def _diff_text(comparison: Comparison) -> str:
    lines = []
    for change in comparison.changes:
        what = f"{change.part}: " if change.part else ""
        values = f"{change.before} -> {change.after}" if change.kind == "changed" else change.before or change.after
        lines.append(f"{change.kind}: {change.place}: {what}{values}".rstrip(": "))
    if not comparison.changes:
        lines.append("no differences")
    else:
        lines += [f"{f.severity.value}: {f.item}: {f.text}" for f in comparison.findings]
    return "\n".join([*lines, f"VERDICT: {comparison.verdict.name}"])


def pair(options: argparse.Namespace) -> int:
    """Prints where both modules of each variant lie and the verdict of their comparison."""
    import tilegym.ops  # noqa: F401  registers the ops
    from tilegym_rs.ir_pair import REPORT, write_pairs
    from tilegym_rs.validation import analysis

    try:
        pairs = write_pairs(options.op, options.output, options.dtype)
    except (LookupError, ImportError) as error:
        raise ValueError(str(error)) from None
    for each in pairs:
        print(f"{each.variant}: {each.reference} {each.generated}: {each.verdict.name}")
    print((options.output or analysis.kernel_folder(options.op) or Path()) / REPORT)
    return 0


def stats(options: argparse.Namespace) -> int:
    """Prints what a launch of each file does."""
    from tilegym_rs import tile_ir

    arguments: list[int | None] = [None] * (1 + max((position for position, _ in options.argument), default=-1))
    for position, value in options.argument:
        arguments[position] = value
    status = 0
    for path in options.files:
        if (module := _load_or_report(path)) is None:
            status = 1
            continue
        counted = tile_ir.stats(module, grid=options.grid, arguments=arguments, entry=options.entry)
        print(json.dumps(_stats_object(counted)) if options.json else f"{path}\n{_stats_text(counted)}")
        status |= _report_unknown(path, module)
    return status


def _stats_object(counted: Stats) -> dict[str, Any]:
    flops = sum(counted.flops.values()) + sum(counted.matrix_flops.values())
    moved = counted.bytes_read + counted.bytes_written
    return {
        "operations": counted.operations,
        "executed": counted.executed,
        "flops": counted.flops,
        "matrix_flops": counted.matrix_flops,
        "bytes_read": counted.bytes_read,
        "bytes_written": counted.bytes_written,
        "flops_per_byte": flops / moved if moved else None,
        "notes": counted.notes,
    }


def _stats_text(counted: Stats) -> str:
    values = _stats_object(counted)
    lines = [
        f"  {name:<16}{_stats_word(values[name])}" for name in values if name not in ("operations", "executed", "notes")
    ]
    width = max((len(name) for name in counted.operations), default=9)
    lines.append(f"  {'operation':<{width}}  {'in the text':>11}  {'executed':>16}")
    for name, count in counted.operations.items():
        lines.append(f"  {name:<{width}}  {count:>11}  {counted.executed[name]:>16}")
    return "\n".join([*lines, *(f"  note: {note}" for note in counted.notes)])


def _stats_word(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items()) or "none"
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
