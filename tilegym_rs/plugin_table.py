"""The final table: with rich on a terminal, plain columns elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tilegym_rs.validation.records import FAIL, Record

COLUMNS = ("op", "backend", "dtype", "shape", "error", "tolerance", "time", "device", "verdict")


def row(record: Record) -> tuple[str, ...]:
    """A record's cells, in the order of COLUMNS."""
    return (
        record.op,
        record.backend,
        record.dtype,
        record.shape,
        "-" if record.error is None else f"{record.error:.2e}",
        record.tolerance,
        "-" if record.timing is None else f"{record.timing.median:.4f} ms",
        record.device,
        record.verdict,
    )


def plain_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as left-aligned columns two spaces apart."""
    widths = [max(len(cells[column]) for cells in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() for cells in rows]


def write_table(records: Sequence[Record], terminal: pytest.TerminalReporter) -> None:
    """Writes the table and, below it, what was wrong with failed comparisons."""
    if not records:
        return
    rows = [row(record) for record in records]
    if not (terminal.isatty and _write_rich(rows)):
        for line in plain_lines([COLUMNS, *rows]):
            terminal.write_line(line)
    for record in records:
        if record.verdict == FAIL:
            terminal.write_line(f"{FAIL} {record.op} {record.dtype} {record.shape}: {record.message}", red=True)


def _write_rich(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rich is there and has written the table."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        return False
    table = Table(*COLUMNS)
    for cells in rows:
        table.add_row(*cells, style="red" if cells[-1] == FAIL else None)
    Console().print(table)
    return True
