"""What the plugin prints: a block per record while tests run, a table and counts at the end."""

from __future__ import annotations

import collections
import dataclasses
import sys
from typing import Any

import pytest

from tilegym_rs.plugin_table import write_table
from tilegym_rs.validation import records

HEADING = "Performance Test Results"
CASE_ATTRIBUTE = "tilegym_rs_case"


@dataclasses.dataclass(frozen=True)
class Case:
    """What a report says of its test besides pytest's own fields."""

    concerns_backend: bool = False
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)
    device: str = ""

    def to_plain(self) -> dict[str, Any]:
        """The fields as a dictionary of plain values."""
        plain_case = records.plain(dataclasses.asdict(self))
        assert isinstance(plain_case, dict)
        return plain_case


class Reporter:
    """Prints records and counts outcomes; lives in the process with the terminal."""

    def __init__(self, config: pytest.Config, prints: bool) -> None:
        self._config = config
        self._prints = prints
        self._records: list[tuple[str, records.Record]] = []
        self._timings = 0
        self._outcomes: collections.Counter[str] = collections.Counter()
        self._skips: collections.Counter[str] = collections.Counter()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collects records and counts; prints a passed test's blocks."""
        case = Case(**getattr(report, CASE_ATTRIBUTE, {}))
        if case.concerns_backend:
            self._count(report)
        if report.when != "call":
            return
        found = records.comparisons(report.user_properties)
        self._records += [(report.nodeid, record) for record in found]
        if report.passed and self._prints:
            for block in blocks(report, case, found):
                self._timings += 1
                self._write_block(block)

    def _count(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self._outcomes["skipped"] += 1
            self._skips[_skip_reason(report)] += 1
        elif report.failed or report.when == "call":
            self._outcomes[report.outcome] += 1

    def _write_block(self, lines: list[str]) -> None:
        # Through the terminal reporter, as print() is captured; on a line of its own also behind progress dots.
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:
            return
        reporter.ensure_newline()
        if self._config.get_terminal_writer().width_of_current_line:
            reporter.line("")
        for line in lines:
            reporter.write_line(line)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A session that was asked for records and skipped every case of the backend has shown nothing."""
        if self._prints and self._nothing_ran() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _nothing_ran(self) -> bool:
        return self._outcomes["skipped"] > 0 and not (self._outcomes["passed"] or self._outcomes["failed"])

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the table and the counts."""
        if not self._prints or not (self._records or self._outcomes):
            return
        terminalreporter.section("cutile-rs")
        # Workers report in the order of their luck; the table is in the order of the ids, failures last.
        ordered = sorted(self._records, key=lambda entry: (entry[1].verdict == records.FAIL, entry[0]))
        write_table([record for _, record in ordered], terminalreporter)
        for line in self._summary_lines():
            terminalreporter.write_line(line)

    def _summary_lines(self) -> list[str]:
        verdicts = collections.Counter(record.verdict for _, record in self._records)
        lines = [
            f"compared {verdicts[records.PASS]}, failed {verdicts[records.FAIL]}, "
            f"not compared (no elements) {verdicts[records.NOT_COMPARED]}, timed {self._timings}",
            f"cases of cutile-rs: passed {self._outcomes['passed']}, failed {self._outcomes['failed']}, "
            f"skipped {self._outcomes['skipped']}",
        ]
        lines += [f"  skipped {count}: {reason}" for reason, count in sorted(self._skips.items())]
        if self._nothing_ran():
            lines.append("every case of cutile-rs was skipped, so nothing was compared: exit status 1")
        return lines


def blocks(report: pytest.TestReport, case: Case, found: list[records.Record]) -> list[list[str]]:
    """One block of lines per timing of a passed test."""
    parameters = [f"  {name}: {value}" for name, value in case.parameters.items()]
    head = [HEADING, f"  case: {report.nodeid}", *parameters]
    ours = [
        [*head, *_record_lines(record, record.timing, case.parameters)] for record in found if record.timing is not None
    ]
    established = [
        [*head, f"  device: {case.device}", *_benchmark_lines(backend, mode, fields)]
        for backend, mode, fields in records.benchmarks(report.user_properties)
    ]
    return ours + established


def _record_lines(record: records.Record, timing: records.Timing, shown: dict[str, Any]) -> list[str]:
    fields = {
        "op": record.op,
        "backend": record.backend,
        "dtype": record.dtype,
        "shape": record.shape,
        "device": record.device,
        "error": record.error,
        "tolerance": record.tolerance,
        "median": f"{timing.median!r} ms",
        "q25": f"{timing.q25!r} ms",
        "q75": f"{timing.q75!r} ms",
        "min": f"{timing.min!r} ms",
        "calls": timing.calls,
        "method": timing.method,
        "compile": f"{timing.compile_ms!r} ms, apart from the times above",
    }
    return [f"  {name}: {value}" for name, value in fields.items() if name not in shown]


def _benchmark_lines(backend: str, mode: str, fields: dict[str, Any]) -> list[str]:
    lines = [f"  framework: {backend}", f"  mode: {mode}", f"  median: {fields['median']!r} ms"]
    spread = [
        f"  {name}: {fields[name]!r} ms" for name in ("q25", "q75", "min", "max", "mean", "std") if name in fields
    ]
    others = [f"  {name}: {fields[name]!r}" for name in ("nrep", "peak_mem_mb", "kernel_name") if name in fields]
    return lines + spread + others


def current_device() -> str:
    """The device that torch uses in this process, without importing it."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda"):
        return "CPU device"
    try:
        return str(torch.cuda.get_device_name()) if torch.cuda.is_initialized() else "CPU device"
    except (RuntimeError, AssertionError):
        return "CPU device"


def _skip_reason(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return str(getattr(report, "wasxfail", "") or "no reason given")
