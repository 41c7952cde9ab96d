"""`tilegym-rs tune`: the records of tuning: listing, export, import, removal."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilegym_rs.tuning import Record

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser("tune", help="records of tuning: listing, export, import, removal")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="print every record: choice, times, failures, origin")
    listing.add_argument("op", nargs="?", help="of this op alone")
    listing.add_argument("--json", action="store_true", help="print one JSON object a line")
    listing.set_defaults(run=_list)
    export = actions.add_parser("export", help="write the records into one file")
    export.add_argument("file", type=Path)
    export.add_argument("op", nargs="?", help="of this op alone")
    export.set_defaults(run=_export)
    bring = actions.add_parser("import", help="take the records of exported files into the cache")
    bring.add_argument("files", type=Path, nargs="+", metavar="file")
    bring.set_defaults(run=_import)
    clear = actions.add_parser("clear", help="remove records, so that the next call tunes again")
    clear.add_argument("op", nargs="?", help="of this op alone")
    clear.set_defaults(run=_clear)


def _list(options: argparse.Namespace) -> int:
    from tilegym_rs import tuning

    found = tuning.records(options.op)
    for record in found:
        print(json.dumps(record.to_json()) if options.json else _described(record))
    if not found and not options.json:
        print("no records: nothing has been tuned on a GPU with this cache folder")
    return 0


def _described(record: Record) -> str:
    subject = record.subject
    device = f"{subject.device.get('name')} ({subject.device.get('architecture')})"
    made = ", ".join(f"{name} {value}" for name, value in record.made.items())
    tools = ", ".join(f"{name} {value}" for name, value in subject.toolchain.items())
    lines = [f"{subject.op} on {device}, key {json.dumps(subject.key)}", f"    {made}; {tools}"]
    for number, (config, trial) in enumerate(zip(subject.candidates, record.trials, strict=True)):
        result = trial.failure if trial.milliseconds is None else f"{trial.milliseconds:.4f} ms"
        lines.append(f"  {'*' if number == record.best else ' '} {result:>12}  {_text(config)}")
    return "\n".join(lines)


def _text(config: object) -> str:
    if isinstance(config, dict):
        return " ".join(f"{name}={value}" for name, value in config.items())
    return json.dumps(config)


def _export(options: argparse.Namespace) -> int:
    from tilegym_rs import tuning

    print(f"{options.file}: {_counted(tuning.export(options.file, options.op))}")
    return 0


def _import(options: argparse.Namespace) -> int:
    from tilegym_rs import tuning

    for file in options.files:
        print(f"{file}: {_counted(tuning.import_file(file))}")
    return 0


def _clear(options: argparse.Namespace) -> int:
    from tilegym_rs import tuning

    print(f"removed {_counted(tuning.clear(options.op))}")
    return 0


def _counted(number: int) -> str:
    return f"{number} tuning record{'' if number == 1 else 's'}"
