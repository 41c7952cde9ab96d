"""The pytest plugin as a user meets it: a small test file, a pytest session, its output and exit status."""

from __future__ import annotations

import re
from importlib import metadata

import pytest

from tilegym.backend import registry
from tilegym_rs.plugin_table import cells
from tilegym_rs.validation.records import PASS, Record, Timing

pytest_plugins = ["pytester"]

INSTALLED = any(point.name == "tilegym_rs" for point in metadata.entry_points(group="pytest11"))
LOAD = () if INSTALLED else ("-p", "tilegym_rs.plugin")

CONFTEST_OF_OTHERS = """
def pytest_addoption(parser):
    parser.addoption("--print-record", action="store_true")
    parser.addoption("--run-full", action="store_true")
"""

RECORDED = """
import pytest
from tilegym_rs.validation.records import FAIL, PASS, Record, Timing

TIMING = Timing(1.25, 1.0, 1.5, 0.75, 1.3, 7, "wall clock", 200.5)

def record(node, op, verdict=PASS, **fields):
    entry = Record(op, "cutile-rs", "float16", "4x8", "CPU device", verdict, 1e-4, "1e-03", timing=TIMING, **fields)
    node.user_properties.append(("tilegym_comparison", entry.to_plain()))

@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("backend", ["cutile-rs"])
def test_op(request, backend, n):
    record(request.node, f"op{n}")
"""

BENCHMARK = """
import pytest

@pytest.mark.parametrize("backend", ["cutile-rs"])
def test_perf(record_property, backend):
    record_property("benchmark", {backend: {"forward": {"median": 0.125, "q25": 0.1, "q75": 0.2, "nrep": 9}}})
"""


@pytest.fixture
def session(pytester, monkeypatch):
    def run(source, *options, conftest=""):
        pytester.makeconftest(conftest)
        pytester.makepyfile(source)
        # The session must not know the ops of the session around it.
        monkeypatch.setattr(registry, "_table", {})
        return pytester.runpytest_inprocess(*LOAD, "-p", "no:cacheprovider", *options)

    return run


def blocks(result):
    """The lines of each printed block."""
    text = "\n".join(result.outlines)
    return re.findall(r"^Performance Test Results\n((?:  .*\n?)+)", text, flags=re.MULTILINE)


@pytest.mark.parametrize("conftest", ["", CONFTEST_OF_OTHERS], ids=["no conftest", "conftest with the option"])
@pytest.mark.parametrize("options", [["-v"], ["-q"], ["-sv"], []], ids=str)
def test_one_block_per_passed_record(session, options, conftest):
    result = session(RECORDED, "--print-record", *options, conftest=conftest)
    assert result.ret == 0
    assert len(blocks(result)) == 2


def test_a_block_says_what_was_measured_and_how(session):
    block = blocks(session(RECORDED, "--print-record"))[0]
    for line in [
        r"case: .*::test_op\[.*\]",
        "n: 3",
        "backend: cutile-rs",
        "dtype: float16",
        "shape: 4x8",
        "device: CPU device",
        "median: 1.25 ms",
        "q25: 1.0 ms",
        "q75: 1.5 ms",
        "min: 0.75 ms",
        "calls: 7",
        "method: wall clock",
        "compile: 200.5 ms",
    ]:
        assert re.search(f"^  {line}", block, flags=re.MULTILINE), line


def test_timings_in_the_established_form_are_printed(session):
    (block,) = blocks(session(BENCHMARK, "--print-record"))
    assert "  median: 0.125 ms\n" in block
    assert "  nrep: 9" in block


@pytest.mark.parametrize("conftest", ["", CONFTEST_OF_OTHERS], ids=["no conftest", "conftest with the option"])
def test_silent_without_the_option(session, conftest):
    result = session(RECORDED, conftest=conftest)
    assert (result.ret, blocks(result)) == (0, [])
    result.stdout.no_fnmatch_line("*compared*")


@pytest.mark.parametrize("option", ["--print-record", "--cutile-rs-print-record"])
def test_both_names_of_the_option(session, option):
    assert len(blocks(session(RECORDED, option))) == 2


def test_other_options_of_a_conftest_stay(session):
    assert session(RECORDED, "--print-record", "--run-full", conftest=CONFTEST_OF_OTHERS).ret == 0


def test_an_unknown_option_is_still_refused(session):
    assert session(RECORDED, "--print-records").ret == pytest.ExitCode.USAGE_ERROR


def test_the_option_may_come_from_the_environment(session, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--print-record")
    assert len(blocks(session(RECORDED))) == 2


def test_the_table_and_the_counts(session):
    result = session(RECORDED, "--print-record")
    result.stdout.re_match_lines(
        [
            r"op +backend +dtype +shape +error +tolerance +time +device +verdict",
            r"op3 +cutile-rs +float16 +4x8 +1\.00e-04 +1e-03 +1\.2500 ms +CPU device +pass",
            r"op5 .* pass",
            r"compared 2, failed 0, raised 0, not compared \(no elements\) 0, timed 2",
            r"cases of cutile-rs: passed 2, failed 0, skipped 0",
        ],
        consecutive=True,
    )


FAILING = (
    RECORDED
    + """
def test_cutile_rs_wrong(request):
    record(request.node, "bad", FAIL, message="NaN in both")
    raise AssertionError("bad")
"""
)


def test_failures_come_last_and_set_the_exit_status(session):
    result = session(FAILING, "--print-record")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert len(blocks(result)) == 2
    result.stdout.re_match_lines(
        [r"op3 .*", r"op5 .*", r"bad .* FAIL", r"FAIL bad float16 4x8: NaN in both", r"compared 2, failed 1.*"],
        consecutive=True,
    )


SKIPPED = """
import pytest

@pytest.mark.parametrize("backend", ["cutile-rs", "pytorch"])
def test_op(backend):
    if backend == "cutile-rs":
        pytest.skip("the library is missing")
"""


def test_all_cases_skipped_is_no_success(session):
    result = session(SKIPPED, "--print-record")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*skipped 1: the library is missing", "every case of cutile-rs was skipped*"])


def test_skips_without_records_asked_for_are_left_to_pytest(session):
    assert session(SKIPPED).ret == 0


SPELLINGS = """
import pytest

@pytest.mark.parametrize("backend", ["cutile-rs", "cutile", "pytorch"])
def test_plain(backend): ...

@pytest.mark.parametrize("backend", ["cutile-rs", "cutile"], ids=["rust", "python"])
def test_named(backend): ...

@pytest.mark.parametrize("options", [1, 2], ids=["cutile-rs-tma=True", "pytorch-tma=True"])
def test_joined(options): ...

def test_cutile_rs_alone(): ...

def test_other(): ...
"""


@pytest.mark.parametrize(
    ("expression", "count"), [("cutile_rs", 4), ("cutile-rs", 4), ("not cutile_rs", 5), ("pytorch", 2)]
)
def test_selection_by_backend(session, expression, count):
    session(SPELLINGS, "-k", expression).assert_outcomes(passed=count, deselected=9 - count)


OPS = """
from tilegym.backend import register_impl

for op in ("op3", "op5", "forgotten"):
    register_impl(op, "cutile-rs")(print)
"""


@pytest.mark.parametrize(
    ("options", "status"),
    [(["-k", "cutile_rs"], 1), (["-k", "cutile_rs", "."], 0), (["-k", "op"], 0), ([], 0)],
    ids=["whole suite", "named path", "other choice", "everything"],
)
def test_an_op_that_was_never_compared_is_named(session, options, status):
    result = session(RECORDED + OPS, "--print-record", *options)
    assert result.ret == status
    result.stdout.fnmatch_lines(["never compared in this session: *forgotten*"])


def test_ids_stay_as_they_are(session):
    result = session(SPELLINGS, "--collect-only", "-q")
    result.stdout.fnmatch_lines(["*::test_plain[[]cutile-rs]", "*::test_joined[[]cutile-rs-tma=True]"])


@pytest.mark.parametrize("conftest", ["", CONFTEST_OF_OTHERS], ids=["no conftest", "conftest with the option"])
def test_workers_lose_no_record(session, conftest):
    pytest.importorskip("xdist")
    result = session(RECORDED + BENCHMARK.replace("import pytest", ""), "--print-record", "-n2", conftest=conftest)
    assert result.ret == 0
    assert len(blocks(result)) == 3
    result.stdout.fnmatch_lines(["op3 *", "op5 *", "compared 2, failed 0,*timed 3"])


def test_workers_report_failures(session):
    pytest.importorskip("xdist")
    result = session(FAILING, "--print-record", "-n2")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["FAIL bad float16 4x8: NaN in both"])


def test_workers_survive_values_that_cannot_travel(session):
    pytest.importorskip("xdist")
    source = """
        def test_cutile_rs(record_property):
            record_property("dtype", object())
            record_property("benchmark", {"cutile-rs": {"forward": {"median": 0.5, "kernel_name": object}}})
    """
    result = session(source, "--print-record", "-n1")
    assert result.ret == 0
    assert len(blocks(result)) == 1


def test_without_xdist_and_without_a_terminal(session):
    assert session(RECORDED, "--print-record", "-p", "no:xdist").ret == 0
    assert session(RECORDED, "--print-record", "-p", "no:terminal").ret == 0


def test_an_alias_is_reported_as_one(session, monkeypatch):
    monkeypatch.setenv("TILEGYM_ALIAS_CUTILE", "cutile-rs")
    (block,) = blocks(session(BENCHMARK.replace('["cutile-rs"]', '["cutile"]'), "--print-record"))
    assert "backend: cutile (alias of cutile-rs)" in block


def test_help_names_the_option(session):
    session("", "--help").stdout.fnmatch_lines(["*--cutile-rs-print-record*"])


def test_times_of_two_devices_have_a_column_each():
    timing = Timing(1.0, 1.0, 1.0, 1.0, 1.0, 5, "wall clock")
    rows = cells([Record("op", "cutile-rs", "float32", "1", device, PASS, timing=timing) for device in ("CPU", "GPU")])
    assert rows[0][6:9] == ["time, CPU", "time, GPU", "device"]
    assert [row[6:8] for row in rows[1:]] == [["1.0000 ms", ""], ["", "1.0000 ms"]]
