"""Ops called again with tensors that look alike: launched without Python, as right as the first time."""

from __future__ import annotations

import functools

import pytest
import torch

from tilegym import ops
from tilegym.backend import registry
from tilegym.ops import cutile_rs
from tilegym_rs.validation import case_set

pytestmark = pytest.mark.usefixtures("seeded", "no_plans")

OPS = cutile_rs.__all__


@pytest.fixture
def no_plans():
    """Plans of other tests are gone."""
    from tilegym.backend.cutile_rs import utils

    utils.forget_plans()


def inputs(op):
    """Tensors of the op's first case."""
    case = next(case for case in case_set.case_set(op).cases if case.kind == "values")
    return case_set.arguments(case, torch.device("cpu"))[0]


def ours(op, *args, **kwargs):
    return getattr(ops, op)(*args, backend="cutile-rs", **kwargs)


def native(op):
    return registry.find(op, "cutile-rs").native()


def check(op, args, **kwargs):
    expected = getattr(ops, op)(*args, backend="pytorch", **kwargs)
    torch.testing.assert_close(ours(op, *args, **kwargs), expected, atol=2e-2, rtol=2e-2)


@pytest.mark.parametrize("op", OPS)
def test_a_second_call_takes_the_plan(op):
    before = native(op).replays
    for replays in range(3):
        check(op, inputs(op))
        assert native(op).replays == before + replays


@pytest.mark.parametrize("op", OPS)
def test_tensors_of_one_buffer_are_told_apart(op):
    tensors = inputs(op)
    buffer = torch.randn(sum(tensor.numel() for tensor in tensors) + 8)
    for offset in (0, 4, 8):
        args, begin = [], offset
        for tensor in tensors:
            piece = buffer[begin : begin + tensor.numel()].view(tensor.shape).copy_(tensor)
            args.append(piece if tensor.is_floating_point() else tensor)
            begin += tensor.numel()
        check(op, args)


@pytest.mark.parametrize("op", OPS)
def test_a_gradient_is_not_lost_after_a_plan(op):
    args = inputs(op)
    ours(op, *args)
    args[0].requires_grad_()
    try:
        out = ours(op, *args)
    except RuntimeError as error:
        assert "requires_grad" in str(error)  # noqa: PT017
    else:
        assert out.requires_grad
    with torch.no_grad():
        assert not ours(op, *args).requires_grad


def test_a_negated_view_is_carried_out_after_a_plan():
    check("softmax", [torch.randn(3, 4)])
    check("softmax", [torch.view_as_complex(torch.randn(3, 4, 2)).conj().imag])


def test_one_tensor_twice_and_two_tensors_are_different_calls():
    a, b = torch.randn(8, 8), torch.randn(8, 8)
    for pair in ((a, a), (a, b), (b, a), (b, b), (a, a.t()), (a, b.t())):
        check("matmul", pair)


def test_out_is_checked_for_overlap_after_a_plan():
    buffer = torch.randn(3, 12)
    ours("silu_and_mul", buffer[:, :6], out=torch.empty(3, 12)[:, :3])
    ours("silu_and_mul", buffer[:, :6], out=buffer[:, 8:11])
    with pytest.raises(ValueError, match="overlap"):
        ours("silu_and_mul", buffer[:, :6], out=buffer[:, 2:5])


@pytest.fixture
def tf32_choice():
    """Sets torch's flag; it is restored."""
    flags = torch.backends.cuda.matmul
    before = flags.allow_tf32
    yield functools.partial(setattr, flags, "allow_tf32")
    flags.allow_tf32 = before


def test_torchs_choice_of_tf32_is_read_at_each_call(tf32_choice):
    # 1 + 2^-12 is 1 in TF32, which has ten bits of fraction.
    a, b = torch.full((16, 16), 1 + 2**-12), torch.eye(16)
    seen = []
    for choice in (True, False, True):
        tf32_choice(choice)
        seen.append(ours("matmul", a, b)[0, 0].item())
    assert seen == [1.0, 1 + 2**-12, 1.0]


@pytest.mark.parametrize(
    ("op", "args", "text"),
    [
        ("softmax", [(2**31, 4)], r"softmax\(\): argument 'x': wanted extents of at most 2147483647, got 2147483648"),
        ("silu_and_mul", [(2**31, 4)], "wanted extents of at most 2147483647, got 2147483648 in dimension 0"),
        ("matmul", [(2**31, 2), (2, 2)], r"matmul\(\): argument 'a': wanted extents of at most"),
        ("bmm", [(2, 2, 2**31), (2, 2**31, 2)], r"bmm\(\): argument 'a': wanted extents of at most"),
    ],
    ids=["softmax", "silu_and_mul", "matmul", "bmm"],
)
def test_extents_beyond_32_bits_are_refused_before_memory_is_taken(op, args, text):
    with pytest.raises(ValueError, match=text):
        ours(op, *(torch.ones(()).expand(shape) for shape in args))
