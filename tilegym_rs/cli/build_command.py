"""`tilegym-rs build`: makes sure that the kernel library is there and prints its path."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "build",
        help="build the kernel library where it is missing or stale",
        description="Builds the kernel library where it is missing or stale, and prints its path.",
    )
    parser.add_argument(
        "--print-environment",
        action="store_true",
        help="print, for a shell to read, the variables that cargo needs for this crate, and build nothing",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command."""
    from tilegym_rs import _core, build

    if not options.print_environment:
        print(build.ensure_library(always_build=True))
        return 0
    toolchain = build.find_toolchain()
    missing = [check.text for check in toolchain.checks if not check.found]
    if missing:
        raise build.BuildError("\n".join(missing))
    variables = toolchain.environment | {"CARGO_TARGET_DIR": str(_core.cache_folders()[-1] / "target")}
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")
    return 0
