"""Records travel as plain values and come back whole."""

from __future__ import annotations

import json

import pytest
import torch

from tilegym_rs.validation import records
from tilegym_rs.validation.records import Record, Timing

TIMING = Timing(2.0, 1.0, 3.0, 0.5, 2.1, 5, "wall clock", 10.0)


@pytest.mark.parametrize("timing", [None, TIMING])
def test_a_record_survives_the_way(timing):
    record = Record("softmax", "cutile-rs", "float32", "2x3", "CPU device", records.PASS, 1e-6, timing=timing)
    assert Record.from_plain(json.loads(json.dumps(record.to_plain()))) == record


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (torch.tensor(1.5), 1.5),
        (torch.tensor([1, 2]), "tensor([1, 2])"),
        (torch.float16, "torch.float16"),
        ({1: (2, torch.int8)}, {"1": [2, "torch.int8"]}),
        (True, True),
        (None, None),
    ],
    ids=str,
)
def test_values_become_plain(value, expected):
    assert records.plain(value) == expected


@pytest.mark.parametrize("value", [-(2**31) - 1, -(2**31), 2**31, 2**63])
def test_plain_integers_can_be_sent_by_a_worker(value):
    execnet = pytest.importorskip("execnet")
    assert int(execnet.loads(execnet.dumps(records.plain(value)))) == value


def test_subclasses_of_numbers_become_plain():
    numpy = pytest.importorskip("numpy")
    assert type(records.plain(numpy.float64(1.5))) is float
    assert type(records.plain(numpy.int32(3))) is int


@pytest.mark.parametrize("minimum", [0.0, -1.0, float("nan")])
def test_a_time_that_cannot_be_is_refused(minimum):
    with pytest.raises(ValueError, match="above zero"):
        Timing(1.0, 1.0, 1.0, minimum, 1.0, 5, "wall clock")


@pytest.mark.parametrize(
    "value",
    [None, "text", {"b": None}, {"b": {"forward": {"median": 0}}}, {"b": {"forward": {"median": "1"}}}],
    ids=str,
)
def test_unusable_timings_are_left_out(value):
    assert records.benchmarks([("benchmark", value)]) == []


def test_timings_of_every_backend_and_mode():
    value = {"a": {"forward": {"median": 1.0}, "backward": {"median": 2.0}}, "b": {"forward": {"median": 3.0}}}
    found = records.benchmarks([("benchmark", value), ("other", 1)])
    assert [(backend, mode, fields["median"]) for backend, mode, fields in found] == [
        ("a", "forward", 1.0),
        ("a", "backward", 2.0),
        ("b", "forward", 3.0),
    ]
