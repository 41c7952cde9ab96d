"""Tensor descriptors against what torch says about the tensor."""

import struct

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from tilegym_rs import _core as core

CODES = {
    torch.float32: 0,
    torch.float16: 1,
    torch.bfloat16: 2,
    torch.int32: 3,
    torch.int64: 4,
    torch.float8_e5m2: 5,
    torch.uint8: 6,
    torch.float8_e4m3fn: 7,
}


def assert_describes(desc, tensor):
    assert desc.ptr == tensor.data_ptr()
    assert desc.ndim == tensor.dim()
    assert desc.shape == tuple(tensor.shape)
    assert desc.strides == tensor.stride()
    assert desc.dtype == CODES[tensor.dtype]


LAYOUTS = {
    "packed": lambda x: x,
    "transposed": lambda x: x.t(),
    "padded_rows": lambda x: x[:, :5],
    "offset": lambda x: x[1:, 3:],
    "every_second_row": lambda x: x[::2],
    "expanded": lambda x: x[:1].expand(4, 8),
    "one_dimension": lambda x: x[2],
    "scalar": lambda x: x[2, 3],
    "five_dimensions": lambda x: x.view(1, 2, 3, 2, 4),
    "no_rows": lambda x: x[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_described(layout):
    tensor = LAYOUTS[layout](torch.zeros(6, 8))
    assert_describes(core.make_tensor_desc(tensor), tensor)


@pytest.mark.parametrize("dtype", CODES, ids=str)
def test_every_dtype_has_its_code(dtype):
    tensor = torch.zeros(3, 2).to(dtype)
    assert_describes(core.make_tensor_desc(tensor), tensor)


def test_packed_float4_pairs_have_the_code_of_pairs():
    tensor = torch.zeros(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    assert core.make_tensor_desc(tensor).dtype == 6


def test_bytes_are_the_c_struct():
    tensor = torch.zeros(6, 8)[:, :5]
    fields = struct.unpack("=Qi4x5q5qi4x", bytes(core.make_tensor_desc(tensor)))
    assert fields == (tensor.data_ptr(), 2, 6, 5, 0, 0, 0, 8, 1, 0, 0, 0, 0)


class Subclass(torch.Tensor):
    pass


@pytest.mark.parametrize(
    "wrap",
    [torch.nn.Parameter, torch.nn.Buffer, lambda x: x.as_subclass(Subclass)],
    ids=["parameter", "buffer", "subclass"],
)
def test_subclasses_are_tensors(wrap):
    tensor = wrap(torch.zeros(2, 3))
    assert_describes(core.make_tensor_desc(tensor), tensor)


def test_more_types_than_are_remembered_take_turns():
    types = [type(f"Sub{i}", (torch.Tensor,), {}) for i in range(9)]
    for kind in types * 2:
        tensor = torch.zeros(2, 3).as_subclass(kind)
        assert_describes(core.make_tensor_desc(tensor), tensor)


@pytest.mark.parametrize("value", [None, 3, [1.0], "x", object()], ids=lambda value: type(value).__name__)
def test_other_objects_are_no_tensors(value):
    with pytest.raises(TypeError, match=rf"wanted a tensor, got {type(value).__name__}"):
        core.make_tensor_desc(value)


def test_the_type_of_a_tensor_is_no_tensor():
    with pytest.raises(TypeError, match="wanted a tensor, got "):
        core.make_tensor_desc(torch.Tensor)


def test_six_dimensions_are_refused():
    with pytest.raises(ValueError, match="at most 5 dimensions, got 6"):
        core.make_tensor_desc(torch.zeros(1, 1, 1, 1, 1, 1))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bool, torch.complex64, torch.int8], ids=str)
def test_a_dtype_without_a_code_is_named(dtype):
    with pytest.raises(ValueError, match=f"got {str(dtype).removeprefix('torch.')}"):
        core.make_tensor_desc(torch.zeros(2, dtype=dtype))


def test_a_fake_tensor_has_no_memory():
    with FakeTensorMode():
        tensor = torch.empty(2, 3)
    with pytest.raises(ValueError, match=r"argument 'tensor': wanted a tensor with .*memory"):
        core.make_tensor_desc(tensor)


@pytest.mark.parametrize(
    "make", [lambda: torch.empty(2, device="meta"), lambda: torch.eye(2).to_sparse()], ids=["meta", "sparse"]
)
def test_tensors_that_are_not_strided_memory_are_refused_with_the_cause(make):
    with pytest.raises(ValueError, match=r"argument 'tensor': wanted a tensor with .*memory") as caught:
        core.make_tensor_desc(make())
    assert caught.value.__cause__ is not None


def test_fields_cannot_be_written():
    desc = core.make_tensor_desc(torch.zeros(2))
    with pytest.raises(AttributeError):
        desc.ptr = 0
