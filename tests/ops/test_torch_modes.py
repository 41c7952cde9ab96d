"""Modes and transforms of torch that look at operators: an op shows itself to them or refuses."""

from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

import tilegym
from tilegym_rs import _core

pytestmark = pytest.mark.usefixtures("seeded")

SHAPES = {
    "softmax": [(3, 5)],
    "silu_and_mul": [(3, 6)],
    "swiglu": [(3, 5), (3, 5)],
    "matmul": [(3, 4), (4, 5)],
    "bmm": [(2, 3, 4), (2, 4, 5)],
    "attention_sink": [(1, 3, 1, 2, 4), (1, 5, 1, 4), (1, 5, 1, 4), (2,)],
}


@pytest.fixture(params=[True, False], ids=["libtorch", "python"])
def inputs(request):
    """Makes an op's inputs; a call like those that follow has been planned, by either way of reading tensors."""

    def make(op):
        tensors = [torch.randn(shape) for shape in SHAPES[op]]
        for _ in range(2):
            ours(op)(*tensors)
        return tensors

    _core.use_torch_bridge(request.param)
    yield make
    _core.use_torch_bridge(True)


def ours(op):
    return lambda *tensors: getattr(tilegym.ops, op)(*tensors, backend="cutile-rs")


class Seen(TorchDispatchMode):
    """Names of the operators that run."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(str(function))
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("op", SHAPES)
def test_a_dispatch_mode_sees_the_operator(inputs, op):
    tensors = inputs(op)
    expected = ours(op)(*tensors)
    with Seen() as seen:
        out = ours(op)(*tensors)
    assert f"tilegym.{op}.default" in seen.names
    assert torch.equal(out, expected)


@pytest.mark.parametrize("op", SHAPES)
def test_make_fx_records_the_operator(inputs, op):
    tensors = inputs(op)
    graph = make_fx(ours(op))(*tensors)
    others = [torch.randn_like(tensor) for tensor in tensors]
    assert torch.equal(graph(*others), ours(op)(*others))


def test_fake_tensors_give_a_fake_result(inputs):
    inputs("matmul")
    with FakeTensorMode():
        out = ours("matmul")(torch.empty(3, 4), torch.empty(4, 5))
    assert (type(out).__name__, out.shape) == ("FakeTensor", (3, 5))


@pytest.mark.parametrize("op", SHAPES)
def test_a_tangent_is_not_lost(inputs, op):
    tensors = inputs(op)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(tensor, torch.ones_like(tensor)) for tensor in tensors]
        with pytest.raises(RuntimeError, match=rf"{op}: .*tangent.*primal.*backend='pytorch'"):
            ours(op)(*duals)
        ours(op)(*tensors)


@pytest.mark.parametrize("transform", [torch.func.grad, torch.func.jacfwd], ids=["grad", "jacfwd"])
@pytest.mark.parametrize("op", SHAPES)
def test_derivatives_of_torch_func_are_refused(inputs, op, transform):
    tensors = inputs(op)
    with pytest.raises(RuntimeError, match=rf"{op}: .*torch.autograd, or backend='pytorch'"):
        transform(lambda *each: ours(op)(*each).sum())(*tensors)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("op", SHAPES)
def test_vmap_maps(inputs, op):
    batches = [torch.stack(pair) for pair in zip(inputs(op), inputs(op), strict=True)]
    expected = torch.stack([ours(op)(*(batch[i] for batch in batches)) for i in range(2)])
    torch.testing.assert_close(torch.vmap(ours(op))(*batches), expected)


def test_an_op_without_an_operator_refuses_what_it_would_pass_by(inputs):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.randn(3, 4), torch.ones(3, 4))
        with pytest.raises(RuntimeError, match=r"softmax: .*tangent"):
            tilegym.ops.softmax(dual, backend="cutile")
