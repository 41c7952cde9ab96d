"""What the cutile-rs wrappers refuse: each error names op, argument, wanted and got, and nothing is launched."""

from __future__ import annotations

import re

import pytest
import torch

from tilegym import ops


@pytest.fixture(autouse=True)
def nothing_is_launched(recording_kernels):
    yield
    assert recording_kernels.launches == []


def f32(*shape):
    return torch.ones(shape)


def refuse(error, *words):
    """Expects `error` with all words in this order."""
    return pytest.raises(error, match=".*".join(re.escape(word) for word in words))


UNARY = [("softmax", "x"), ("silu_and_mul", "input")]


def call(op, *args, **kwargs):
    return getattr(ops, op)(*args, backend="cutile-rs", **kwargs)


@pytest.mark.parametrize(("op", "name"), UNARY)
@pytest.mark.parametrize("value", [None, 3.0, [[1.0, 2.0]]], ids=["none", "number", "list"])
def test_not_a_tensor(op, name, value):
    with refuse(TypeError, op, name, "torch.Tensor", type(value).__name__):
        call(op, value)


@pytest.mark.parametrize(("op", "name"), UNARY)
@pytest.mark.parametrize("dtype", [torch.float64, torch.int32, torch.bool, torch.complex64, torch.float8_e5m2], ids=str)
def test_wrong_dtype(op, name, dtype):
    with refuse(NotImplementedError, op, name, "float32, float16 or bfloat16", str(dtype)):
        call(op, torch.zeros(2, 4, dtype=dtype))


@pytest.mark.parametrize(("op", "name"), UNARY)
def test_wrong_device(op, name):
    with refuse(ValueError, op, name, "CPU or CUDA", "meta"):
        call(op, torch.empty(2, 4, device="meta"))


@pytest.mark.parametrize(("op", "name"), UNARY)
def test_no_dimension(op, name):
    with refuse(ValueError, op, name, "at least one dimension", "()"):
        call(op, torch.tensor(1.0))


@pytest.mark.parametrize(("op", "name"), UNARY)
def test_sparse_layout(op, name):
    with refuse(ValueError, op, name, "strided", "sparse_coo"):
        call(op, f32(2, 4).to_sparse())


def test_unknown_keyword():
    with refuse(TypeError, "use_tmaa"):
        call("softmax", f32(2, 4), use_tmaa=True)


@pytest.mark.parametrize(
    ("configs", "words"),
    [({"blocksize": 8}, ["block_size", "blocksize"]), ({"block_size": 100}, ["power of two", "100"])],
)
def test_wrong_configuration(configs, words):
    with refuse(ValueError, "softmax", "kernel_configs", *words):
        call("softmax", f32(2, 4), kernel_configs=configs)


def test_odd_last_dimension():
    with refuse(ValueError, "silu_and_mul", "input", "even", "(2, 5)"):
        call("silu_and_mul", f32(2, 5))


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (f32(2, 4), ValueError, ["shape (2, 2)", "(2, 4)"]),
        (f32(2), ValueError, ["shape (2, 2)", "(2,)"]),
        (f32(2, 2).half(), NotImplementedError, ["float32", "float16"]),
        (torch.empty(2, 2, device="meta"), ValueError, ["CPU or CUDA", "meta"]),
        (f32(1, 2).expand(2, 2), ValueError, ["one element per index", "(0, 1)"]),
        (f32(2, 2).requires_grad_(), ValueError, ["requires_grad", "no_grad"]),
        ([1.0], TypeError, ["torch.Tensor", "list"]),
    ],
    ids=["shape", "rank", "dtype", "device", "expanded", "gradient", "type"],
)
def test_wrong_out(out, error, words):
    with refuse(error, "silu_and_mul", "out", *words):
        call("silu_and_mul", f32(2, 4), out=out)


@pytest.mark.parametrize("begin", [1, 2, 3, 5])
def test_out_that_overlaps_the_input(begin):
    buffer = f32(3, 10)
    with refuse(ValueError, "silu_and_mul", "out", "overlap"):
        call("silu_and_mul", buffer[:, 2:6], out=buffer[:, begin : begin + 2])


def test_out_that_overlaps_a_strided_input():
    buffer = f32(4, 4)
    with refuse(ValueError, "silu_and_mul", "out", "overlap"):
        call("silu_and_mul", buffer.t(), out=buffer[:, :2])


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("wrong", [f32(2), f32(2, 2, 2), torch.tensor(1.0)], ids=["vector", "cube", "scalar"])
def test_matmul_wants_matrices(position, wrong):
    operands = [f32(2, 2), f32(2, 2)]
    operands[position] = wrong
    with refuse(ValueError, "matmul", "ab"[position], "rank 2", str(tuple(wrong.shape))):
        call("matmul", *operands)


@pytest.mark.parametrize(
    ("flags", "b"), [({}, f32(2, 5)), ({"trans_a": True}, f32(3, 5)), ({"trans_b": True}, f32(5, 2))], ids=str
)
def test_matmul_inner_sizes(flags, b):
    with refuse(ValueError, "matmul", "b", "rows", "after trans_a and trans_b"):
        call("matmul", f32(2, 3), b, **flags)


def test_matmul_mixed_dtypes():
    with refuse(NotImplementedError, "matmul", "b", "float32", "bfloat16"):
        call("matmul", f32(2, 2), f32(2, 2).bfloat16())


@pytest.mark.parametrize("position", [0, 1])
def test_matmul_wrong_device(position):
    operands = [f32(2, 2), f32(2, 2)]
    operands[position] = torch.empty(2, 2, device="meta")
    with refuse(ValueError, "matmul", "ab"[position], "meta"):
        call("matmul", *operands)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_matmul_mixed_devices():
    with refuse(ValueError, "matmul", "b", "cpu", "cuda:0"):
        call("matmul", f32(2, 2), f32(2, 2).cuda())


@pytest.mark.parametrize("shapes", [((0, 4), (4, 4)), ((4, 4), (4, 0)), ((4, 0), (0, 4))], ids=str)
def test_matmul_without_elements_launches_nothing(shapes):
    a, b = (torch.ones(shape) for shape in shapes)
    assert torch.equal(call("matmul", a, b), torch.zeros(a.shape[0], b.shape[1]))


@pytest.mark.parametrize(("op", "_name"), UNARY)
@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (2, 0, 4)], ids=str)
def test_rows_without_elements_launch_nothing(op, _name, shape):
    assert call(op, torch.ones(shape)).numel() == 0
