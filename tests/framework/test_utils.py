"""Descriptors, return codes and small helpers of the cutile-rs backend."""

from __future__ import annotations

import struct

import pytest
import torch

from tilegym.backend.cutile_rs import utils

# The published layout: u64 ptr; i32 ndim; 4 bytes of padding; i64 shape[5]; i64 strides[5]; i32 dtype; padding.
LAYOUT = struct.Struct("<Qi4x5q5qi4x")


def fields(tensor):
    ptr, ndim, *sizes, dtype = LAYOUT.unpack(bytes(utils.make_tensor_desc(tensor)))
    return ptr, ndim, tuple(sizes[:5]), tuple(sizes[5:]), dtype


def test_descriptor_is_104_bytes():
    assert (LAYOUT.size, len(bytes(utils.make_tensor_desc(torch.zeros(1))))) == (104, 104)


def test_descriptor_of_a_strided_view():
    base = torch.zeros(4, 10, dtype=torch.float16)
    view = base[1:, 2:8:2]
    assert fields(view) == (base.data_ptr() + 2 * (10 + 2), 2, (3, 3, 0, 0, 0), (10, 2, 0, 0, 0), 1)


def test_descriptor_of_an_expanded_view():
    assert fields(torch.zeros(1, 3).expand(5, 3))[2:4] == ((5, 3, 0, 0, 0), (0, 1, 0, 0, 0))


@pytest.mark.parametrize("rank", range(6))
def test_descriptor_of_any_rank(rank):
    _, ndim, shape, strides, _ = fields(torch.zeros((2,) * rank))
    assert ndim == rank
    assert shape == (2,) * rank + (0,) * (5 - rank)
    assert strides == tuple(2**power for power in reversed(range(rank))) + (0,) * (5 - rank)


@pytest.mark.parametrize(
    ("dtype", "code"),
    [
        (torch.float32, 0),
        (torch.float16, 1),
        (torch.bfloat16, 2),
        (torch.int32, 3),
        (torch.int64, 4),
        (torch.float8_e5m2, 5),
        (torch.uint8, 6),
        (torch.float8_e4m3fn, 7),
    ],
    ids=str,
)
def test_descriptor_of_every_dtype(dtype, code):
    assert fields(torch.zeros(3, dtype=dtype))[4] == code


def test_descriptor_in_the_older_form_ignores_the_first_argument():
    tensor = torch.zeros(2, 3)
    assert bytes(utils.make_tensor_desc(object(), tensor)) == bytes(utils.make_tensor_desc(tensor))


@pytest.mark.parametrize(
    ("value", "error", "got"),
    [
        (torch.zeros(1, 1, 1, 1, 1, 1), ValueError, "6"),
        (torch.zeros(1, dtype=torch.float64), ValueError, "float64"),
        (torch.empty(1, device="meta"), Exception, "meta"),
        ([1.0], TypeError, "list"),
    ],
    ids=["rank", "dtype", "device", "type"],
)
def test_descriptor_refuses(value, error, got):
    with pytest.raises(error, match=got):
        utils.make_tensor_desc(value)


def test_descriptor_has_readable_fields():
    desc = utils.make_tensor_desc(torch.zeros(2, 3)[:, 1:])
    assert (desc.ndim, desc.shape, desc.strides, desc.dtype) == (2, (2, 2), (3, 1), 0)


def test_return_code_zero_is_success():
    assert utils.check_rc(0, "cutile_softmax") is None


@pytest.mark.parametrize("code", [-2, -3, -4, -5, -6, -8, -99])
def test_other_return_codes_are_errors(code):
    with pytest.raises(RuntimeError, match=rf"cutile_softmax: .+ \(return code {code}\)"):
        utils.check_rc(code, "cutile_softmax")


def test_cancelled_is_an_interrupt():
    with pytest.raises(KeyboardInterrupt, match="cutile_softmax"):
        utils.check_rc(-7, "cutile_softmax")


@pytest.mark.parametrize(("n", "expected"), [(0, 1), (1, 1), (2, 2), (3, 4), (4, 4), (1000, 1024), (1025, 2048)])
def test_next_power_of_2(n, expected):
    assert utils.next_power_of_2(n) == expected


def test_bind_finds_the_function_of_an_op(recording_kernels):
    utils.bind_kernel_function("softmax")(torch.empty(1, 2), torch.zeros(1, 2), block_size=2)
    assert recording_kernels.launches[0][0] == "softmax"


def test_bind_under_the_older_name_ignores_the_declaration(recording_kernels):
    assert utils.bind_kernel_function_cffi("softmax", "int32_t cutile_softmax();") == recording_kernels.softmax


@pytest.mark.usefixtures("recording_kernels")
def test_bind_an_unknown_op():
    with pytest.raises(AttributeError, match="nonsense"):
        utils.bind_kernel_function("nonsense")


def test_multiprocessors_of_another_device():
    with pytest.raises(ValueError, match="wanted a CPU or CUDA device, got meta"):
        utils.get_num_sm("meta")
