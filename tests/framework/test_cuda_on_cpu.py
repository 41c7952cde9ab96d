"""torch's "cuda" device mapped to the CPU: factories, torch.cuda, clocks, restoring, and what is too large."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
import torch

from tilegym_rs import cuda_on_cpu
from tilegym_rs.cuda_on_cpu.budget import Budget, cost_of


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


def test_everything_is_restored():
    before = {name: getattr(torch, name) for name in ("empty", "tensor", "Generator", "load", "zeros_like")}
    cuda_before, to_before = dict(vars(torch.cuda)), torch.Tensor.to
    cuda_on_cpu.enable().restore()
    assert {name: getattr(torch, name) for name in before} == before
    assert dict(vars(torch.cuda)) == cuda_before
    assert torch.Tensor.to is to_before


def case(name="test_op", **parameters):
    return SimpleNamespace(name=name, callspec=SimpleNamespace(params=parameters))


@pytest.mark.parametrize(
    ("parameters", "operations"),
    [
        ({"m": 10, "n": 20, "k": 30}, 12_000),
        ({"batch_size": 4, "m": 10, "n": 20, "k": 30}, 48_000),
        ({"batch_size": 2, "seq_len": 3, "hidden_size": 5}, 240),
        ({"m": 10, "n": 20}, 1_600),
    ],
    ids=str,
)
def test_work_follows_from_the_shapes(parameters, operations):
    assert cost_of(case(**parameters)).operations == operations


def test_parameters_without_shapes_are_not_judged():
    assert cost_of(case(dtype="f16")) is None
    assert cost_of(SimpleNamespace(name="test_plain")) is None


def test_a_case_over_the_budget_is_refused_with_the_estimate():
    budget = Budget(seconds=20, peak_bytes=8e9, operations_per_second=1e11)
    assert budget.refusal(case(m=1024, n=1024, k=1024)) is None
    reason = budget.refusal(case("test_perf", m=32768, n=32768, k=32768))
    assert reason.startswith("too large for the CPU device: estimated 5")
    assert "limits 20 s and 8.0 GB" in reason
