"""`tilegym-rs cache`: numbers, bundles and emptying of the cache of compiled kernels."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser("cache", help="the cache of compiled kernels: numbers, bundles, emptying")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    stats = actions.add_parser("stats", help="print folders, size and events")
    stats.add_argument("--json", action="store_true", help="print one JSON object")
    stats.set_defaults(run=_stats)
    actions.add_parser("clear", help="remove every compiled kernel").set_defaults(run=_clear)
    export = actions.add_parser("export", help="write every compiled kernel into a bundle")
    export.add_argument("bundle", type=Path)
    export.set_defaults(run=_export)
    bring = actions.add_parser("import", help="take the kernels of bundles into the cache")
    bring.add_argument("bundles", type=Path, nargs="+", metavar="bundle")
    bring.set_defaults(run=_import)
    front = actions.add_parser(
        "front",
        help="print, for a shell to read, the variables by which other programs find the caching tileiras",
    )
    front.set_defaults(run=_front)


def _numbers() -> dict[str, Any]:
    from tilegym_rs import cache, settings

    numbers = {"mode": settings.read("cache"), "limit": settings.read("cache_max")}
    return numbers | cache.contents() | {"events": dataclasses.asdict(cache.totals())}


def _stats(options: argparse.Namespace) -> int:
    numbers = _numbers()
    if options.json:
        print(json.dumps(numbers))
        return 0
    folders = numbers["folders"] or ["none, the cache is off"]
    limit = f"of at most {numbers['limit'] / 2**20:.0f} MiB" if numbers["limit"] else "without a limit"
    rows = [
        ("mode", numbers["mode"]),
        *(("reads" if row == 0 else "", folder) for row, folder in enumerate(folders)),
        ("writes", numbers["written"] or "nowhere"),
        ("entries", f"{numbers['entries']}, {numbers['bytes'] / 2**20:.1f} MiB {limit}"),
        *((name, str(count)) for name, count in numbers["events"].items()),
    ]
    for name, value in rows:
        print(f"{name:12}{value}")
    return 0


def _clear(_options: argparse.Namespace) -> int:
    from tilegym_rs import cache

    print(f"removed {cache.clear()} files")
    return 0


def _export(options: argparse.Namespace) -> int:
    from tilegym_rs import cache

    print(f"{options.bundle}: {cache.export_bundle(options.bundle)} compiled kernels")
    return 0


def _import(options: argparse.Namespace) -> int:
    from tilegym_rs import cache

    for bundle in options.bundles:
        print(f"{bundle}: {cache.import_bundle(bundle)} compiled kernels")
    return 0


def _front(_options: argparse.Namespace) -> int:
    from tilegym_rs import _core, build, cache

    build.offer_tileiras()
    front = cache.front_path()
    variables = {
        "CUTILE_TILEIRAS_PATH": str(front),
        "TILEGYM_RS_TILEIRAS": str(_core.find_tileiras().path),
        "PATH": f"{front.parent}:{os.environ.get('PATH', os.defpath)}",
    }
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")
    return 0
