"""Calls of ops: what arrives in the library, and what is refused before."""

import ctypes
import gc
import inspect
import struct
import threading
import weakref

import pytest
import torch

from tilegym_rs import KernelError
from tilegym_rs import _core as core


@pytest.fixture
def pair():
    return torch.zeros(2, 3), torch.ones(2, 3)


def echoed(library, x, **scalars):
    """ptr, ndim, shape (5), strides (5), dtype; then count, device and stream as `echo` got them."""
    out = torch.zeros(16, dtype=torch.int64)
    library.echo(out, x, **scalars)
    raw = out.numpy().tobytes()
    return struct.unpack("=Qi4x5q5qi4x", raw[:104]), tuple(out[13:].tolist())


def test_the_tensor_arrives_as_it_is(fake_library):
    x = torch.zeros(4, 8, dtype=torch.float16)[1:, 2:6]
    desc, _ = echoed(fake_library, x)
    assert desc == (x.data_ptr(), 2, 3, 4, 0, 0, 0, 8, 1, 0, 0, 0, 1)


def test_a_cpu_call_gets_device_minus_one_and_stream_zero(fake_library):
    _, (_, device, stream) = echoed(fake_library, torch.zeros(1))
    assert (device, stream) == (-1, 0)


def test_integers_arrive_whole(fake_library):
    _, (count, *_) = echoed(fake_library, torch.zeros(1), count=-(2**62))
    assert count == -(2**62)


def test_defaults_come_from_the_manifest(fake_library):
    _, (count, *_) = echoed(fake_library, torch.zeros(1))
    assert count == 7


def test_the_op_writes_into_the_output(fake_library):
    x, out = torch.arange(5.0), torch.zeros(10)[::2]
    assert fake_library.scale(out, x, factor=0.5) is None
    assert out.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]


def test_an_integer_will_do_for_a_float(fake_library):
    out = torch.zeros(2)
    fake_library.scale(out, torch.ones(2), 3)
    assert out.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("value", [True, pytest.param(None, id="index")])
def test_what_python_takes_for_an_integer_is_one(fake_library, pair, value):
    class Index:
        def __index__(self):
            return 4

    fake_library.noop(*pair, Index() if value is None else value)


def test_a_call_by_name_in_any_order(fake_library, pair):
    fake_library.noop(occupancy=1, x=pair[1], block_size=8, out=pair[0])


def test_a_name_that_is_not_interned_is_found(fake_library, pair):
    fake_library.noop(*pair, **{"".join(["block", "_size"]): 8})


def test_launches_are_counted(fake_library, pair):
    before = fake_library.counters().launches
    fake_library.noop(*pair, 8)
    assert fake_library.counters().launches == before + 1


def test_no_tensor_is_kept(fake_library):
    out, x = torch.zeros(2, 3), torch.ones(2, 3)
    fake_library.noop(out, x, 8)
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("arguments", "names", "text"),
    [
        (
            "ox",
            {},
            r"argument 'block_size': wanted a value, got none; call noop\(out, x, block_size, num_cta_in_cga=-1",
        ),
        ("ox8", {"tile": 1}, r"noop\(\): there is no argument 'tile'; call noop"),
        ("ox8", {"x": 1}, r"noop\(\): got argument 'x' twice"),
        ("ox888888", {}, r"noop\(\): wanted at most 5 arguments, got 8"),
        ("ox8", {"device_id": 0}, r"there is no argument 'device_id'"),
        ("oxf", {}, r"noop\(\): argument 'block_size': wanted an integer, got float"),
        ("oxx", {}, r"argument 'block_size': wanted an integer, got torch.Tensor"),
        ("8x8", {}, r"noop\(\): argument 'out': wanted a tensor, got int"),
        ("oxn", {}, r"argument 'block_size': wanted an integer, got NoneType"),
    ],
)
def test_a_wrong_call_is_a_type_error_that_says_what_is_wrong(fake_library, pair, arguments, names, text):
    values = {"o": pair[0], "x": pair[1], "8": 8, "f": 8.0, "n": None}
    with pytest.raises(TypeError, match=text):
        fake_library.noop(*(values[letter] for letter in arguments), **names)


def test_a_text_is_no_number(fake_library):
    with pytest.raises(TypeError, match="argument 'factor': wanted a number, got str"):
        fake_library.scale(torch.zeros(2), torch.zeros(2), "2")


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (torch.zeros(2), r"noop\(\): argument 'x': wanted 2 dimensions, got 1 \(shape \[2\]\)"),
        (torch.zeros(2, 3, dtype=torch.float64), "wanted dtype float32, float16 or bfloat16, got float64"),
        (torch.zeros(2, 3, dtype=torch.uint8), "got uint8"),
        (torch.zeros(2, 3, device="meta"), r"noop\(\): argument 'x': wanted a tensor with .*memory"),
    ],
    ids=["rank", "dtype", "packed_pairs", "meta"],
)
def test_a_wrong_tensor_is_a_value_error_that_names_it(fake_library, x, text):
    with pytest.raises(ValueError, match=text):
        fake_library.noop(torch.zeros(2, 3), x, 8)


def test_an_expanded_output_is_refused(fake_library, pair):
    with pytest.raises(ValueError, match=r"argument 'out': .*stride 0 over extent 2"):
        fake_library.noop(torch.zeros(1, 3).expand(2, 3), pair[1], 8)


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**64], ids=["above", "below", "huge"])
def test_an_integer_that_does_not_fit_is_refused(fake_library, pair, value):
    with pytest.raises(ValueError, match=r"argument 'block_size': wanted a (32|64)-bit integer"):
        fake_library.noop(*pair, value)


@pytest.mark.parametrize("code", [-2, -5, -6])
def test_a_code_for_bad_arguments_is_a_value_error(fake_library, code):
    with pytest.raises(ValueError, match=rf"fail\(\): .*\(code {code}\): the library's own words"):
        fake_library.fail(code)


@pytest.mark.parametrize("code", [-3, -4, -8, -99, 5])
def test_any_other_code_is_a_kernel_error(fake_library, code):
    with pytest.raises(KernelError, match=rf"fail\(\): .*\(code {code}\): the library's own words") as caught:
        fake_library.fail(code)
    assert (caught.value.op, caught.value.code) == ("fail", code)


def test_a_cancelled_call_is_a_keyboard_interrupt(fake_library):
    with pytest.raises(KeyboardInterrupt, match="cancelled, outputs are incomplete"):
        fake_library.fail(-7)


def test_an_op_is_found_once_and_then_an_attribute(fake_library):
    assert fake_library.noop is fake_library.noop
    assert "noop" in vars(fake_library)


def test_an_unknown_op_error_lists_the_ops(fake_library):
    with pytest.raises(AttributeError, match="wanted the op 'conv', it has: noop, scale"):
        fake_library.conv  # noqa: B018


def test_an_op_has_a_signature_and_a_doc(fake_library):
    op = fake_library.op("noop")
    assert str(inspect.signature(op)) == "(out, x, block_size, num_cta_in_cga=-1, occupancy=-1)"
    assert (op.__name__, op.__doc__) == ("noop", "Does nothing.")
    assert repr(op) == "<op noop(out, x, block_size, num_cta_in_cga=-1, occupancy=-1)>"


def test_a_value_wanted_after_a_default_is_shown_as_a_keyword_and_taken_either_way(fake_library):
    assert str(inspect.signature(fake_library.late)) == "(first=1, *, second)"
    fake_library.late(2, 3)
    fake_library.late(second=3)
    with pytest.raises(TypeError, match="argument 'second': wanted a value, got none"):
        fake_library.late(2)


def test_describe_lists_the_manifest(fake_library):
    row = fake_library.describe("noop")
    assert row["entries"] == ["noop_entry"]
    assert [param["name"] for param in row["params"]][:3] == ["out", "x", "block_size"]
    assert row["params"][1] == {
        "name": "x",
        "kind": "tensor",
        "doc": "a tensor",
        "default": None,
        "direction": "in",
        "rank": 2,
        "dtypes": ["float32", "float16", "bfloat16"],
    }
    assert row["params"][3]["default"] == -1


def test_an_op_outlives_the_name_of_its_library(fake_kernels, fake_driver):
    op = core.KernelLibrary(fake_kernels, fake_driver).noop
    gc.collect()
    op(torch.zeros(2, 3), torch.zeros(2, 3), 8)


def test_other_threads_run_while_an_op_does(fake_library, fake_driver):
    cancelled = ctypes.c_int.in_dll(ctypes.CDLL(str(fake_driver)), "fake_cancelled")
    outcome = []

    def run():
        try:
            fake_library.wait()
        except KeyboardInterrupt:
            outcome.append("cancelled")

    worker = threading.Thread(target=run)
    worker.start()
    # `wait` polls the flag for ten seconds; had it kept the lock, it would have returned before this line was reached.
    cancelled.value = 1
    worker.join()
    cancelled.value = 0
    assert outcome == ["cancelled"]
