"""The command `tilegym-rs`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tilegym_rs.cli import aot, build_command, cache, check, compare_records, cpu, doctor_command, ir, tune


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        status: int = options.run(options)
    except (RuntimeError, ValueError) as error:
        print(f"tilegym-rs: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tilegym-rs", description="Tile kernels in Rust for PyTorch: tools.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    build_command.add_to(commands)
    cpu.add_to(commands)
    doctor_command.add_to(commands)
    cache.add_to(commands)
    tune.add_to(commands)
    aot.add_to(commands)
    ir.add_to(commands)
    check.add_to(commands)
    compare_records.add_to(commands)
    return parser
