"""pytest plugin: `--print-record`, records in a file, `-k cutile_rs`, cases of every op, and the final table.

It is loaded in every pytest session of the environment, so it imports neither PyTorch nor tilegym.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tilegym_rs import cuda_on_cpu
from tilegym_rs.plugin_blocks import CASE_ATTRIBUTE, Case, current_device
from tilegym_rs.plugin_items import OP_ATTRIBUTE, items_of_all_ops
from tilegym_rs.plugin_report import BACKEND, KEYWORD, Reporter, WorkerReporter, op_of_file
from tilegym_rs.validation import record_file, records

if TYPE_CHECKING:
    from tilegym_rs.validation.cases import OpComparison

_OPTION = "--print-record"
_OWN_OPTION = "--cutile-rs-print-record"
_CONSUMED = pytest.StashKey[bool]()
_NUMBER = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds options under names that no conftest uses."""
    group = parser.getgroup("tilegym")
    group.addoption(
        _OWN_OPTION,
        action="store_true",
        default=False,
        help="time passed comparisons, print one block for each and a table at the end "
        "(--print-record does the same, also where a conftest defines that option)",
    )
    group.addoption(
        "--cutile-rs-all",
        action="store_true",
        default=False,
        help="compare every registered op with its references, also those without a test file",
    )
    group.addoption(
        "--cutile-rs-device", choices=["auto", "cuda", "cpu"], help="the device of the comparisons (TILEGYM_RS_DEVICE)"
    )
    group.addoption(
        "--cutile-rs-record", metavar="PATH", help="write each comparison to this file of JSON lines, when it is made"
    )
    group.addoption(
        "--cutile-rs-checks", metavar="NAMES", help="checks of the CPU device, separated by commas (TILEGYM_RS_CHECKS)"
    )
    group.addoption(
        "--cutile-rs-timeout", type=float, metavar="SECONDS", help="how long one call of an op may take (no limit)"
    )
    cuda_on_cpu.add_options(group)
    parser.addini(
        "cutile_rs_all_with", "folders of tests; collecting one whole adds the cases of --cutile-rs-all", type="paths"
    )
    parser.addini(
        "cutile_rs_not_compared", "ops that may stay without a comparison, with the reason in a comment", type="args"
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Generator[None, object, object]:
    """Takes --print-record off the command line unless a conftest defines it.

    Defining it here would make the established conftest, which defines it too, fail at its own addoption.
    """
    cuda_on_cpu.activate(early_config)
    try:
        return (yield)
    finally:
        end = args.index("--") if "--" in args else len(args)
        if _OPTION in args[:end] and early_config.getoption(_OPTION, default=None) is None:
            early_config.stash[_CONSUMED] = True
            args[:] = [argument for argument in args[:end] if argument != _OPTION] + args[end:]


def pytest_configure(config: pytest.Config) -> None:
    """Puts options in force and registers the report; workers only send to it."""
    is_worker = hasattr(config, "workerinput")
    _set(config, "TILEGYM_RS_DEVICE", config.getoption("--cutile-rs-device"))
    checks = config.getoption("--cutile-rs-checks")
    if checks is not None:
        _turn_on(checks)
        _set(config, "TILEGYM_RS_CHECKS", checks)
    path = record_path(config)
    if path is not None and not is_worker:
        _start_file(path)
    reporter = WorkerReporter() if is_worker else Reporter(config, prints_records(config))
    config.pluginmanager.register(reporter, "tilegym-rs-report")


def _set(config: pytest.Config, variable: str, value: str | None) -> None:
    """Sets a variable for this session, tests that start processes included."""
    if value is None:
        return
    patch = pytest.MonkeyPatch()
    patch.setenv(variable, value)
    config.add_cleanup(patch.undo)


def _turn_on(checks: str) -> None:
    """Asks the CPU device for its checks, which knows their names."""
    from tilegym_rs.library import cpu_device

    try:
        cpu_device().configure("checks", checks)
    except (ValueError, RuntimeError, ImportError) as error:
        raise pytest.UsageError(
            f"--cutile-rs-checks: wanted checks of the CPU device, got {checks!r}: {error}"
        ) from None


def _start_file(path: Path) -> None:
    try:
        record_file.start(path)
    except OSError as error:
        raise pytest.UsageError(f"--cutile-rs-record: wanted a file that can be written, got {path}: {error}") from None


def record_path(config: pytest.Config) -> Path | None:
    """The file that takes the records, as seen from where pytest was started."""
    given = config.getoption("--cutile-rs-record")
    return config.invocation_params.dir / given if given else None


def prints_records(config: pytest.Config) -> bool:
    """Whether the session was asked for records, under whichever name."""
    asked = config.stash.get(_CONSUMED, False) or config.getoption(_OWN_OPTION)
    return bool(asked or config.getoption(_OPTION, default=False))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Adds the cases of every op where they are wanted, and lets -k find the backend under both spellings."""
    if config.getoption("--cutile-rs-all") or _collects_whole_folder(config):
        items += items_of_all_ops(session)
    for item in items:
        if _concerns_backend(item):
            item.extra_keyword_matches.update((KEYWORD, BACKEND))


def _collects_whole_folder(config: pytest.Config) -> bool:
    """Whether the command line takes in a folder that the cases of all ops belong to."""
    asked = [(config.invocation_params.dir / argument).resolve() for argument in config.args]
    folders = [Path(folder).resolve() for folder in config.getini("cutile_rs_all_with")]
    return any(folder.is_relative_to(path) for folder in folders for path in asked)


def _concerns_backend(item: pytest.Item) -> bool:
    if BACKEND in item.nodeid or KEYWORD in item.name:
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
        op=getattr(item, OP_ATTRIBUTE, "") or op_of_file(item.path),
    )
    setattr(report, CASE_ATTRIBUTE, case.to_plain())
    return report


def _parameter_text(value: object) -> object:
    alias = os.environ.get("TILEGYM_ALIAS_CUTILE")
    return f"cutile (alias of {alias})" if alias and value == "cutile" else records.plain(value)


def comparison_for(item: pytest.Item) -> OpComparison:
    """A comparison whose records are those of a test: they travel with its report, and to the file at once."""
    from tilegym_rs.validation.cases import OpComparison

    path = record_path(item.config)

    def record(name: str, value: Any) -> None:
        number = item.stash.get(_NUMBER, 0)
        item.stash[_NUMBER] = number + 1
        item.user_properties.append((name, value))
        if path is not None:
            record_file.append(path, item.nodeid, number, value)

    seconds: float | None = item.config.getoption("--cutile-rs-timeout")
    return OpComparison(record, timed=prints_records(item.config), seconds=seconds)


@pytest.fixture
def compare_op(request: pytest.FixtureRequest) -> OpComparison:
    """Compares an op with its reference: `compare_op("softmax", x, backend="cutile-rs")`.

    It fails unless the backend itself ran; a passed comparison is timed where records are printed.
    """
    return comparison_for(request.node)
