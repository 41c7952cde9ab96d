"""Times of two runs: intervals, verdicts, and what may not be compared."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tilegym_rs.cli import main
from tilegym_rs.validation import gap, record_file
from tilegym_rs.validation.records import Record, Timing
from tilegym_rs.validation.timing import summarize


def timing(scale=1.0, seed=0, spread=0.05, clock="engine", calibration=(1.0, 1.01), **others):
    random = np.random.default_rng(seed)
    samples = [float(x) for x in scale * np.exp(spread * random.standard_normal(30))]
    return summarize(samples, "test", clock=clock, calibration=calibration, **others)


def record(op="softmax", device="CPU device", backend="cutile-rs", mode="cpu", **times):
    return Record(op, backend, "float32", "4x8", device, "pass", mode=mode, timing=timing(**times))


def verdicts(ours, baseline):
    return [row.verdict for found in gap.compare_runs(ours, baseline) for row in found.rows]


@pytest.mark.parametrize(
    ("scale", "verdict"),
    [(0.5, "DONE"), (1.04, "DONE"), (1.07, "MILD_GAP"), (1.3, "MODERATE_GAP"), (1.6, "LARGE_GAP")],
)
def test_the_verdict_is_on_the_geometric_mean(scale, verdict):
    (found,) = gap.compare_runs([record(scale=scale, spread=0.001)], [record(spread=0.001)])
    assert found.verdict == verdict
    assert found.geomean == pytest.approx(scale, rel=0.01)


def test_the_mean_is_geometric():
    ours = [record("a", scale=2.0, spread=0), record("b", scale=0.5, spread=0)]
    (found,) = gap.compare_runs(ours, [record("a", spread=0), record("b", spread=0)])
    assert found.geomean == pytest.approx(1.0)


def test_an_op_is_never_faster_than_itself():
    for trial in range(20):
        assert verdicts([record(seed=trial)], [record(seed=trial + 100)]) == ["same"]


def test_a_slower_machine_is_no_slower_op():
    ours = [record(scale=1.5, calibration=(1.5, 1.6))]
    assert verdicts(ours, [record()]) == ["same"]


@pytest.mark.parametrize(("scale", "verdict"), [(0.5, "faster"), (2.0, "slower")])
def test_a_clear_difference_is_one(scale, verdict):
    assert verdicts([record(scale=scale)], [record()]) == [verdict]


def test_intervals_cover_the_ratio_and_repeat():
    rows = [gap.compare_runs([record(scale=1.2)], [record(seed=1)])[0].rows[0] for _ in range(2)]
    assert rows[0] == rows[1]
    assert rows[0].low < 1.2 < rows[0].high


def test_other_devices_are_refused():
    with pytest.raises(ValueError, match=r"ours of CPU device \(cpu\) and the baseline's of H200 \(gpu\)"):
        gap.compare_runs([record()], [record(device="H200", mode="gpu")])


def test_devices_are_kept_apart():
    both = [record(), record(device="H200", mode="gpu", clock="cuda events", scale=0.1)]
    assert [found.device for found in gap.compare_runs(both, both)] == ["CPU device (cpu)", "H200 (gpu)"]


def test_other_clocks_are_compared_by_the_wall():
    ours = record(scale=1.0, spread=0, wall=(3.0,) * 30)
    (found,) = gap.compare_runs([ours], [record(scale=2.0, spread=0, clock="wall")])
    assert (found.rows[0].clock, found.rows[0].ratio) == ("wall", 1.5)


def test_times_by_cupti_and_by_events_are_compared_by_events():
    gpu = {"device": "H200", "mode": "gpu", "spread": 0}
    ours = record(clock="cupti", wall=(3.0,) * 30, **gpu)
    (found,) = gap.compare_runs([ours], [record(scale=2.0, clock="cuda events", **gpu)])
    assert (found.rows[0].clock, found.rows[0].ratio) == ("cuda events", 1.5)


def test_a_missing_partner_is_never_done():
    (found,) = gap.compare_runs([record("a"), record("b")], [record("a")])
    assert found.missing == ("b float32 4x8",)
    assert found.verdict == "MILD_GAP"


def test_an_op_that_only_the_baseline_has_is_never_done():
    (found,) = gap.compare_runs([record("a")], [record("a"), record("b")])
    assert found.only_in_baseline == ("b float32 4x8",)
    assert found.verdict == "MILD_GAP"


def single(milliseconds):
    timing_of_one = Timing(*[milliseconds] * 5, 1, "test", samples=(milliseconds,))
    return Record("softmax", "cutile-rs", "float32", "4x8", "CPU device", "pass", timing=timing_of_one)


def test_one_sample_decides_nothing():
    (found,) = gap.compare_runs([single(5.0)], [single(1.0)])
    assert found.rows[0].verdict == "too few samples"
    assert found.verdict == "LARGE_GAP"


@pytest.mark.parametrize("baseline", [[], [record(shared=True)]], ids=["none", "shared device"])
def test_records_without_usable_times_are_refused(baseline):
    with pytest.raises(ValueError, match="baseline: wanted records with times"):
        gap.compare_runs([record()], baseline)


def write(path, *records):
    for number, entry in enumerate(records):
        record_file.append(path, "test", number, entry.to_plain())
    return str(path)


def test_the_command(tmp_path, capsys):
    a = write(tmp_path / "a", record(scale=1.3, spread=0.001), record(backend="pytorch", scale=9))
    b = write(tmp_path / "b", record(backend="pytorch", spread=0.001))
    assert main(["compare-records", a, b, "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["verdict"], len(found["rows"])) == ("MODERATE_GAP", 1)
    assert main(["compare-records", b, b, "--backend", "pytorch"]) == 0
    assert "geomean_ratio=1.0000\nverdict: DONE" in capsys.readouterr().out


def test_the_command_says_what_it_cannot_read(tmp_path, capsys):
    assert main(["compare-records", str(tmp_path / "no"), str(tmp_path / "no")]) == 2
    assert "no" in capsys.readouterr().err


def test_one_sample_is_printed(tmp_path, capsys):
    a = write(tmp_path / "a", single(1.0))
    assert main(["compare-records", a, a]) == 0
    assert "too few samples" in capsys.readouterr().out
    assert main(["compare-records", a, a, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["rows"][0]["high"] is None


@pytest.mark.parametrize(
    ("change", "words"),
    [({"version": 2}, "wanted version 1 to 1"), ({"schema": "other"}, "wanted a record of schema")],
    ids=["version", "schema"],
)
def test_a_file_of_another_kind_is_refused(tmp_path, capsys, change, words):
    a = write(tmp_path / "a", record())
    other = tmp_path / "b"
    other.write_text(json.dumps({**json.loads((tmp_path / "a").read_text()), **change}) + "\n")
    assert main(["compare-records", a, str(other)]) == 2
    assert words in capsys.readouterr().err


def test_runs_of_other_devices_are_refused_by_the_command(tmp_path, capsys):
    a, b = write(tmp_path / "a", record()), write(tmp_path / "b", record(device="H200", mode="gpu"))
    assert main(["compare-records", a, b]) == 2
    assert "times of different devices say nothing" in capsys.readouterr().err
