"""`tilegym-rs aot`: compiles ahead of time, without a GPU, every kernel that a program uses."""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tilegym_rs.errors import KernelError

if TYPE_CHECKING:
    from tilegym_rs import _core

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

_DESCRIPTION = """\
Runs COMMAND once for each architecture on the CPU device, which reports that architecture's capability, then compiles
every kernel that it has launched for the GPU. Without --output the kernels go into this machine's cache; with it, into
a bundle that `tilegym-rs cache import` takes on another one, which then needs no compiler.

Tensors of the same dtypes whose extents, strides and addresses have the same powers of two in them share a kernel."""


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "aot",
        help="compile every kernel that a command uses, for GPUs that are not here",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--arch", required=True, metavar="sm_90,...", help="architectures, separated by commas")
    parser.add_argument("--output", type=Path, metavar="BUNDLE", help="write a bundle instead of the cache")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="such as: pytest tests/ops")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command."""
    from tilegym_rs import _core, build, bundles

    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise ValueError("aot: wanted a command behind `--`, such as `-- pytest tests/ops`, got none")
    build.offer_tileiras()
    _core.find_tileiras()
    failures: list[str] = []
    entries: list[_core.CacheEntry] = []
    for arch in dict.fromkeys(options.arch.split(",")):
        entries += _compile_for(arch, command, failures)
    if options.output is not None:
        bundles.write_bundle(options.output, entries)
    else:
        for entry in entries:
            _core.import_cache_entry(entry)
    print(f"{options.output or _core.cache_contents().written}: {len(entries)} compiled kernels")
    for failure in failures:
        print(f"aot: {failure}", file=sys.stderr)
    return 1 if failures or not entries else 0


def _compile_for(arch: str, command: list[str], failures: list[str]) -> list[_core.CacheEntry]:
    from tilegym_rs import _core

    with tempfile.TemporaryDirectory(prefix="tilegym-aot-") as folder:
        status = _record(arch, command, Path(folder))
        if status != 0:
            failures.append(f"{arch}: {command[0]} ended with exit status {status}")
        used = _core.cache_entries_in(Path(folder) / "images")
    if not used:
        failures.append(
            f"{arch}: the command has launched no kernel on the CPU device; its tensors must lie on the CPU"
        )
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(_assemble, used))
    failures += [f"{arch}: {result}" for result in results if isinstance(result, KernelError)]
    compiled = [result for result in results if not isinstance(result, KernelError)]
    print(f"{arch}: {len(compiled)} of {len(used)} kernels compiled")
    return compiled


def _assemble(bytecode: _core.CacheEntry) -> _core.CacheEntry | KernelError:
    from tilegym_rs import _core

    try:
        return _core.assemble_cache_entry(bytecode)
    except KernelError as error:
        return error


def _record(arch: str, command: list[str], folder: Path) -> int:
    """Runs the command on the CPU device as that architecture; what it launches ends up in the folder."""
    variables = {
        "TILEGYM_RS_DEVICE": "cpu",
        "TILEGYM_RS_TARGET": arch,
        "TILEGYM_RS_CACHE_RECORD": str(folder),
    }
    # A bare `python` is the one that runs this, whose packages the kernels belong to.
    program = [sys.executable] if command[0] in ("python", "python3") else [command[0]]
    program = [sys.executable, "-m", "pytest"] if command[0] == "pytest" else program
    return subprocess.run([*program, *command[1:]], env=os.environ | variables, check=False).returncode
