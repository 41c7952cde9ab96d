"""The cases of every op, and the file of records, in sessions with ops and a kernel library of their own."""

from __future__ import annotations

import json
import os
from importlib import metadata

import pytest

# Loaded here: the sessions below must not register the ops of tilegym anew.
import tilegym.ops
import tilegym_rs
from tilegym.backend import registry
from tilegym_rs.validation import analysis, record_file
from tilegym_rs.validation.records import PASS

pytest_plugins = ["pytester"]

INSTALLED = any(point.name == "tilegym_rs" for point in metadata.entry_points(group="pytest11"))
LOAD = () if INSTALLED else ("-p", "tilegym_rs.plugin")


class Kernels:
    """Counts launches, as the kernel library does."""

    launches = 0
    compile_nanoseconds = 0

    def doubled(self, x):
        self.launches += x.numel() > 0
        return (x * 2).contiguous()


@pytest.fixture
def kernels(monkeypatch):
    """One op, `doubled`, with a reference and an analysis."""
    made = Kernels()
    ops = {"doubled": {"cutile-rs": made.doubled, "pytorch": lambda x: x + x}}
    stated = {"test_perf_configs": [{"shapes": [[5, 6]]}]}
    monkeypatch.setattr(registry, "_table", ops)
    monkeypatch.setattr(tilegym_rs, "counters", lambda: made)
    monkeypatch.setattr(tilegym_rs, "last_error", lambda: "")
    monkeypatch.setattr(analysis, "of", lambda op: stated)
    assert tilegym.ops
    made.ops = ops
    made.stated = stated
    return made


@pytest.fixture
def session(pytester):
    def run(*options, source="", process=pytester.runpytest_inprocess):
        pytester.makeconftest("")
        pytester.makepyfile(source)
        return process(*LOAD, "-p", "no:cacheprovider", *options)

    return run


def test_every_op_is_compared_without_a_test_file(kernels, session, pytester):
    result = session("--cutile-rs-all", "--cutile-rs-record", "out/records.jsonl", "-v")
    assert result.ret == 0
    found = record_file.read(pytester.path / "out" / "records.jsonl")
    compared = [record for _, record in found if record.verdict == PASS]
    assert {record.dtype for record in compared} == {"float32", "float16", "bfloat16"}
    assert {record.layout for record in compared} == {"", "padded", "offset", "transposed", "strided", "expanded"}
    assert [test for test, _ in found] == sorted(test for test, _ in found)
    result.stdout.fnmatch_lines(
        ["*cutile-rs/doubled::gradients-float32-6x8 PASSED*", "*skipped 1: doubled has no cutile kernel"]
    )


def test_cases_can_be_chosen(kernels, session):
    session("--cutile-rs-all", "-k", "doubled and bfloat16 and padded").assert_outcomes(passed=1, deselected=29)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda kernels, x: kernels.doubled(x) * 1.5, "*doubled float32 6x8 on CPU device*Tensor-likes are not close*"),
        (lambda kernels, x: x + x if x.numel() else x, "*no kernel was launched*"),
        (lambda kernels, x: kernels.doubled(x).mul_(float("nan")), "*NaN only in the result: 48 of 48 elements*"),
        (lambda kernels, x: kernels.doubled(x.as_strided(x.shape, (x.shape[-1], 1))), "*padded*not close*"),
        (lambda kernels, x: kernels.doubled(x.copy_(x + 1) - 1), "*wanted the input's memory unchanged*"),
        (lambda kernels, x: kernels.doubled(x) + kernels.launches % 2 * 2e-9, "*wanted the same bits at every call*"),
    ],
    ids=["constant", "no launch", "nan", "stride", "input written", "not deterministic"],
)
def test_a_broken_op_fails_with_the_cause(kernels, session, fault, message):
    kernels.ops["doubled"]["cutile-rs"] = lambda x: fault(kernels, x)
    chosen = ("-k", "float32 and not empty and not gradients")
    result = session("--cutile-rs-all", *chosen)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([message])


def test_nan_on_both_sides_fails(kernels, session):
    kernels.ops["doubled"]["pytorch"] = lambda x: x * float("nan")
    kernels.ops["doubled"]["cutile-rs"] = lambda x: kernels.doubled(x) * float("nan")
    result = session("--cutile-rs-all", "-k", "values-float16-6x8")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*NaN in both*: 48 of 48 elements*"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda k: k.ops.update(pair={"cutile-rs": lambda a, b: a, "pytorch": lambda a, b: a}),
            "*comparison.inputs*a, b*",
        ),
        (lambda k: k.ops.update(alone={"cutile-rs": k.doubled}), "*alone: wanted a reference to compare with*"),
        (lambda k: k.stated.clear(), "*doubled: wanted shapes in reference/analysis.json*"),
    ],
    ids=["no description", "no reference", "no shapes"],
)
def test_an_op_without_cases_fails_with_the_reason(kernels, session, change, message):
    change(kernels)
    result = session("--cutile-rs-all", "-k", "no_cases or no and cases")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([message])


def test_kernels_without_a_wrapper_are_no_op_that_is_forgotten(kernels, session, monkeypatch, tmp_path):
    (tmp_path / "ops" / "forgotten_kernel").mkdir(parents=True)
    monkeypatch.setattr(analysis, "implementation_file", lambda op: tmp_path / "ops" / f"{op}.py")
    result = session("--cutile-rs-all", "-k", "forgotten")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*forgotten: wanted an implementation registered for cutile-rs, got none*"])


@pytest.mark.parametrize(
    ("arguments", "added"),
    [((), True), (("ops",), True), (("ops/test_one.py",), False), (("--cutile-rs-all",), True)],
    ids=str,
)
def test_a_folder_of_tests_can_stand_for_all_cases(kernels, pytester, arguments, added):
    pytester.makeini("[pytest]\ncutile_rs_all_with = ops")
    pytester.mkdir("ops").joinpath("test_one.py").write_text("def test(): ...")
    result = pytester.runpytest_inprocess(*LOAD, "-p", "no:cacheprovider", "--collect-only", "-q", *arguments)
    assert any(line.startswith("cutile-rs/doubled::") for line in result.outlines) == added


def test_a_name_that_is_no_check_is_a_usage_error(session):
    result = session("--cutile-rs-checks", "no-such-check")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--cutile-rs-checks: wanted checks of the CPU device, got 'no-such-check'*"])


def test_a_file_that_cannot_be_written_is_a_usage_error(session, pytester):
    (pytester.path / "taken").write_text("")
    assert session("--cutile-rs-record", "taken/records.jsonl").ret == pytest.ExitCode.USAGE_ERROR


def test_the_device_is_chosen_for_the_session_only(session, monkeypatch):
    monkeypatch.setenv("TILEGYM_RS_DEVICE", "auto")
    source = "import os\ndef test(): assert os.environ['TILEGYM_RS_DEVICE'] == 'cpu'"
    assert session("--cutile-rs-device", "cpu", source=source).ret == 0
    assert os.environ["TILEGYM_RS_DEVICE"] == "auto"


RECORDS = """
import json, os, pathlib, pytest
from tilegym_rs.validation.records import COMPARISON, Record

@pytest.mark.parametrize("n", range(6))
def test_op(compare_op, n):
    compare_op.record(COMPARISON, Record("op", "cutile-rs", "float32", str(n), "CPU device", "pass").to_plain())
    compare_op.record(COMPARISON, Record("op", "cutile-rs", "float16", str(n), "CPU device", "pass").to_plain())

def test_records_of_earlier_tests_are_there():
    if "PYTEST_XDIST_WORKER" not in os.environ:
        assert len(pathlib.Path("r.jsonl").read_text().splitlines()) == 12
"""


def test_workers_leave_the_same_records(session, pytester):
    pytest.importorskip("xdist")
    files = []
    for workers in ("0", "4"):
        assert session("--cutile-rs-record", "r.jsonl", "-n", workers, source=RECORDS).ret == 0
        files.append((pytester.path / "r.jsonl").read_text())
    assert files[0] == files[1]
    assert len(files[0].splitlines()) == 12


def test_records_outlive_a_crash(session, pytester):
    source = RECORDS + "\ndef test_crash(): os._exit(3)\n"
    session("--cutile-rs-record", "r.jsonl", source=source, process=pytester.runpytest_subprocess)
    assert len(record_file.read(pytester.path / "r.jsonl")) == 12


def test_a_line_that_was_cut_short_is_left_out(tmp_path):
    path = tmp_path / "r.jsonl"
    record_file.append(
        path, "a", 0, {"op": "x", "backend": "b", "dtype": "d", "shape": "s", "device": "c", "verdict": PASS}
    )
    path.write_text(path.read_text() + '{"schema": "tilegym')
    assert [record.op for _, record in record_file.read(path)] == ["x"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "wanted a record of schema"),
        ("{", "wanted a JSON object"),
        (json.dumps({"schema": "tilegym-rs.record", "version": 99}), "wanted version 1 to 1"),
        (json.dumps({"schema": "tilegym-rs.record", "version": 1, "test": "t"}), "wanted the fields of a record"),
    ],
)
def test_a_line_that_is_no_record_is_refused(tmp_path, line, message):
    path = tmp_path / "r.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(ValueError, match=message):
        record_file.read(path)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), 0.1, -0.0])
def test_numbers_come_back_as_they_were(tmp_path, value):
    path = tmp_path / "r.jsonl"
    fields = {"op": "x", "backend": "b", "dtype": "d", "shape": "s", "device": "c", "verdict": PASS}
    record_file.append(path, "a", 0, {**fields, "errors": {"max_abs": value}})
    ((_, record),) = record_file.read(path)
    assert record.errors["max_abs"] == value
