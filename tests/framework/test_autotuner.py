"""Choice of a configuration: untuned on the CPU device, timed once per key elsewhere."""

from __future__ import annotations

import pytest
import torch

from tilegym.backend.cutile_rs import autotune_launch, autotuner, clear_cache, get_cache_stats

GPU = torch.device("cuda", 0)
MILLISECONDS = {"slow": 3.0, "fast": 1.0, "medium": 2.0}


@pytest.fixture(autouse=True)
def empty_cache():
    clear_cache()
    yield
    clear_cache()


@pytest.fixture
def gpu(monkeypatch):
    """A GPU whose times are known: each configuration takes what MILLISECONDS says."""
    monkeypatch.setattr(autotuner, "_device_text", lambda device: f"GPU:{device.index}")
    monkeypatch.setattr(autotuner, "_time_on_gpu", lambda call, warmup, rep, device: MILLISECONDS[call()])
    monkeypatch.delenv("TILEGYM_DISABLE_AUTOTUNE", raising=False)


def launch(config):
    if config == "broken":
        raise RuntimeError("illegal tile size")
    return config


def test_the_cpu_device_takes_the_first():
    result = autotune_launch(launch, ["slow", "fast"], "key", device=torch.device("cpu"))
    assert (result.best_config, result.output, result.tuning_record) == ("slow", "slow", [])
    assert get_cache_stats() == {}


@pytest.mark.usefixtures("gpu")
def test_a_gpu_takes_the_fastest():
    result = autotune_launch(launch, ["slow", "fast", "medium"], "key", "op", device=GPU)
    assert (result.best_config, result.output, result.cache_hit) == ("fast", "fast", False)
    assert result.tuning_record == [("slow", 3.0), ("fast", 1.0), ("medium", 2.0)]


@pytest.mark.usefixtures("gpu")
def test_the_second_call_is_a_hit_with_the_same_output():
    autotune_launch(launch, ["slow", "fast"], "key", "op", device=GPU)
    result = autotune_launch(launch, ["slow", "fast"], "key", "op", device=GPU)
    assert (result.cache_hit, result.output) == (True, "fast")


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    "changed",
    [{"key": "other"}, {"configs": ["fast", "slow"]}, {"kernel_name": "other"}, {"device": torch.device("cuda", 1)}],
    ids=str,
)
def test_what_decides_is_part_of_the_key(changed):
    arguments = {"configs": ["slow", "fast"], "key": "key", "kernel_name": "op", "device": GPU}
    autotune_launch(launch, **arguments)
    assert not autotune_launch(launch, **{**arguments, **changed}).cache_hit


@pytest.mark.usefixtures("gpu")
def test_a_hit_does_not_write_its_candidates_out_again():
    class Candidate(str):
        written = 0

        def __repr__(self):
            Candidate.written += 1
            return super().__repr__()

    candidates = [Candidate("slow"), Candidate("fast")]
    autotune_launch(launch, candidates, "key", "written", device=GPU)
    before = Candidate.written
    assert autotune_launch(launch, candidates, "key", "written", device=GPU).cache_hit
    assert Candidate.written == before


@pytest.mark.usefixtures("gpu")
def test_candidates_without_a_hash_are_tuned_once():
    candidates = [{"speed": "slow"}, {"speed": "fast"}]
    hits = [autotune_launch(lambda config: config["speed"], candidates, "key", device=GPU).cache_hit for _ in range(2)]
    assert hits == [False, True]


@pytest.mark.usefixtures("gpu")
def test_one_failing_candidate_does_not_end_the_search():
    result = autotune_launch(launch, ["broken", "slow", "fast"], "key", "op", device=GPU)
    assert (result.best_config, result.failures) == ("fast", [("broken", "illegal tile size")])


@pytest.mark.usefixtures("gpu")
def test_all_failing_is_an_error_with_the_reasons():
    with pytest.raises(RuntimeError, match=r"op: none of 2 configurations ran.*illegal tile size"):
        autotune_launch(launch, ["broken", "broken"], "key", "op", device=GPU)
    assert get_cache_stats() == {}


def test_no_candidates_is_an_error():
    with pytest.raises(ValueError, match="op: wanted at least one configuration"):
        autotune_launch(launch, [], "key", "op")


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("value", ["1", "true", "YES", " on "])
def test_tuning_can_be_turned_off(monkeypatch, value):
    monkeypatch.setenv("TILEGYM_DISABLE_AUTOTUNE", value)
    assert autotune_launch(launch, ["slow", "fast"], "key", "op", device=GPU).best_config == "slow"


@pytest.mark.usefixtures("gpu")
def test_a_bad_switch_is_an_error(monkeypatch):
    monkeypatch.setenv("TILEGYM_DISABLE_AUTOTUNE", "maybe")
    with pytest.raises(ValueError, match=r"TILEGYM_DISABLE_AUTOTUNE must be one of .*'maybe'"):
        autotune_launch(launch, ["slow", "fast"], "key", "op", device=GPU)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(("arguments", "left"), [((), 0), (("one",), 1), ((None, "a"), 1), (("one", "b"), 2)], ids=str)
def test_clear_cache(arguments, left):
    autotune_launch(launch, ["slow", "fast"], "a", "one", device=GPU)
    autotune_launch(launch, ["slow", "fast"], "b", "two", device=GPU)
    clear_cache(*arguments)
    assert len(get_cache_stats()) == left


@pytest.mark.usefixtures("gpu")
def test_cache_stats():
    autotune_launch(launch, ["broken", "slow", "fast"], "a", "one", device=GPU)
    (stats,) = get_cache_stats().values()
    assert stats == {"best_config": "fast", "best_ms": 1.0, "n_tested": 2, "n_failed": 1}
