"""The comparison of values, and of an op with its oracle."""

from __future__ import annotations

import dataclasses
import importlib
import math
import time

import pytest
import torch

import tilegym_rs
from tilegym.backend import register_impl, registry
from tilegym_rs.validation import analysis
from tilegym_rs.validation.cases import OpComparison
from tilegym_rs.validation.compare import Tolerance, compare
from tilegym_rs.validation.observe import block_of
from tilegym_rs.validation.records import ERROR, FAIL, NOT_COMPARED, PASS

LIMIT = Tolerance(atol=0.5, rtol=0.1)
NAN, INF = math.nan, math.inf


def outcome(actual, expected, **options):
    return compare(torch.tensor(actual), torch.tensor(expected), LIMIT, **options)


@pytest.mark.parametrize(
    ("actual", "expected", "verdict"),
    [
        ([1.0, 10.0], [1.5, 11.4], PASS),
        ([10.0], [11.7], FAIL),
        ([INF, -INF], [INF, -INF], PASS),
        ([INF], [-INF], FAIL),
        ([INF], [1.0], FAIL),
        ([1.0], [INF], FAIL),
        ([], [], NOT_COMPARED),
    ],
    ids=str,
)
def test_verdicts(actual, expected, verdict):
    assert outcome(actual, expected).verdict == verdict


def test_error_is_the_largest_difference():
    assert outcome([1.0, 2.0, INF], [1.25, 2.125, INF]).error == 0.25


def test_a_mismatch_names_count_place_and_values():
    result = compare(torch.tensor([[0.0, 0.0], [9.0, 9.0]]), torch.zeros(2, 2), LIMIT)
    assert "Mismatched elements: 2 / 4 (50.0%)" in result.message
    assert "Greatest absolute difference: 9 at index (1, 0) (up to 0.5 allowed)" in result.message
    assert "Greatest relative difference: inf at index (1, 0) (up to 0.1 allowed)" in result.message
    assert "First: (1, 0): got 9, reference 0; (1, 1): got 9, reference 0" in result.message


def test_the_message_has_the_numbers_of_torch():
    actual, expected = torch.tensor([[1.0, 2.0], [9.0, -7.0]]), torch.tensor([[1.0, 2.0], [1.0, 2.0]])
    with pytest.raises(AssertionError) as raised:
        torch.testing.assert_close(actual, expected, atol=LIMIT.atol, rtol=LIMIT.rtol)
    ours = compare(actual, expected, LIMIT).message.splitlines()
    theirs = str(raised.value).splitlines()
    assert ours[:3] == theirs[:3]
    for line, wanted in zip(ours[3:5], theirs[3:5], strict=True):
        assert line.replace("difference: 9 ", "difference: 9.0 ").replace("8 at", "8.0 at") == wanted


def test_the_message_names_tile_and_block():
    actual = torch.zeros(8, 8)
    actual[5, 6] = 2
    message = compare(actual, torch.zeros(8, 8), LIMIT, tile={"bm": 4, "bn": 4}, block=(4, 4)).message
    assert "Tile: bm=4, bn=4" in message
    assert "Blocks of (4, 4) elements: 1 of 4 have mismatches, first (1, 1) with 1" in message


def test_the_outcome_says_which_block_is_the_worst():
    actual = torch.zeros(8, 8)
    actual[1, 1], actual[5, 6] = 0.25, 0.125
    blocks = compare(actual, torch.zeros(8, 8), LIMIT, block=(4, 4)).blocks
    wanted = {"extents": [4, 4], "grid": [2, 2], "with_mismatches": 0, "worst": [0, 0], "worst_max_abs": 0.25}
    assert blocks == wanted


def test_the_outcome_of_equal_tensors_has_no_worst_block():
    assert "worst" not in compare(torch.zeros(8, 8), torch.zeros(8, 8), LIMIT, block=(4, 4)).blocks


BM_BN = {"bm": 64, "bn": 32, "bk": 16}


@pytest.mark.parametrize(
    ("stated", "configuration", "wanted"),
    [
        ({}, BM_BN, (64, 32)),
        ({}, {"block_size": 128}, (128,)),
        ({}, {"tile_m": 64, "tile_n": 32}, None),
        ({"block": ["tile_m", "query:4"]}, {"tile_m": 64}, (64, 40)),
        ({"block": [1, "bm"]}, BM_BN, (1, 64)),
        ({"block": ["nothing"]}, BM_BN, None),
        ({"block": ["key:0"]}, BM_BN, None),
        ({"block": 7}, BM_BN, None),
        ({"block": [0]}, BM_BN, None),
    ],
    ids=str,
)
def test_where_a_tile_block_comes_from(monkeypatch, stated, configuration, wanted):
    monkeypatch.setattr(analysis, "of", lambda op: {"comparison": stated})
    assert block_of("op", configuration, {"query": torch.zeros(1, 2, 3, 4, 40)}) == wanted


@pytest.mark.parametrize(
    ("actual", "expected", "text"),
    [
        ([0.0, NAN], [0.0, 1.0], "NaN only in the result: 1 of 2 elements\nFirst: (1,): got nan, reference 1"),
        ([0.0, 1.0], [0.0, NAN], "NaN only in the reference: 1 of 2 elements\nFirst: (1,): got 1, reference nan"),
        ([NAN, 1.0], [NAN, 1.0], "NaN in both (nan_equal=True accepts that): 1 of 2 elements\nFirst: (0,): got nan"),
        ([NAN, 9.0], [NAN, 1.0], "Mismatched elements: 2 / 2 (100.0%)"),
    ],
    ids=["result", "reference", "both", "and a wrong value"],
)
def test_nan_is_told_apart(actual, expected, text):
    result = outcome(actual, expected)
    assert result.verdict == FAIL
    assert text in result.message


def test_nan_in_both_can_be_accepted():
    assert outcome([NAN, 1.0], [NAN, 1.0], nan_equal=True).verdict == PASS
    assert outcome([NAN, 1.0], [1.0, 1.0], nan_equal=True).verdict == FAIL
    assert outcome([NAN, 9.0], [NAN, 1.0], nan_equal=True).verdict == FAIL


def test_shapes_must_be_equal():
    assert "wanted (1, 3), got (3,)" in compare(torch.zeros(3), torch.zeros(1, 3), LIMIT).message


class Library:
    """Counts launches, as the kernel library does."""

    def __init__(self):
        self.launches, self.compile_nanoseconds = 0, 0

    def kernel(self, x, **_):
        self.launches += 1
        self.compile_nanoseconds += 2_000_000 if self.launches == 1 else 0
        return x.float().softmax(-1).to(x.dtype)


@pytest.fixture
def library(monkeypatch):
    importlib.import_module("tilegym.ops")
    made = Library()
    monkeypatch.setattr(registry, "_table", {op: dict(row) for op, row in registry._table.items()})
    monkeypatch.setattr(tilegym_rs, "counters", lambda: made, raising=False)
    stated = {"correctness_tolerance": {"f32": {"atol": 1e-5, "rtol": 0.0}}}
    monkeypatch.setattr(analysis, "of", lambda op: stated)
    monkeypatch.setattr(tilegym_rs, "last_error", lambda: "", raising=False)
    monkeypatch.setattr(tilegym_rs, "library", lambda: made, raising=False)
    register_impl("softmax", "cutile-rs")(made.kernel)
    yield made
    monkeypatch.undo()
    registry.add("softmax", "cutile-rs", registry.find("softmax", "cutile-rs"))


@pytest.fixture
def recorded():
    return []


@pytest.fixture
def comparison(recorded):
    return OpComparison(lambda name, value: recorded.append(value))


def test_a_comparison_is_recorded(library, comparison, recorded):
    comparison("softmax", torch.ones(2, 3))
    (record,) = recorded
    assert (
        record.items()
        >= {
            "op": "softmax",
            "backend": "cutile-rs",
            "dtype": "float32",
            "shape": "2x3",
            "verdict": PASS,
            "timing": None,
        }.items()
    )


def test_a_timed_comparison_has_five_calls_and_the_compile_time_apart(library, recorded):
    OpComparison(lambda name, value: recorded.append(value), timed=True)("softmax", torch.ones(2, 3))
    timing = recorded[0]["timing"]
    assert timing["calls"] >= 5
    assert timing["compile_ms"] == 2.0
    assert timing["min"] <= timing["q25"] <= timing["median"] <= timing["q75"]


@pytest.mark.parametrize(
    ("implementation", "text"),
    [
        (lambda x, **_: x.softmax(-1), "no kernel was launched"),
        (lambda x, **_: x.softmax(-1).double(), "dtype: wanted torch.float32, got torch.float64"),
        (lambda x, **_: x.softmax(-1).t().contiguous().t(), "layout: wanted a dense row-major result"),
    ],
    ids=["launch", "dtype", "layout"],
)
def test_what_no_op_may_do(library, comparison, recorded, implementation, text):
    register_impl("softmax", "cutile-rs")(implementation)
    with pytest.raises(AssertionError, match=text):
        comparison("softmax", torch.ones(2, 3))
    assert recorded[0]["verdict"] == FAIL


def test_wrong_values_fail_with_op_dtype_and_shape(library, comparison, recorded):
    def twice(x, **_):
        return 2 * library.kernel(x)

    register_impl("softmax", "cutile-rs")(twice)
    with pytest.raises(
        AssertionError,
        match=r"(?s)softmax float32 2x4 on CPU device, cutile-rs.*: Tensor-likes are not close!.*got 0.5, reference",
    ):
        comparison("softmax", torch.ones(2, 4))
    assert recorded[0]["error"] == 0.25


def test_without_elements_a_launch_is_wrong(library, comparison):
    with pytest.raises(AssertionError, match="wanted no launch"):
        comparison("softmax", torch.ones(0, 3))


def test_another_backend_needs_no_launch(library, comparison, recorded):
    comparison("softmax", torch.ones(2, 3), backend="pytorch")
    assert (recorded[0]["verdict"], library.launches) == (PASS, 0)


def test_no_other_backend_takes_the_place(library, comparison):
    with pytest.raises(AssertionError, match="'triton' has no implementation to compare"):
        comparison("softmax", torch.ones(2, 3), backend="triton")


def test_a_tolerance_that_nobody_stated_is_the_dtypes(library, comparison, recorded):
    comparison("softmax", torch.ones(2, 3).half())
    assert recorded[0]["tolerance"] == "0.01 + 0.01|x|"


def test_a_dtype_without_any_tolerance_is_an_error(library, comparison):
    with pytest.raises(LookupError, match="wanted a correctness_tolerance for complex64"):
        comparison("softmax", torch.ones(2, 3, dtype=torch.complex64), expected=torch.ones(2, 3))


@pytest.mark.parametrize("entry", [{"atol": -1, "rtol": 0}, {"atol": 1}, 3, {"atol": "x", "rtol": 0}], ids=str)
def test_a_stated_tolerance_must_be_one(library, comparison, monkeypatch, entry):
    monkeypatch.setattr(analysis, "of", lambda op: {"correctness_tolerance": {"f32": entry}})
    with pytest.raises(ValueError, match="wanted numbers atol and rtol of at least 0"):
        comparison("softmax", torch.ones(2, 3))


def test_what_an_op_raises_is_recorded_and_raised(library, comparison, recorded):
    def broken(x, **_):
        raise RuntimeError("no such kernel")

    register_impl("softmax", "cutile-rs")(broken)
    with pytest.raises(RuntimeError, match="no such kernel"):
        comparison("softmax", torch.ones(2, 3))
    assert recorded[0]["verdict"] == ERROR
    assert recorded[0]["message"] == "raised RuntimeError: no such kernel"


def test_a_swallowed_error_is_named(library, comparison, monkeypatch):
    monkeypatch.setattr(tilegym_rs, "last_error", lambda: "softmax: the tile is too large")
    register_impl("softmax", "cutile-rs")(lambda x, **_: x.softmax(-1))
    with pytest.raises(AssertionError, match=r"no kernel was launched.*last error: softmax: the tile is too large"):
        comparison("softmax", torch.ones(2, 3))


def test_an_op_of_another_project_is_called_as_it_was_registered(library, comparison, recorded):
    def doubled(x):
        library.launches += 1
        return 2 * x

    register_impl("doubled", "cutile-rs")(doubled)
    register_impl("doubled", "pytorch")(lambda x: x + x)
    comparison("doubled", torch.ones(2, 3))
    assert recorded[0]["verdict"] == PASS


def test_a_call_that_takes_too_long_is_ended_and_recorded(library, comparison, recorded):
    def endless(x, **_):
        while True:
            time.sleep(0.01)

    register_impl("softmax", "cutile-rs")(endless)
    with pytest.raises(TimeoutError, match=r"took longer than 0\.1 s"):
        dataclasses.replace(comparison, seconds=0.1)("softmax", torch.ones(2, 3))
    assert recorded[0]["message"] == "raised TimeoutError: took longer than 0.1 s"


def test_a_call_within_its_time_is_left_alone(library, comparison, recorded):
    dataclasses.replace(comparison, seconds=60)("softmax", torch.ones(2, 3))
    assert recorded[0]["verdict"] == PASS
