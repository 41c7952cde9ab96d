"""What the plugin prints: a block per record while tests run, a table and counts at the end."""

from __future__ import annotations

import collections
import sys
from pathlib import Path
from typing import Any

import pytest

from tilegym_rs.cuda_on_cpu.scaling import CATEGORY, scaling_of
from tilegym_rs.plugin_blocks import CASE_ATTRIBUTE, Case, blocks
from tilegym_rs.plugin_table import write_table
from tilegym_rs.validation import record_file, records

BACKEND, KEYWORD = "cutile-rs", "cutile_rs"

_WORKER_OPS = "tilegym_rs_ops"


class Reporter:
    """Prints records and counts outcomes; lives in the process with the terminal."""

    def __init__(self, config: pytest.Config, prints: bool) -> None:
        self._config = config
        self._prints = prints
        self._records: list[tuple[str, records.Record]] = []
        self._timings = 0
        self._outcomes: collections.Counter[str] = collections.Counter()
        self._skips: collections.Counter[str] = collections.Counter()
        self._ops: set[str] = set()
        # Ops of which a case of the backend came up, and those of which one ran.
        self._met: set[str] = set()
        self._ran: set[str] = set()
        # Cases whose process ended in the middle of them.
        self._lost: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collects records and counts; prints a passed test's blocks."""
        case = Case(**getattr(report, CASE_ATTRIBUTE, {}))
        if report.when not in ("setup", "call", "teardown"):  # xdist's report of a worker that is gone
            self._lost.append(report.nodeid)
        if case.concerns_backend:
            self._count(report, case.op)
        if report.when != "call":
            return
        found = records.comparisons(report.user_properties)
        self._records += [(report.nodeid, record) for record in found]
        if report.passed and self._prints:
            for block in blocks(report, case, found):
                self._timings += 1
                self._write_block(block)

    def _count(self, report: pytest.TestReport, op: str) -> None:
        self._met.add(op)
        if report.skipped:
            self._outcomes["skipped"] += 1
            self._skips[_skip_reason(report)] += 1
        elif report.failed or report.when == "call":
            scaled = report.passed and scaling_of(report)
            self._outcomes[CATEGORY if scaled else report.outcome] += 1
            self._ran.add(op)

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

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Takes over the ops that a worker process knew."""
        self._ops.update(getattr(node, "workeroutput", {}).get(_WORKER_OPS, ()))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A session that was asked for comparisons and has left an op out has not shown what it was asked to show."""
        self._ops.update(registered_ops())
        self._sort_file()
        if session.exitstatus == pytest.ExitCode.OK and self._omissions():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _sort_file(self) -> None:
        given = self._config.getoption("--cutile-rs-record")
        if given:
            record_file.sort(self._config.invocation_params.dir / given)

    @property
    def _asked(self) -> bool:
        """Whether the session is to show comparisons, rather than to run tests."""
        options = self._config.option
        return bool(
            self._prints or options.cutile_rs_all or options.cutile_rs_record or options.keyword in (KEYWORD, BACKEND)
        )

    def _omissions(self) -> list[str]:
        """Why the session shows less than it was asked for."""
        if not self._asked or self._config.option.collectonly:
            return []
        ran = self._outcomes["passed"] + self._outcomes["failed"] + self._outcomes[CATEGORY]
        if self._outcomes["skipped"] and not ran:
            return [f"every case of {BACKEND} was skipped, so nothing was compared: exit status 1"]
        declared = set(self._config.getini("cutile_rs_not_compared"))
        wanted = set(self._ops) if self._wants_all() else {op for op in self._met if op in self._ops}
        missing = sorted(wanted - self._compared() - declared)
        return [f"these ops were never compared: {', '.join(missing)}: exit status 1"] if missing else []

    def _compared(self) -> set[str]:
        """Ops with a comparison of the backend, or with a test of another project's kind that ran it."""
        compared = {
            record.op
            for _, record in self._records
            if record.backend == BACKEND and record.verdict != records.NOT_COMPARED
        }
        return compared | self._ran

    def _wants_all(self) -> bool:
        """Whether the command asks for every op: by its option, or for the backend without a narrower choice."""
        options = self._config.option
        if options.cutile_rs_all:
            return not (options.keyword or options.markexpr or options.deselect)
        named_paths = self._config.args_source is pytest.Config.ArgsSource.ARGS
        chosen = options.keyword in (KEYWORD, BACKEND) and bool(self._records)
        return chosen and not (named_paths or options.markexpr or options.deselect)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the table and the counts."""
        if not self._asked or not (self._records or self._outcomes or self._lost):
            return
        terminalreporter.section(BACKEND)
        # Workers report in the order of their luck; the table is in the order of the ids, failures last.
        ordered = sorted(self._records, key=lambda entry: (entry[1].verdict in records.FAILURES, entry[0]))
        write_table([record for _, record in ordered], terminalreporter, passed=self._prints)
        for line in self._summary_lines():
            terminalreporter.write_line(line)

    def _summary_lines(self) -> list[str]:
        verdicts = collections.Counter(record.verdict for _, record in self._records)
        lines = [
            f"compared {verdicts[records.PASS]}, failed {verdicts[records.FAIL]}, raised {verdicts[records.ERROR]}, "
            f"not compared (no elements) {verdicts[records.NOT_COMPARED]}, timed {self._timings}",
            f"cases of {BACKEND}: passed {self._outcomes['passed']}, failed {self._outcomes['failed']}, "
            f"skipped {self._outcomes['skipped']}, scaled {self._outcomes[CATEGORY]}",
        ]
        lines += [f"  skipped {count}: {reason}" for reason, count in sorted(self._skips.items())]
        if self._lost:
            lines.append(f"without a record, as their process ended: {', '.join(sorted(self._lost))}")
        never = sorted(self._ops - self._compared())
        if self._records and never:
            lines.append(f"never compared in this session: {', '.join(never)}")
        return [*lines, *self._omissions()]


class WorkerReporter:
    """Sends what only a worker process knows to the process with the terminal."""

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hands over the ops that have an implementation."""
        session.config.workeroutput[_WORKER_OPS] = sorted(registered_ops())  # type: ignore[attr-defined]


def registered_ops() -> set[str]:
    """The ops with an implementation of the backend, as far as this process has loaded them."""
    registry = sys.modules.get("tilegym.backend.registry")
    return {op for op in registry.ops() if registry.find(op, BACKEND)} if registry else set()


def op_of_file(path: Path) -> str:
    """The op that a test file is about by its name, `test_<op>.py`; it may be none."""
    return path.stem.removeprefix("test_") if path.stem.startswith("test_") else ""


def _skip_reason(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return str(getattr(report, "wasxfail", "") or "no reason given")
