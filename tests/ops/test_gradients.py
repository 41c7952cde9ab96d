"""Gradients of the ops against those of their float64 oracles, and the ops as torch operators."""

from __future__ import annotations

import pytest
import torch

import tilegym
from tilegym.ops.cutile_rs.autograd import attention_sink
from tilegym.ops.reference import ORACLES

pytestmark = pytest.mark.usefixtures("seeded")

# op -> (shapes of its tensors, other arguments)
CALLS = {
    "softmax": ([(5, 40)], {}),
    "silu_and_mul": ([(5, 40)], {}),
    "swiglu": ([(5, 40), (5, 40)], {}),
    "matmul": ([(20, 30), (30, 10)], {}),
    "matmul-trans_a": ([(30, 20), (30, 10)], {"trans_a": True}),
    "matmul-trans_b": ([(20, 30), (10, 30)], {"trans_b": True}),
    "matmul-trans_ab": ([(30, 20), (10, 30)], {"trans_a": True, "trans_b": True, "static_persistent": False}),
    "bmm": ([(2, 20, 30), (2, 30, 10)], {}),
    "bmm-transpose_a": ([(2, 30, 20), (2, 30, 10)], {"transpose_a": True}),
    "bmm-transpose_b": ([(2, 20, 30), (2, 10, 30)], {"transpose_b": True}),
    "attention_sink": ([(2, 6, 2, 3, 16), (2, 9, 2, 16), (2, 9, 2, 16), (6,)], {"sm_scale": 0.25, "start_q": 3}),
    "attention_sink-window": ([(1, 6, 1, 1, 8), (1, 9, 1, 8), (1, 9, 1, 8), (1,)], {"sliding_window": 3, "start_q": 2}),
}


def inputs(name, device, dtype=torch.float32):
    return [torch.randn(shape, device=device).to(dtype).requires_grad_() for shape in CALLS[name][0]]


def gradients(function, tensors, options, seed):
    out = function(*tensors, **options)
    weight = torch.randn(out.shape, generator=torch.Generator().manual_seed(seed)).to(out)
    return torch.autograd.grad(out, tensors, weight)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.bfloat16, 6e-2)], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_the_oracles(device, name, dtype, tolerance):
    op, options = name.split("-")[0], CALLS[name][1]
    tensors = inputs(name, device, dtype)
    got = gradients(lambda *t, **o: getattr(tilegym.ops, op)(*t, backend="cutile-rs", **o), tensors, options, 1)
    exact = [tensor.detach().double().requires_grad_() for tensor in tensors]
    for mine, theirs, tensor in zip(got, gradients(ORACLES[op], exact, options, 1), tensors, strict=True):
        assert mine.dtype == tensor.dtype
        torch.testing.assert_close(mine.double(), theirs, atol=tolerance, rtol=tolerance)


def test_only_the_wanted_gradients_are_computed(device):
    a, b = torch.randn(4, 5, device=device, requires_grad=True), torch.randn(5, 6, device=device)
    tilegym.ops.matmul(a, b, backend="cutile-rs").sum().backward()
    assert a.grad is not None
    assert b.grad is None


def test_no_graph_is_kept_without_gradients(device):
    x = torch.randn(4, 5, device=device, requires_grad=True)
    with torch.no_grad():
        assert not tilegym.ops.softmax(x, backend="cutile-rs").requires_grad


def test_out_with_a_gradient_names_two_ways_out(device):
    x = torch.randn(4, 6, device=device, requires_grad=True)
    with pytest.raises(ValueError, match=r"silu_and_mul: out: .*requires_grad.*without out.*no_grad"):
        tilegym.ops.silu_and_mul(x, out=torch.empty(4, 3, device=device), backend="cutile-rs")


# torch's check reads .grad of tensors that are no leaves.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")
@pytest.mark.parametrize("name", [name for name in CALLS if "-" not in name])
def test_operators_pass_torchs_own_check(device, name):
    operands = {
        "softmax": (False, ""),
        "silu_and_mul": ("",),
        "swiglu": ("",),
        "matmul": (False, False, True, False, ""),
        "bmm": (False, False, True, False, ""),
        "attention_sink": (0.25, 0, 3, None, False, ""),
    }[name]
    operator = getattr(torch.ops.tilegym, name).default
    torch.library.opcheck(operator, (*inputs(name, device), *operands))


@pytest.mark.parametrize("name", CALLS)
def test_compiled_whole_graph(device, name):
    op, options = name.split("-")[0], CALLS[name][1]
    tensors = [tensor.detach() for tensor in inputs(name, device)]

    def model(*arguments):
        return getattr(tilegym.ops, op)(*arguments, backend="cutile-rs", **options) * 2

    torch.compiler.reset()  # one function is compiled at most eight times
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    assert torch.equal(compiled(*tensors), model(*tensors))


def test_exported(device):
    class Model(torch.nn.Module):
        def forward(self, x):
            return tilegym.ops.softmax(x, backend="cutile-rs")

    x = torch.randn(3, 7, device=device)
    program = torch.export.export(Model(), (x,))
    assert "tilegym.softmax" in str(program.graph)
    assert torch.equal(program.module()(x), tilegym.ops.softmax(x, backend="cutile-rs"))


@pytest.mark.parametrize("name", ["matmul", "bmm", "attention_sink"])
def test_autocast_lowers_products(device, name):
    tensors = [tensor.detach() for tensor in inputs(name, device)]
    op = getattr(tilegym.ops, name)
    with torch.autocast(device.type, torch.bfloat16):
        out = op(*tensors, backend="cutile-rs", **CALLS[name][1])
    lowered = op(*(tensor.bfloat16() for tensor in tensors), backend="cutile-rs", **CALLS[name][1])
    assert out.dtype == torch.bfloat16
    assert torch.equal(out, lowered)


def test_autocast_widens_softmax(device):
    x = torch.randn(4, 9, device=device).bfloat16()
    with torch.autocast(device.type, torch.bfloat16):
        out = tilegym.ops.softmax(x, backend="cutile-rs")
    assert torch.equal(out, tilegym.ops.softmax(x.float(), backend="cutile-rs"))


def test_autocast_is_seen_by_a_call_like_one_before(device):
    a, b = torch.randn(4, 5, device=device), torch.randn(5, 6, device=device)
    assert tilegym.ops.matmul(a, b, backend="cutile-rs").dtype == torch.float32
    with torch.autocast(device.type, torch.float16):
        assert tilegym.ops.matmul(a, b, backend="cutile-rs").dtype == torch.float16
    assert tilegym.ops.matmul(a, b, backend="cutile-rs").dtype == torch.float32


@pytest.fixture
def tf32_flag():
    yield torch.backends.cuda.matmul
    torch.backends.cuda.matmul.allow_tf32 = False


def test_torchs_tf32_flag_is_seen_by_a_call_like_one_before(device, tf32_flag):
    a, b = torch.randn(40, 64, device=device), torch.randn(64, 30, device=device)
    full = tilegym.ops.matmul(a, b, backend="cutile-rs")
    tf32_flag.allow_tf32 = True
    rounded = tilegym.ops.matmul(a, b, backend="cutile-rs")
    assert not torch.equal(full, rounded)
    assert torch.equal(rounded, tilegym.ops.matmul(a, b, allow_tf32=True, backend="cutile-rs"))


@pytest.mark.parametrize("window", [None, 5, 40])
@pytest.mark.parametrize("start", [0, 7, -3, torch.tensor([7])], ids=str)
def test_attention_gradients_of_a_few_queries_at_a_time(monkeypatch, device, window, start):
    monkeypatch.setattr("tilegym.ops.cutile_rs.autograd.attention_sink._SCORES", 2 * 2 * 2 * 33 * 4)
    start = start.to(device) if isinstance(start, torch.Tensor) else start
    shapes = [(2, 21, 2, 2, 16), (2, 33, 2, 16), (2, 33, 2, 16), (4,)]
    tensors = [torch.randn(shape, device=device, requires_grad=True) for shape in shapes]
    options = {"sliding_window": window, "start_q": start}
    got = gradients(lambda *t, **o: tilegym.ops.attention_sink(*t, backend="cutile-rs", **o), tensors, options, 1)
    exact = [tensor.detach().double().requires_grad_() for tensor in tensors]
    for mine, theirs in zip(got, gradients(ORACLES["attention_sink"], exact, options, 1), strict=True):
        torch.testing.assert_close(mine.double(), theirs, atol=1e-4, rtol=1e-4)


def test_attention_backward_holds_no_matrix_of_weights(device):
    queries, heads = 3000, 2
    shapes = [(1, queries, heads, 1, 16), (1, queries, heads, 16), (1, queries, heads, 16), (heads,)]
    tensors = [torch.randn(shape, device=device, requires_grad=True) for shape in shapes]
    largest = 0

    class Sizes(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            nonlocal largest
            out = function(*args, **(kwargs or {}))
            largest = max([largest, *(t.numel() for t in torch.utils._pytree.tree_leaves(out) if hasattr(t, "numel"))])
            return out

    out = tilegym.ops.attention_sink(*tensors, backend="cutile-rs")
    operands = (*tensors, out)
    detached = [tensor.detach() for tensor in operands]
    with Sizes():
        attention_sink._gradients(torch.ones_like(out).detach(), *detached, 0.125, 0, 0, None)
    assert largest <= attention_sink._SCORES < queries * queries * heads


def test_a_second_derivative_of_attention_names_two_ways_out(device):
    tensors = inputs("attention_sink", device)
    out = tilegym.ops.attention_sink(*tensors, backend="cutile-rs")
    (first,) = torch.autograd.grad(out.sum(), tensors[:1], create_graph=True)
    with pytest.raises(NotImplementedError, match=r"attention_sink: backward: .*backend='pytorch'.*create_graph"):
        first.sum().backward()
