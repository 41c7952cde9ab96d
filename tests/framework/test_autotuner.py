"""Choice of a configuration: untuned on the CPU device, timed once per key elsewhere, kept in records."""

from __future__ import annotations

import functools
import json
import multiprocessing
import os
import time

import pytest
import torch

import tilegym_rs
from tilegym.backend.cutile_rs import autotune_launch, autotuner, clear_cache, get_cache_stats
from tilegym.backend.cutile_rs.tuning import search, subject
from tilegym.backend.cutile_rs.tuning.memory import tensors_in
from tilegym_rs import cache, tuning
from tilegym_rs.cli import main

GPU = torch.device("cuda", 0)
WEIGHT, SCALE = torch.zeros(5), torch.zeros(7)
USUAL_FOLDER = os.environ.get("TILEGYM_RS_CACHE_DIR")
MILLISECONDS = {"slow": 3.0, "fast": 1.0, "medium": 2.0}


@pytest.fixture(autouse=True)
def empty_cache():
    clear_cache()
    yield
    clear_cache()


def timed(call, prepare, warmup, repeats, device):
    prepare()
    result = call()
    return MILLISECONDS[result] if isinstance(result, str) else 1.0


def stand_in(patch, folder):
    """A GPU whose times are known: each configuration takes what MILLISECONDS says. Tensors of the CPU are its own."""
    tilegym_rs.library()  # found first: it would be built anew in the folder
    patch.setenv("TILEGYM_RS_CACHE_DIR", str(folder))
    patch.delenv("TILEGYM_DISABLE_AUTOTUNE", raising=False)
    patch.setattr(subject, "device_facts", lambda device: (("name", f"GPU:{device.index}"),))
    patch.setattr(search, "time_on_gpu", timed)
    patch.setattr(search, "synchronize", lambda device: None)
    patch.setattr(autotuner, "_is_capturing", lambda device: False)
    of_cpu = autotuner.CallerMemory
    patch.setattr(autotuner, "CallerMemory", lambda tensors, device: of_cpu(tensors, torch.device("cpu")))


@pytest.fixture
def gpu(monkeypatch, tmp_path):
    stand_in(monkeypatch, tmp_path / "cache")
    return tmp_path / "cache"


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
    assert stats == {"best_config": "fast", "best_ms": 1.0, "n_tested": 2, "n_failed": 1, "from_disk": False}


def tune(configs=("slow", "fast"), key="key", name="op", **options):
    return autotune_launch(launch, list(configs), key, name, device=GPU, **options)


def refuse(config):
    raise AssertionError(f"{config} was tried although a record has the choice")


def in_a_new_process():
    """What this process knows is forgotten; the records on disk stay."""
    clear_cache()


@pytest.mark.usefixtures("gpu")
def test_a_record_serves_another_process():
    tune(["broken", "slow", "fast"], key=(3, torch.float16, (4, 1)))
    in_a_new_process()
    tried = []
    result = autotune_launch(
        lambda config: tried.append(config) or launch(config),
        ["broken", "slow", "fast"],
        (3, torch.float16, (4, 1)),
        "op",
        device=GPU,
    )
    assert (tried, result.cache_hit, result.best_config) == (["fast"], True, "fast")
    assert result.tuning_record == [("slow", 3.0), ("fast", 1.0)]
    assert result.failures == [("broken", "illegal tile size")]
    (stats,) = get_cache_stats().values()
    assert stats["from_disk"]


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("changed", ["device", "toolchain", "candidates", "key", "op"])
def test_a_stale_record_is_not_used(monkeypatch, changed):
    tune()
    in_a_new_process()
    if changed == "device":
        monkeypatch.setattr(subject, "device_facts", lambda device: (("name", "another GPU"),))
    if changed == "toolchain":
        monkeypatch.setattr(subject, "toolchain", lambda: (("compiler", "newer"),))
    other = {"candidates": {"configs": ["fast", "slow"]}, "key": {"key": "k"}, "op": {"name": "o"}}.get(changed, {})
    assert not tune(**other).cache_hit
    assert len(tuning.records()) == 2


@pytest.mark.usefixtures("gpu")
def test_a_record_says_where_it_comes_from():
    x = torch.zeros(3, 8)[:, :4]
    autotuner.choose_config(launch, ["slow", "broken"], (3, x.dtype), "op", device=GPU, tensors=[x])
    (record,) = tuning.records("op")
    text = record.to_json()
    assert text["tensors"] == [{"shape": [3, 4], "dtype": "float32", "strides": [8, 1]}]
    assert text["candidates"] == [
        {"config": "slow", "ms": 3.0, "failure": None},
        {"config": "broken", "ms": None, "failure": "illegal tile size"},
    ]
    assert text["device"] == {"name": "GPU:0"}
    assert set(text["toolchain"]) == {"cutile", "kernels", "compiler"}
    assert text["method"]["repeats"] == 10
    assert text["made"]["torch"] == torch.__version__


def record_file(folder):
    (path,) = (folder / "images").rglob("*.tuning")
    return path


def cut(path):
    path.write_bytes(path.read_bytes()[:40])


def flip(path):
    path.write_bytes(path.read_bytes()[:-3] + b"x}\n")


def make_writable_by_all(path):
    path.chmod(0o666)


@pytest.mark.parametrize(
    ("harm", "counted"),
    [(cut, "broken"), (flip, "broken"), (make_writable_by_all, "untrusted")],
    ids=["cut", "flipped", "writable by all"],
)
def test_a_bad_record_is_counted_and_replaced(gpu, harm, counted):
    tune()
    harm(record_file(gpu))
    in_a_new_process()
    before = getattr(cache.stats(), counted)
    assert not tune().cache_hit
    assert getattr(cache.stats(), counted) > before
    in_a_new_process()
    assert tune().cache_hit


def test_a_record_of_other_content_is_not_used(gpu):
    tune()
    (record,) = tuning.records()
    entry = tilegym_rs._core.CacheEntry(record.subject.entry_key(), "tuning", "", b'{"schema": "tilegym-rs.tuning"}')
    tilegym_rs._core.store_cache_entry(entry)
    in_a_new_process()
    assert not tune().cache_hit


def test_a_folder_that_cannot_be_written_is_no_obstacle(monkeypatch, gpu):
    gpu.mkdir()
    (gpu / "images").write_text("in the way")
    before = cache.stats().unwritable
    assert tune().best_config == "fast"
    assert tune().cache_hit
    assert cache.stats().unwritable > before


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("mode", ["off", "refresh"])
def test_the_setting_of_the_cache_holds_for_records(monkeypatch, mode):
    monkeypatch.setenv("TILEGYM_RS_CACHE", mode)
    tune()
    in_a_new_process()
    assert not tune().cache_hit


@pytest.mark.usefixtures("gpu")
def test_a_key_that_means_nothing_elsewhere_is_not_kept():
    tune(key=object())
    assert tuning.records() == []


def add_one(x):
    def kernel(config):
        x.add_(1)
        return x

    return kernel


def into(out, x):
    def kernel(config):
        out.copy_(x * 2)

    return kernel


@pytest.mark.usefixtures("gpu")
def test_the_callers_data_is_as_after_one_call():
    memory = torch.arange(12.0)
    before = memory.clone()
    in_place = memory[2:5]
    autotune_launch(add_one(in_place), ["a", "b", "c"], "in place", device=GPU)
    assert torch.equal(memory, before + torch.tensor([0, 0, 1, 1, 1] + 7 * [0]))
    memory = before.clone()
    autotune_launch(into(memory[1:7], memory[:6]), ["a", "b"], "aliasing out", device=GPU)
    assert memory.tolist() == [0.0, 0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 7.0, 8.0, 9.0, 10.0, 11.0]


@pytest.mark.usefixtures("gpu")
def test_a_choice_alone_leaves_the_callers_data():
    x = torch.arange(4.0)
    autotuner.choose_config(add_one(x), ["a", "b"], "in place", device=GPU, writes=[x])
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_every_tensor_that_a_function_reaches_is_found():
    class Model:
        def __init__(self):
            self.weight = WEIGHT

        def call(self, config, scale=SCALE):
            return later

    x = torch.zeros(2)
    function = functools.partial(lambda out, config: [x, config, out], torch.ones(3))
    found = list(tensors_in(function))
    assert {tuple(tensor.shape) for tensor in found} == {(2,), (3,)}
    assert {tensor.numel() for tensor in tensors_in(Model().call)} == {5, 7}
    later = 1


@pytest.mark.usefixtures("gpu")
def test_data_survives_a_candidate_that_fails_half_way():
    x = torch.zeros(3)

    def kernel(config):
        x.add_(1)
        if config == "fails":
            raise ValueError("half way")
        return x

    assert autotune_launch(kernel, ["fails", "runs", "too"], "half", device=GPU).best_config == "runs"
    assert x.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.usefixtures("gpu")
def test_a_wrong_candidate_is_named_and_not_chosen():
    x = torch.randn(100)
    result = autotune_launch(lambda factor: x * factor, [2.0, 3.0, 2.0001, 2.0], "wrong", device=GPU)
    assert [config for config, _ in result.tuning_record] == [2.0, 2.0001, 2.0]
    ((config, reason),) = result.failures
    assert config == 3.0
    assert reason.startswith("wrong result: ")
    assert " of 100 elements" in reason


@pytest.mark.usefixtures("gpu")
def test_random_results_are_not_compared():
    result = autotune_launch(lambda config: torch.randn(100), ["a", "b", "c"], "random", device=GPU)
    assert result.failures == []


@pytest.mark.usefixtures("gpu")
def test_a_candidate_that_breaks_the_device_is_named(monkeypatch):
    def broken(device):
        raise RuntimeError("an illegal memory access was encountered")

    monkeypatch.setattr(search, "synchronize", broken)
    with pytest.raises(RuntimeError, match=r"op: configuration broken has left cuda:0 unusable"):
        tune(["broken", "fast"])


@pytest.mark.usefixtures("gpu")
def test_a_graph_is_not_captured_cold(monkeypatch):
    monkeypatch.setattr(autotuner, "_is_capturing", lambda device: True)
    with pytest.raises(RuntimeError, match=r"op: wanted a configuration chosen before a CUDA graph is captured"):
        tune()
    monkeypatch.setattr(autotuner, "_is_capturing", lambda device: False)
    tune()
    monkeypatch.setattr(autotuner, "_is_capturing", lambda device: True)
    assert tune().cache_hit


def tune_slowly(folder, usual, started, results):
    with pytest.MonkeyPatch.context() as patch:
        if usual is None:
            patch.delenv("TILEGYM_RS_CACHE_DIR")
        else:
            patch.setenv("TILEGYM_RS_CACHE_DIR", usual)
        stand_in(patch, folder)
        patch.setattr(search, "time_on_gpu", lambda call, *rest: time.sleep(0.2) or MILLISECONDS[call()])
        started.wait()
        results.put(tune().cache_hit)


def test_two_processes_tune_once(monkeypatch, gpu):
    monkeypatch.setattr(search, "time_on_gpu", lambda call, *rest: time.sleep(0.2) or MILLISECONDS[call()])
    context = multiprocessing.get_context("spawn")
    started, results = context.Barrier(2), context.Queue()
    other = context.Process(target=tune_slowly, args=(gpu, USUAL_FOLDER, started, results))
    other.start()
    started.wait()
    hits = [tune().cache_hit, results.get(timeout=60)]
    other.join()
    assert sorted(hits) == [False, True]
    assert list((gpu / "tuning").iterdir()) == []


@pytest.mark.usefixtures("gpu")
def test_the_command_lists_exports_and_clears(tmp_path, capsys):
    tune(["broken", "slow", "fast"])
    tune(name="other")
    assert main(["tune", "list", "op"]) == 0
    listed = capsys.readouterr().out
    assert "op on GPU:0" in listed
    assert '*    1.0000 ms  "fast"' in listed
    assert "illegal tile size" in listed
    assert main(["tune", "export", str(tmp_path / "records.json")]) == 0
    assert main(["tune", "clear", "op"]) == 0
    assert [record.subject.op for record in tuning.records()] == ["other"]
    assert main(["tune", "clear"]) == 0
    capsys.readouterr()
    assert main(["tune", "import", str(tmp_path / "records.json")]) == 0
    assert main(["tune", "list", "--json"]) == 0
    assert [json.loads(line)["op"] for line in capsys.readouterr().out.splitlines()[1:]] == ["op", "other"]
    in_a_new_process()
    assert tune().cache_hit is False  # other candidates
    assert tune(["broken", "slow", "fast"]).cache_hit


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("text", ["", "{}", '{"schema": "tilegym-rs.tunings", "version": 1, "records": [{}]}'])
def test_a_file_that_holds_no_records_is_refused(tmp_path, capsys, text):
    path = tmp_path / "records.json"
    path.write_text(text)
    assert main(["tune", "import", str(path)]) == 1
    assert "wanted a file made by `tilegym-rs tune export`" in capsys.readouterr().err


def test_records_travel_in_bundles(gpu, tmp_path):
    tune()
    cache.export_bundle(tmp_path / "all.bundle")
    cache.clear()
    in_a_new_process()
    cache.import_bundle(tmp_path / "all.bundle")
    assert tune().cache_hit
