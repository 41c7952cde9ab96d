"""Planned ops on the fake kernel library: what is remembered, what is not, and that both compute the same."""

from __future__ import annotations

import ctypes
import gc
import itertools
import threading
import time
import weakref

import pytest
import torch
from torch._subclasses import fake_tensor

from tilegym.backend.cutile_rs import utils
from tilegym.backend.cutile_rs.planned import Launch, Output, planned
from tilegym_rs import KernelError, _core


@pytest.fixture(autouse=True)
def fake_kernel_library(monkeypatch, fake_library):
    monkeypatch.setattr(utils, "kernel_library", lambda: fake_library)
    _core.forget_plans()


@pytest.fixture(autouse=True, params=[True, False], ids=["libtorch", "python"])
def way_to_torch(request):
    """Both ways of planned ops to torch; they are to do the same."""
    if _core.use_torch_bridge(request.param) != request.param:
        pytest.skip(f"tilegym_rs has no module built for torch {torch.__version__}")
    yield
    _core.use_torch_bridge(True)


class Planner:
    """A planner that counts how often it is asked."""

    def __init__(self, plan):
        self.asked = 0
        self.plan = plan
        self.op = planned(self.__call__).native()

    def __call__(self, *args, **kwargs):
        self.asked += 1
        return self.plan(*args, **kwargs)


def scale_by(x, factor=2.0, **_):
    return Launch("scale", (Output.like(x, tuple(x.shape)), x), {"factor": factor})


def test_calls_that_look_alike_are_planned_once():
    planner = Planner(scale_by)
    inputs = [torch.randn(5) for _ in range(3)]
    outputs = [planner.op(x, 3.0) for x in inputs]
    assert [planner.asked, planner.op.plans, planner.op.replays] == [1, 1, 2]
    for x, out in zip(inputs, outputs, strict=True):
        assert torch.equal(out, x * 3.0)
    assert len({out.data_ptr() for out in outputs}) == 3


OTHER_CALLS = {
    "shape": lambda op: op(torch.ones(6)),
    "stride": lambda op: op(torch.ones(10)[::2]),
    "alignment": lambda op: op(torch.ones(6)[1:]),
    "number": lambda op: op(torch.ones(5), 3.0),
    "integer": lambda op: op(torch.ones(5), 2),
    "keyword": lambda op: op(torch.ones(5), factor=2.0),
    "flag": lambda op: op(torch.ones(5), flag=True),
    "other flag": lambda op: op(torch.ones(5), flag=False),
    "text": lambda op: op(torch.ones(5), mode="fast"),
}


def test_calls_that_look_different_are_planned_each():
    planner = Planner(scale_by)
    planner.op(torch.ones(5))
    for number, (name, call) in enumerate(OTHER_CALLS.items()):
        call(planner.op)
        assert planner.asked == number + 2, name
        call(planner.op)
        assert planner.asked == number + 2, name


@pytest.mark.parametrize(
    "call",
    [
        lambda op: op(torch.ones(5), extra={}),
        lambda op: op(torch.ones(5), extra=[1]),
        lambda op: op(torch.view_as_complex(torch.ones(5, 2)).conj().imag),
        lambda op: op(torch.ones(5).as_subclass(type("Sub", (torch.Tensor,), {}))),
        lambda op: op(torch.ones(5), 2**70),
    ],
    ids=["mapping", "list", "negated", "subclass", "huge"],
)
def test_what_a_key_cannot_tell_is_always_planned(call):
    planner = Planner(lambda x, *_, **__: x)
    for asked in (1, 2):
        call(planner.op)
        assert planner.asked == asked


def test_parameters_are_remembered_without_gradients():
    planner, x = Planner(scale_by), torch.nn.Parameter(torch.ones(5))
    with torch.no_grad():
        assert [torch.equal(planner.op(x), 2 * x) for _ in range(2)] == [True, True]
    assert planner.asked == 1


def test_a_gradient_without_an_operator_is_refused_with_the_ways_out():
    planner, x = Planner(scale_by), torch.ones(5)
    planner.op(x)
    with pytest.raises(RuntimeError, match=r"requires_grad=True; .*no_grad.*detach.*backend='pytorch'"):
        planner.op(torch.ones(5, requires_grad=True))
    assert planner.asked == 1


def test_a_result_in_place_is_the_callers_tensor():
    planner = Planner(lambda x, out: Launch("scale", (out, x), {"factor": 4.0}, result=out))
    for asked, out in ((1, torch.zeros(3)), (1, torch.zeros(3))):
        assert planner.op(torch.ones(3), out) is out
        assert out.tolist() == [4.0] * 3
        assert planner.asked == asked


def test_tensors_that_share_memory_are_told_from_those_that_do_not():
    planner = Planner(lambda x, y: Launch("scale", (Output.like(y, (4,)), y), {}))
    buffer = torch.arange(16.0)
    pairs = [(buffer[:4], buffer[8:12]), (buffer[:4], buffer[:4]), (torch.zeros(4), torch.ones(4))]
    results = [planner.op(*pair) for pair in pairs]
    assert all(torch.equal(out, 2 * y) for out, (_, y) in zip(results, pairs, strict=True))
    assert planner.asked == 2


def test_views_into_the_callers_tensor_keep_their_offset():
    planner = Planner(lambda x: Launch("scale", (Output.like(x, (3,)), x[1:7:2]), {"factor": 1.0}))
    for x in (torch.arange(8.0), -torch.arange(8.0)):
        assert torch.equal(planner.op(x), x[1:7:2])
    assert planner.asked == 1


def test_a_copy_in_place_of_a_view_works_and_is_not_remembered():
    planner = Planner(lambda x: Launch("scale", (Output.like(x, (3,)), x[::2].contiguous()), {"factor": 1.0}))
    for asked, x in ((1, torch.arange(6.0)), (2, -torch.arange(6.0))):
        assert torch.equal(planner.op(x), x[::2])
        assert planner.asked == asked


def test_an_output_may_have_another_shape_than_the_kernel_sees():
    planner = Planner(lambda x: Launch("scale", (Output.like(x, (2, 3), seen_as=(6,)), x.view(6)), {"factor": 1.0}))
    for x in (torch.randn(2, 3), torch.randn(2, 3)):
        assert torch.equal(planner.op(x), x)
    assert planner.asked == 1


@pytest.mark.parametrize("shape", [(5,), (1, 5), (5, 1), (2, 3)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("step", [1, 2])
def test_an_output_is_dense_and_as_described_each_time(shape, dtype, step):
    numbers = torch.ones(20)[::step][:5]
    wanted = Output(shape, dtype, numbers.device, seen_as=(torch.Size(shape).numel(),))
    planner = Planner(lambda x, like: Launch("noop_into", (wanted, x), {}))
    for like in (torch.ones(shape, dtype=dtype), torch.nn.Parameter(torch.ones(shape, dtype=dtype), False)) * 2:
        out = planner.op(numbers, like)
        assert (type(out), out.shape, out.dtype) == (torch.Tensor, shape, dtype)
        assert out.is_contiguous()
        assert not out.requires_grad
    assert planner.asked == 1


LAYOUTS = {
    "dense": lambda t: t,
    "strided": lambda t: t[:, ::2],
    "transposed": lambda t: t.t(),
    "one row": lambda t: t[1:2],
    "one column": lambda t: t[:, 1:2],
    "scalar": lambda t: t[1, 1],
    "expanded": lambda t: t[1:2].expand(5, -1),
    "empty": lambda t: t[:0],
}


DTYPES = ("float32", "float16", "bfloat16", "int32", "int64", "float8_e4m3fn", "float8_e5m2", "float64", "bool")


def test_a_plan_made_one_way_is_found_the_other_way():
    planner, y = Planner(lambda x, y: Launch("noop_into", (Output.like(y, (3, 2), seen_as=(6,)), y), {})), torch.ones(3)
    for asked, (dtype, layout) in enumerate(itertools.product(DTYPES, LAYOUTS), start=1):
        for wanted in (False, True, False):
            _core.use_torch_bridge(wanted)
            x = LAYOUTS[layout](torch.ones(4, 6).to(getattr(torch, dtype)))
            assert planner.op(x, y).shape == (3, 2)
            assert planner.asked == asked, (dtype, layout)


def test_a_mode_that_looks_at_operators_is_asked_for():
    planner, x = Planner(scale_by), torch.ones(3)
    for _ in range(3):
        planner.op(x)
    with fake_tensor.FakeTensorMode(), pytest.raises(ValueError, match="fake and functional"):
        planner.op(x)  # plans anew, and there is no operator that the mode could see
    assert planner.asked == 2
    assert torch.equal(planner.op(x), 2 * x)


def test_an_environment_variable_that_was_named_is_looked_at(monkeypatch):
    monkeypatch.setenv("TILEGYM_TEST_CHOICE", "1")
    planner = Planner(lambda x: Launch("scale", (Output.like(x, (3,)), x), {}, environment=("TILEGYM_TEST_CHOICE",)))
    x = torch.ones(3)
    for value, asked in (("1", 1), ("1", 1), ("2", 2), (None, 3), (None, 3), ("2", 4)):
        if value is None:
            monkeypatch.delenv("TILEGYM_TEST_CHOICE", raising=False)
        else:
            monkeypatch.setenv("TILEGYM_TEST_CHOICE", value)
        planner.op(x)
        assert planner.asked == asked


def test_a_setting_that_was_named_is_looked_at():
    choice = [1]
    planner = Planner(lambda x: Launch("scale", (Output.like(x, (3,)), x), {}, settings=(lambda: choice[0],)))
    for value, asked in ((1, 1), (1, 1), (2, 2), (2, 2), (1, 3)):
        choice[0] = value
        planner.op(torch.ones(3))
        assert planner.asked == asked


def test_an_empty_tensor_needs_no_memory_of_its_own():
    empty = torch.empty(0)
    planner = Planner(lambda x: Launch("scale", (x, empty), {}, result=x))
    assert [planner.op(x) is x for x in (torch.ones(3), torch.ones(3))] == [True, True]
    assert planner.asked == 1


def test_plans_can_be_forgotten():
    planner = Planner(scale_by)
    planner.op(torch.ones(5))
    utils.forget_plans()
    planner.op(torch.ones(5))
    assert planner.asked == 2


def test_loading_a_library_forgets_plans(fake_kernels, fake_driver):
    planner = Planner(scale_by)
    planner.op(torch.ones(5))
    _core.KernelLibrary(fake_kernels, fake_driver)
    planner.op(torch.ones(5))
    assert planner.asked == 2


def test_plans_do_not_pile_up():
    planner, memory = Planner(scale_by), torch.ones(5000)
    for size in range(1, 5000):
        planner.op(memory[:size])
    assert planner.op.plans <= 4096


def test_what_a_planner_returns_itself_goes_to_the_caller():
    planner = Planner(lambda x: x + 1)
    assert planner.op(torch.ones(2)).tolist() == [2.0, 2.0]
    assert planner.op.plans == 0


def test_no_tensor_is_kept():
    planner, x = Planner(scale_by), torch.ones(5)
    out = planner.op(x)
    gone = [weakref.ref(x), weakref.ref(out)]
    del x, out
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


@pytest.mark.parametrize("remembered", [False, True])
def test_other_threads_run_and_tensors_live_while_a_launch_does(capfd, remembered):
    planner = Planner(lambda x: Launch("await_first", (Output.like(x, (1,)), x), {}))
    if remembered:
        planner.op(torch.ones(1))
    box, lived = [torch.zeros(1)], []
    address, reference = box[0].data_ptr(), weakref.ref(box[0])

    def finish():
        while capfd.readouterr().out.count("started") == 0:
            time.sleep(0.01)
        box.clear()
        gc.collect()
        lived.append(reference() is not None)
        ctypes.c_float.from_address(address).value = 1.0

    capfd.readouterr()
    worker = threading.Thread(target=finish)
    worker.start()
    # `await_first` runs until the worker, which needs the lock on Python, sets the element; else it fails.
    planner.op(box[0])
    worker.join()
    assert (lived, planner.op.replays) == ([True], int(remembered))


def test_errors_of_planner_and_library_come_through():
    def refuse(x):
        raise ValueError("not this one")

    with pytest.raises(ValueError, match="not this one"):
        Planner(refuse).op(torch.ones(2))
    with pytest.raises(ValueError, match=r"scale\(\): argument 'x': wanted dtype float32, got float64"):
        Planner(scale_by).op(torch.ones(2, dtype=torch.float64))
    with pytest.raises(TypeError, match="there is no argument 'tile'"):
        Planner(lambda x: Launch("scale", (Output.like(x, (2,)), x), {"tile": 1})).op(torch.ones(2))


def test_a_launch_that_fails_again_raises_again():
    planner = Planner(lambda x: Launch("breakable", (Output.like(x, (1,)), x), {}))
    assert planner.op(torch.ones(1)) is not None
    for _ in range(2):
        with pytest.raises(KernelError, match=r"breakable\(\): .*\(code -3\)"):
            planner.op(-torch.ones(1))
    assert planner.asked == 1


def test_memory_is_not_allocated_for_a_tensor_that_no_kernel_takes():
    planner = Planner(lambda x: Launch("scale", (Output.like(x, (2**40,)), x), {}))
    with pytest.raises(ValueError, match="argument 'x': wanted extents of at most 2147483647, got 1099511627776"):
        planner.op(torch.ones(1).expand(2**40))
