"""The command `tilegym-rs`."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence

from tilegym_rs.cli import ir_program

_MODULES = {
    "build": "build_command",
    "cpu": "cpu",
    "doctor": "doctor_command",
    "cache": "cache",
    "tune": "tune",
    "aot": "aot",
    "ir": "ir",
    "check": "check",
    "compare-records": "compare_records",
}
"""Module of each command, in the order of the help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    if arguments is None:
        ir_program.become(sys.argv[1:])
        arguments = sys.argv[1:]
        if isinstance(sys.stdout, io.TextIOWrapper):
            # Names of files and kernels go out as the bytes that they are.
            sys.stdout.reconfigure(errors="surrogateescape")
    options = _parser(arguments[:1]).parse_args(arguments)
    try:
        status: int = options.run(options)
    except BrokenPipeError:
        # Who reads the output has seen enough; nothing is left to be written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except (OSError, RuntimeError, ValueError) as error:
        print(f"tilegym-rs: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return status


def _parser(first: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of the command that the first word names, else of all: loading them takes longer than most run."""
    parser = argparse.ArgumentParser(prog="tilegym-rs", description="Tile kernels in Rust for PyTorch: tools.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in first if first and first[0] in _MODULES else _MODULES:
        importlib.import_module(f"tilegym_rs.cli.{_MODULES[name]}").add_to(commands)
    return parser
