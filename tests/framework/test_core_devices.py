"""Devices and streams, shown with a tensor type of our own that lies about its device: no GPU is needed."""

import ctypes
import struct

import pytest
import torch

from tilegym_rs import KernelError
from tilegym_rs import _core as core

CPU, CUDA, METAL = 1, 2, 8
SIDE_STREAM = 0x5EED


class DlTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


# With PYFUNCTYPE the callbacks run under the lock that their callers hold, as the protocol says.
Describe = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DlTensor))
CurrentStream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class ExchangeApi(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("unused", ctypes.c_void_p * 3),
        ("describe", Describe),
        ("current_stream", CurrentStream),
    )


@Describe
def describe(tensor, out):
    out[0] = tensor.dl_tensor
    return 0


@CurrentStream
def current_stream(_type, device, out):
    out[0] = SIDE_STREAM + device
    return 0


def capsule(api):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.addressof(api), b"dlpack_exchange_api", None)


API = ExchangeApi(1, 3, None, (None, None, None), describe, current_stream)
NEWER_API = ExchangeApi(2, 0, ctypes.addressof(API), (None, None, None), describe, current_stream)
NEWER_API_ALONE = ExchangeApi(2, 0, None, (None, None, None), describe, current_stream)


class FarTensor:
    """Memory of a torch tensor under the name of another device."""

    __dlpack_c_exchange_api__ = capsule(API)

    def __init__(self, tensor, device_id=1, device_type=CUDA, strides=True):
        self.tensor = tensor
        dimensions = ctypes.c_int64 * tensor.dim()
        code, bits = {torch.float32: (2, 32), torch.int64: (0, 64)}[tensor.dtype]
        self.dl_tensor = DlTensor(
            tensor.data_ptr(),
            device_type,
            device_id,
            tensor.dim(),
            code,
            bits,
            1,
            dimensions(*tensor.shape),
            dimensions(*tensor.stride()) if strides else None,
            0,
        )


@pytest.fixture(scope="session")
def cuda_library(compile_fake, fake_driver):
    """The fake kernel library in a variant that accepts a CUDA driver."""
    return core.KernelLibrary(compile_fake("fake_kernels.cc", "-DFAKE_CUDA"), fake_driver)


def echoed_device_and_stream(library, device_id):
    out = torch.zeros(16, dtype=torch.int64)
    library.echo(FarTensor(out, device_id), FarTensor(torch.zeros(2), device_id))
    return out[14:].tolist()


@pytest.mark.parametrize("device_id", [0, 3])
def test_a_call_goes_to_the_tensors_device_on_its_current_stream(cuda_library, device_id):
    assert echoed_device_and_stream(cuda_library, device_id) == [device_id, SIDE_STREAM + device_id]


def test_cpu_and_cuda_calls_take_turns(cuda_library):
    out = torch.zeros(16, dtype=torch.int64)
    assert echoed_device_and_stream(cuda_library, 0) == [0, SIDE_STREAM]
    cuda_library.echo(out, torch.zeros(2))
    assert out[14:].tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("out", "x", "text"),
    [
        (
            torch.zeros(2, 2),
            FarTensor(torch.zeros(2, 2)),
            "'x': wanted a tensor on cpu, where argument 'out' is, got one on cuda:1",
        ),
        (
            FarTensor(torch.zeros(2, 2), 0),
            FarTensor(torch.zeros(2, 2), 1),
            "wanted a tensor on cuda:0, .* got one on cuda:1",
        ),
        (
            torch.zeros(2, 2),
            FarTensor(torch.zeros(2, 2), 0, METAL),
            "'x': wanted a tensor on a CUDA device or on the CPU",
        ),
    ],
    ids=["cpu_and_cuda", "two_gpus", "another_kind"],
)
def test_devices_that_do_not_go_together_are_refused(cuda_library, out, x, text):
    with pytest.raises(ValueError, match=rf"noop\(\): argument {text}" if text.startswith("'") else text):
        cuda_library.noop(out, x, 8)


def test_without_a_gpu_driver_a_cuda_call_says_so(fake_library):
    with pytest.raises(KernelError, match=r"cannot use the driver 'libcuda\.so\.1': no CUDA driver") as caught:
        fake_library.noop(FarTensor(torch.zeros(2, 2)), FarTensor(torch.zeros(2, 2)), 8)
    assert (caught.value.op, caught.value.code) == ("noop", -4)


def test_missing_strides_mean_packed_rows():
    assert core.make_tensor_desc(FarTensor(torch.zeros(2, 3, 4), strides=False)).strides == (12, 4, 1)


def test_the_byte_offset_is_added():
    tensor = FarTensor(torch.zeros(4))
    tensor.dl_tensor.byte_offset = 8
    assert core.make_tensor_desc(tensor).ptr == tensor.tensor.data_ptr() + 8


def test_a_newer_api_is_left_for_an_older_one_in_its_chain():
    newer = type("Newer", (FarTensor,), {"__dlpack_c_exchange_api__": capsule(NEWER_API)})
    assert core.make_tensor_desc(newer(torch.zeros(2))).shape == (2,)


@pytest.mark.parametrize("value", [capsule(NEWER_API_ALONE), 3, None], ids=["too_new", "integer", "none"])
def test_a_type_whose_api_cannot_be_used_is_no_tensor(value):
    odd = type("Odd", (FarTensor,), {"__dlpack_c_exchange_api__": value})
    with pytest.raises(TypeError, match=r"wanted a tensor, got .*Odd"):
        core.make_tensor_desc(odd(torch.zeros(2)))


def test_a_comparison_wants_cpu_tensors():
    with pytest.raises(
        ValueError, match=r"compare\(\): argument 'expected': wanted a tensor on the CPU, got one on cuda:1"
    ):
        core.compare(torch.zeros(2), FarTensor(torch.zeros(2)), rtol=0, atol=0)


def test_the_descriptor_of_a_far_tensor_has_its_address():
    tensor = FarTensor(torch.zeros(2))
    assert struct.unpack_from("=Q", bytes(core.make_tensor_desc(tensor)))[0] == tensor.tensor.data_ptr()
