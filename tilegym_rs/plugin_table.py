"""The final table: with rich on a terminal, plain columns elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tilegym_rs.validation.records import FAILURES, Record


def cells(records: Sequence[Record]) -> list[list[str]]:
    """The table as text, headings first. Times of different devices never share a column."""
    devices = sorted({record.device for record in records})
    times = ["time"] if len(devices) == 1 else [f"time, {device}" for device in devices]
    head = ["op", "backend", "dtype", "shape", "error", "tolerance", *times, "device", "verdict"]
    return [head, *(_row(record, devices) for record in records)]


def _row(record: Record, devices: Sequence[str]) -> list[str]:
    time = "-" if record.timing is None else f"{record.timing.median:.4f} ms"
    error = "-" if record.error is None else f"{record.error:.2e}"
    times = [time if record.device == device else "" for device in devices]
    left = [record.op, record.backend, record.dtype, record.shape, error, record.tolerance]
    return [*left, *times, record.device, record.verdict]


def plain_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as left-aligned columns two spaces apart."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def write_table(records: Sequence[Record], terminal: pytest.TerminalReporter, passed: bool = True) -> None:
    """Writes the table and, below it, what was wrong with failed comparisons; without `passed` only the failed ones."""
    shown = [record for record in records if passed or record.verdict in FAILURES]
    if not shown:
        return
    rows = cells(shown)
    if not (terminal.isatty and _write_rich(rows)):
        for line in plain_lines(rows):
            terminal.write_line(line)
    for record in shown:
        if record.verdict in FAILURES:
            terminal.write_line(f"{record.verdict} {record.subject}: {_one_line(record.message)}", red=True)


def _one_line(message: str) -> str:
    return "; ".join(line for line in message.splitlines() if line)


def _write_rich(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rich is there and has written the table."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        return False
    table = Table(*rows[0])
    for row in rows[1:]:
        table.add_row(*row, style="red" if row[-1] in FAILURES else None)
    Console().print(table)
    return True
