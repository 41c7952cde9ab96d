"""pytest plugin: `--print-record`, selection by `-k cutile_rs`, the comparison fixture, and the final table.

It is loaded in every pytest session of the environment, so it imports neither PyTorch nor tilegym.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from tilegym_rs.plugin_blocks import CASE_ATTRIBUTE, Case, current_device
from tilegym_rs.plugin_report import BACKEND, KEYWORD, Reporter, WorkerReporter
from tilegym_rs.validation import records

if TYPE_CHECKING:
    from tilegym_rs.validation.cases import OpComparison

_OPTION = "--print-record"
_OWN_OPTION = "--cutile-rs-print-record"
_CONSUMED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option under a name that no conftest uses."""
    parser.getgroup("tilegym").addoption(
        _OWN_OPTION,
        action="store_true",
        default=False,
        help="time passed comparisons, print one block for each and a table at the end "
        "(--print-record does the same, also where a conftest defines that option)",
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Generator[None, object, object]:
    """Takes --print-record off the command line unless a conftest defines it.

    Defining it here would make the established conftest, which defines it too, fail at its own addoption.
    """
    try:
        return (yield)
    finally:
        end = args.index("--") if "--" in args else len(args)
        if _OPTION in args[:end] and early_config.getoption(_OPTION, default=None) is None:
            early_config.stash[_CONSUMED] = True
            args[:] = [argument for argument in args[:end] if argument != _OPTION] + args[end:]


def pytest_configure(config: pytest.Config) -> None:
    """Registers the report; workers only send to it."""
    is_worker = hasattr(config, "workerinput")
    reporter = WorkerReporter() if is_worker else Reporter(config, prints_records(config))
    config.pluginmanager.register(reporter, "tilegym-rs-report")


def prints_records(config: pytest.Config) -> bool:
    """Whether the session was asked for records, under whichever name."""
    asked = config.stash.get(_CONSUMED, False) or config.getoption(_OWN_OPTION)
    return bool(asked or config.getoption(_OPTION, default=False))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Lets -k find the backend under both spellings, whatever the ids look like."""
    for item in items:
        if _concerns_backend(item):
            item.extra_keyword_matches.update((KEYWORD, BACKEND))


def _concerns_backend(item: pytest.Item) -> bool:
    if BACKEND in item.name or KEYWORD in item.name:
        return True
    return any(isinstance(value, str) and value == BACKEND for value in _parameters(item).values())


def _parameters(item: pytest.Item) -> dict[str, Any]:
    callspec = getattr(item, "callspec", None)
    return dict(callspec.params) if callspec is not None else {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Makes what the report needs travel with it, in plain values."""
    report = yield
    report.user_properties = records.plain_properties(report.user_properties)
    case = Case(
        concerns_backend=_concerns_backend(item),
        parameters={name: _parameter_text(value) for name, value in _parameters(item).items()},
        device=current_device(),
    )
    setattr(report, CASE_ATTRIBUTE, case.to_plain())
    return report


def _parameter_text(value: object) -> object:
    alias = os.environ.get("TILEGYM_ALIAS_CUTILE")
    return f"cutile (alias of {alias})" if alias and value == "cutile" else records.plain(value)


@pytest.fixture
def compare_op(request: pytest.FixtureRequest) -> OpComparison:
    """Compares an op with its reference: `compare_op("softmax", x, backend="cutile-rs")`.

    It fails unless the backend itself ran; a passed comparison is timed where records are printed.
    """
    from tilegym_rs.validation.cases import OpComparison

    def record(name: str, value: object) -> None:
        request.node.user_properties.append((name, value))

    return OpComparison(record, timed=prints_records(request.config))
