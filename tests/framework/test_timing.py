"""Statistics of times, and how many calls are timed."""

from __future__ import annotations

import pytest

from tilegym_rs.validation import cupti, timing


def test_median_and_quartiles():
    summary = timing.summarize([5.0, 1.0, 3.0, 2.0, 4.0], "wall clock", 7.0)
    assert (summary.min, summary.q25, summary.median, summary.q75, summary.mean) == (1.0, 2.0, 3.0, 4.0, 3.0)
    assert (summary.calls, summary.method, summary.compile_ms) == (5, "wall clock", 7.0)


def test_a_zero_time_is_refused():
    with pytest.raises(ValueError, match="above zero"):
        timing.summarize([0.0, 1.0], "wall clock")


def test_at_least_five_calls_after_a_warm_one(monkeypatch):
    monkeypatch.setattr(timing, "_BUDGET_SECONDS", 0.0)
    calls = []
    assert timing.time_warm_calls(lambda: calls.append(1), "cpu").calls == 5
    assert len(calls) == 6


def test_calls_are_bounded(monkeypatch):
    monkeypatch.setattr(timing, "_BUDGET_SECONDS", 60.0)
    assert timing.time_warm_calls(lambda: None, "cpu").calls == timing._MAX_CALLS


def test_a_shared_device_is_said(monkeypatch):
    monkeypatch.setattr(timing, "_BUDGET_SECONDS", 0.0)
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "4")
    assert "shared by 4 workers" in timing.time_warm_calls(lambda: None, "cpu").method


@pytest.mark.parametrize(
    ("spans", "calls", "times"),
    [
        ([(10.0, 4.0), (0.0, 2.0)], 2, [0.002, 0.004]),
        ([(0.0, 2.0), (3.0, 1.0), (10.0, 4.0), (15.0, 1.0)], 2, [0.003, 0.005]),
        ([(0.0, 2.0), (3.0, 1.0), (10.0, 4.0)], 2, None),
        ([(0.0, 0.0), (3.0, 1.0)], 2, None),
        ([], 2, None),
    ],
    ids=["one kernel a call", "two", "not the same in each", "no time", "nothing ran"],
)
def test_work_on_the_device_is_told_by_call(spans, calls, times):
    assert cupti.by_call(spans, calls) == times


@pytest.mark.parametrize(("found", "clock"), [([1.0, 2.0], "cupti"), (None, "cuda events")])
def test_a_gpu_is_timed_by_cupti_else_by_events(monkeypatch, found, clock):
    monkeypatch.setattr(timing, "_BUDGET_SECONDS", 0.0)
    monkeypatch.setattr(timing, "_cuda_call_ms", lambda call: 3.0)
    monkeypatch.setattr(cupti, "device_ms", lambda call, calls: found)
    measured = timing.time_warm_calls(lambda: None, "cuda", 7.0)
    assert (measured.clock, measured.compile_ms) == (clock, 7.0)
    assert measured.method.startswith({"cupti": "CUPTI, ", "cuda events": "CUDA events"}[clock])
