"""What becomes of cases that are too large for a CPU: skipped with the estimate as the reason, or scaled down."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

from tilegym_rs.cuda_on_cpu.budget import Budget, scaled_down
from tilegym_rs.cuda_on_cpu.scaling import ATTRIBUTE, CATEGORY, scaling_of

_SCALED = pytest.StashKey[str]()


class Sizes:
    """The part of the plugin that looks at sizes; registered with the switch alone."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Skips or scales what is over the budget."""
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        budget = Budget.of_this_machine(config.getoption("--cuda-on-cpu-seconds"), workers)
        for item in items:
            reason = budget.refusal(item)
            if reason is None:
                continue
            if not (config.getoption("--cuda-on-cpu-scaled") and self._scale(item, budget)):
                item.add_marker(pytest.mark.skip(reason=reason))

    def _scale(self, item: pytest.Item, budget: Budget) -> bool:
        """Gives a case smaller extents under its own id; whether there are any that fit."""
        smaller = scaled_down(item, budget)
        if smaller is None:
            return False
        parameters: dict[str, Any] = item.callspec.params  # type: ignore[attr-defined]
        changes = [f"{name} {parameters[name]} -> {value}" for name, value in smaller.items()]
        parameters.update(smaller)
        item.stash[_SCALED] = ", ".join(changes)
        item.user_properties.append((CATEGORY, item.stash[_SCALED]))
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Lets the report know, also across processes."""
        report = yield
        if _SCALED in item.stash:
            setattr(report, ATTRIBUTE, item.stash[_SCALED])
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """A passed scaled case is one of its own category, never a plain pass."""
        if report.when == "call" and report.passed and scaling_of(report):
            return CATEGORY, "S", f"SCALED ({scaling_of(report)})"
        return None
