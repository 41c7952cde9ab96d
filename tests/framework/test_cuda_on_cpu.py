"""torch's "cuda" device mapped to the CPU: factories, torch.cuda, clocks, restoring, and what is too large."""

from __future__ import annotations

import os
import threading
from importlib import metadata
from types import SimpleNamespace

import pytest
import torch

from tilegym_rs import cuda_on_cpu
from tilegym_rs.cuda_on_cpu import cuda_module, speed
from tilegym_rs.cuda_on_cpu.budget import Budget, cost_of, scaled_down
from tilegym_rs.cuda_on_cpu.speed import Speed

pytest_plugins = ["pytester"]

INSTALLED = any(point.name == "tilegym_rs" for point in metadata.entry_points(group="pytest11"))
LOAD = () if INSTALLED else ("-p", "tilegym_rs.plugin")


@pytest.fixture
def mapped():
    patches = cuda_on_cpu.enable()
    yield
    patches.restore()


MADE = {
    "empty": lambda: torch.empty(2, device="cuda"),
    "tensor": lambda: torch.tensor([1.0], device="cuda:0"),
    "device object": lambda: torch.zeros(2, device=torch.device("cuda")),
    "like": lambda: torch.zeros_like(torch.ones(2), device="cuda"),
    "new": lambda: torch.ones(2).new_zeros(3, device="cuda"),
    "to": lambda: torch.ones(2).to("cuda", torch.float16),
    "to by keyword": lambda: torch.ones(2).to(device="cuda"),
    "cuda": lambda: torch.ones(2).cuda(),
    "pinned": lambda: torch.ones(2).pin_memory(),
    "module": lambda: torch.nn.Linear(2, 2, device="cuda").cuda().weight,
    "module.to": lambda: torch.nn.Linear(2, 2).to("cuda").weight,
    "generator": lambda: torch.rand(2, generator=torch.Generator(device="cuda").manual_seed(3), device="cuda"),
}


@pytest.mark.parametrize("way", MADE)
def test_tensors_asked_for_on_cuda_lie_on_the_cpu(mapped, way):
    assert MADE[way]().device.type == "cpu"


def test_a_default_device_is_mapped(mapped):
    with torch.device("cuda"):
        assert torch.empty(2).device.type == "cpu"


def test_other_threads_and_backward_are_mapped(mapped):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient + torch.ones(2, device="cuda")

    x = torch.ones(2, requires_grad=True)
    worker = threading.Thread(target=lambda: Doubled.apply(x).sum().backward())
    worker.start()
    worker.join()
    assert x.grad.tolist() == [2.0, 2.0]


def test_torch_cuda_answers_as_the_target(mapped, monkeypatch):
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 1
    assert torch.cuda.get_device_capability("cuda") == (9, 0)
    assert torch.cuda.get_device_properties(0).multi_processor_count == 132


def test_seeds_repeat(mapped):
    torch.cuda.manual_seed(5)
    first = torch.rand(3, device="cuda")
    torch.cuda.manual_seed_all(5)
    assert torch.equal(first, torch.rand(3, device="cuda"))


def test_events_and_graphs_measure_time(mapped):
    graph, start, end = torch.cuda.CUDAGraph(), torch.cuda.Event(enable_timing=True), torch.cuda.Event()
    with torch.cuda.graph(graph):
        torch.ones(300, 300) @ torch.ones(300, 300)
    start.record()
    for _ in range(1000):
        graph.replay()
    end.record()
    once = graph._seconds * 1e3
    assert start.elapsed_time(end) >= 1000 * once > 0


def test_a_profile_of_the_gpu_is_one_event(mapped):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        torch.ones(100, 100) @ torch.ones(100, 100)
    (event,) = profile.key_averages()
    assert event.self_device_time_total > 0
    assert event.device_type == torch.autograd.DeviceType.CUDA


def test_no_function_stands_under_two_names():
    """torch._dynamo refuses that, which torch.compile and torch.utils.checkpoint import."""
    functions = [value for value in cuda_module._functions().values() if callable(value)]
    assert len(set(map(id, functions))) == len(functions)


def test_everything_is_restored():
    before = {name: getattr(torch, name) for name in ("empty", "tensor", "Generator", "load", "zeros_like")}
    cuda_before, to_before = dict(vars(torch.cuda)), torch.Tensor.to
    cuda_on_cpu.enable().restore()
    assert {name: getattr(torch, name) for name in before} == before
    assert dict(vars(torch.cuda)) == cuda_before
    assert torch.Tensor.to is to_before


def case(name="test_op", **parameters):
    return SimpleNamespace(name=name, callspec=SimpleNamespace(params=parameters))


class KnownSpeed(Speed):
    """A machine of 100 G operations of products and 1 G elements a second."""

    def seconds(self, operations, elements, calls, parameters):
        return sum(calls) * (operations / 1e11 + elements / 1e9)


@pytest.mark.parametrize(
    ("parameters", "operations", "elements"),
    [
        ({"m": 10, "n": 20, "k": 30}, 12_000, 200),
        ({"batch_size": 4, "m": 10, "n": 20, "k": 30}, 48_000, 800),
        ({"batch_size": 2, "seq_len": 3, "hidden_size": 5}, 0, 30),
        ({"m": 10, "n": 20}, 0, 200),
    ],
    ids=str,
)
def test_work_follows_from_the_shapes(parameters, operations, elements):
    cost = cost_of(parameters)
    assert (cost.operations, cost.elements) == (operations, elements)


def test_parameters_without_shapes_are_not_judged():
    assert cost_of({"dtype": "f16"}) is None
    assert Budget(20, 8e9, KnownSpeed()).refusal(SimpleNamespace(name="test_plain")) is None


def test_a_case_over_the_budget_is_refused_with_the_estimate():
    budget = Budget(20, 8e9, KnownSpeed())
    assert budget.refusal(case(m=1024, n=1024, k=1024)) is None
    reason = budget.refusal(case("test_perf", m=32768, n=32768, k=32768))
    assert reason.startswith("too large for the CPU device: estimated 5")
    assert "limits 20 s and 8.0 GB" in reason


def test_memory_counts_too_and_less_where_nothing_is_compared():
    budget = Budget(1000, 8e9, KnownSpeed())
    large = {"batch_size": 64, "seq_len": 1024, "hidden_size": 4096}
    assert "limits 1000 s and 8.0 GB" in budget.refusal(case(**large))
    assert budget.refusal(case("test_perf", **large)) is None


def test_the_speed_of_this_machine_is_measured_only_where_it_matters(monkeypatch):
    monkeypatch.setattr(speed, "products_per_second", lambda dtype: (1e9, 2e9))
    monkeypatch.setattr(speed, "elements_per_second", lambda: 1e9)
    assert Speed().seconds(1e6, 1e3, (1, 1), {}) < 0.01
    assert Speed().seconds(1e10, 0, (2, 1), {"dtype": torch.bfloat16}) == pytest.approx(25)


def test_both_sides_of_a_product_are_measured():
    ours, theirs = speed.products_per_second("float32")
    assert ours > 0
    assert theirs > 0


SCALED = [
    ({"m": 32768, "n": 4096, "k": 4096}, {"m": 512, "n": 512, "k": 512}),
    ({"m": 12288, "n": 2048, "k": 2728}, {"m": 512, "n": 512, "k": 488}),
    ({"m": 100, "n": 8192, "k": 8192}, {"n": 1024, "k": 1024}),
]


@pytest.mark.parametrize(("parameters", "smaller"), SCALED, ids=str)
def test_a_scaled_case_keeps_what_is_left_of_a_tile(parameters, smaller):
    budget = Budget(0.1, 8e9, KnownSpeed())
    assert scaled_down(case("test_perf", **parameters), budget) == smaller
    assert all(parameters[name] % 64 == value % 64 for name, value in smaller.items())


def test_what_fits_at_no_size_stays_skipped():
    assert scaled_down(case("test_perf", m=32768, n=32768, k=32768), Budget(1e-9, 8e9, KnownSpeed())) is None


SUITE = """
import pytest, torch

@pytest.mark.parametrize("m, n, k", [(64, 64, 64), (70000, 70000, 70000)])
def test_perf(m, n, k):
    assert torch.cuda.is_available()
    assert torch.empty(m, n, device="cuda").device.type == "cpu"
    assert m * n * k < 1e14
"""


@pytest.fixture
def suite(pytester):
    pytester.makepyfile(test_mine=SUITE)
    return lambda *options: pytester.runpytest_inprocess(*LOAD, "-p", "no:cacheprovider", *options)


def test_the_switch_is_off_by_default(pytester):
    pytester.makepyfile("import sys\ndef test():\n    assert not {'torch', 'tilegym_rs._core'} & set(sys.modules)")
    pytester.runpytest_subprocess(*LOAD, "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_what_is_too_large_is_skipped_with_the_reason(suite, monkeypatch):
    monkeypatch.delenv("MODE", raising=False)
    result = suite("--cuda-on-cpu", "-rs")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED * too large for the CPU device: estimated * limits 80 s and *"])
    assert "MODE" not in os.environ
    assert not torch.cuda.is_available()


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "a worker"])
def test_scaled_cases_are_a_category_of_their_own(suite, workers):
    result = suite("--cuda-on-cpu", "--cuda-on-cpu-scaled", "-v", *workers)
    result.stdout.fnmatch_lines(["*SCALED (m 70000 -> * n 70000 -> *"])
    result.stdout.fnmatch_lines(["*1 passed, *1 scaled*"])
    assert result.ret == 0


def test_a_scaled_case_says_so_in_its_record(suite, pytester):
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(autouse=True)\ndef timed(record_property):\n"
        "    record_property('benchmark', {'cutile-rs': {'forward': {'median': 0.5}}})"
    )
    result = suite("--cuda-on-cpu", "--cuda-on-cpu-scaled", "--print-record")
    result.stdout.fnmatch_lines(["Performance Test Results", "  case: *", "  scaled: m 70000 -> *"])


def test_a_gpu_is_an_error(suite, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda *_: "A GPU")
    result = suite("--cuda-on-cpu")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--cuda-on-cpu: wanted a machine without a GPU, got A GPU: leave the switch out*"])
