"""tilegym_rs.cpu: modules of two producers on the CPU device, judged by numpy and PyTorch."""

import array
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tilegym_rs import KernelError, cpu

GOLDENS = Path(__file__).resolve().parents[1] / "goldens" / "tile_ir"
SOFTMAX = GOLDENS / "cutile_python_row_softmax_13_3.tileirbc"
SILU = GOLDENS / "cutile_silu_and_mul_f16.tileirbc"
LOOPS = GOLDENS / "cutile_python_loops_and_branches_13_3.tileirbc"


def matrix(array):
    """A two-dimensional array as cuTile Python passes it: pointer, extents, strides in elements."""
    strides = array.stride() if isinstance(array, torch.Tensor) else [s // array.itemsize for s in array.strides]
    return [array, *array.shape, *strides]


def softmax(x, y, rows=None, **options):
    cpu.load(SOFTMAX).launch("row_softmax", len(x) if rows is None else rows, [*matrix(x), *matrix(y)], **options)
    return y


def softmax_of(x):
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((6, 200), dtype=np.float32)


def loops(x, count, **options):
    y = np.zeros_like(x)
    args = [x, len(x), 1, y, len(y), 1, count]
    cpu.load(LOOPS).launch("loops_and_branches", 5, args, **options)
    return y


def test_package_has_it_without_loading_the_extension():
    program = "import sys, tilegym_rs; tilegym_rs.cpu.load; print('tilegym_rs._core' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_entries_have_names_and_parameter_types():
    (entry,) = cpu.load(SOFTMAX).entries
    assert entry == cpu.Entry("row_softmax", ("ptr<f32>", *["i32"] * 4) * 2)


def test_module_tells_version_and_entries():
    module = cpu.load(SOFTMAX)
    assert module.version == "13.3"
    assert repr(module) == "<Tile IR 13.3 module: row_softmax>"


@pytest.mark.parametrize("version", ["13_1", "13_2", "13_3"])
def test_every_bytecode_version_gives_the_values(x, version):
    y = np.zeros_like(x)
    module = cpu.load(GOLDENS / f"cutile_python_row_softmax_{version}.tileirbc")
    module.launch("row_softmax", 6, [*matrix(x), *matrix(y)])
    np.testing.assert_allclose(y, softmax_of(x), rtol=1e-6, atol=1e-7)


def wrapped(bytecode):
    return b"TILEGYMI" + struct.pack("<IIQ", 1, 0, len(bytecode)) + bytecode


@pytest.mark.parametrize(
    "form",
    [Path, str, lambda p: p.read_bytes(), lambda p: memoryview(p.read_bytes()), lambda p: wrapped(p.read_bytes())],
    ids=["path", "text", "bytes", "view", "image"],
)
def test_bytecode_comes_as_bytes_path_or_image(form):
    assert cpu.load(form(SOFTMAX)).entries[0].name == "row_softmax"


def test_tensors_of_the_rust_producer():
    x = torch.randn(4, 512).half()
    out = torch.empty(4, 256, dtype=torch.float16)
    module = cpu.load(SILU)
    (entry,) = module.entries
    module.launch(entry.name, 4, [out, x, 256, 512, 256])
    gate, value = x.float().chunk(2, -1)
    torch.testing.assert_close(out, (torch.nn.functional.silu(gate) * value).half(), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("order", ["forward", "reversed", "shuffled"])
@pytest.mark.parametrize("threads", [1, 4])
def test_order_and_threads_change_no_bit(x, order, threads):
    want = softmax(x, np.zeros_like(x))
    assert np.array_equal(softmax(x, np.zeros_like(x), order=order, seed=7, threads=threads), want)


def test_torch_and_strided_arrays_are_described_by_pointer_and_strides(x):
    wide = np.zeros((6, 512), dtype=np.float32)
    softmax(torch.from_numpy(x), wide[:, 300:500])
    np.testing.assert_allclose(wide[:, 300:500], softmax_of(x), rtol=1e-6, atol=1e-7)
    assert not wide[:, :300].any()
    assert not wide[:, 500:].any()


def test_any_object_with_a_buffer_is_an_array():
    x = array.array("f", range(320))
    y = loops(np.frombuffer(x, dtype=np.float32), 0)
    out = array.array("f", [0.0] * 320)
    cpu.load(LOOPS).launch("loops_and_branches", 5, [x, 320, 1, out, 320, 1, 0])
    assert np.array_equal(np.frombuffer(out, dtype=np.float32), y)


@pytest.mark.parametrize(
    "count", [5, np.int64(5), np.uint8(5), torch.tensor(5)], ids=["int", "int64", "uint8", "torch"]
)
def test_numbers_take_the_parameters_type(count):
    x = np.ones(320, dtype=np.float32)
    assert np.array_equal(loops(x, count), np.full(320, 7.0, dtype=np.float32))


def test_access_outside_an_argument_names_argument_and_element(x):
    y = np.zeros((6, 200), dtype=np.float32)
    args = [*matrix(x), *matrix(y)]
    args[6] = 8  # claims two rows more than there are
    with pytest.raises(KernelError, match=r"nearest to argument 'args\[5\]' \(4800 bytes\).*element 1200 of 1200"):
        cpu.load(SOFTMAX).launch("row_softmax", 8, args)


def test_reports_use_the_names_of_arguments(x):
    names = ("x", "rows", "columns", "row_stride", "column_stride")
    values = [*matrix(x), *matrix(np.zeros((5, 200), dtype=np.float32))]
    values[6] = 6
    args = dict(zip([*names, *(f"out_{name}" for name in names)], values, strict=True))
    with pytest.raises(KernelError, match="nearest to argument 'out_x'"):
        cpu.load(SOFTMAX).launch("row_softmax", 6, args)


def test_extra_memory_may_be_touched(x):
    out = np.zeros((8, 200), dtype=np.float32)
    args = [*matrix(np.vstack([x, x[:2]])), *matrix(out[:6])]
    args[6] = 8
    cpu.load(SOFTMAX).launch("row_softmax", 8, args, memory=[out])
    np.testing.assert_allclose(out[6:], softmax_of(x[:2]), rtol=1e-6, atol=1e-7)


def test_null_pointer_is_allowed_and_every_access_through_it_an_error():
    with pytest.raises(KernelError, match="illegal address"):
        cpu.load(LOOPS).launch("loops_and_branches", 1, [None, 64, 1, np.zeros(64, np.float32), 64, 1, 0])


def bad(index, value):
    def arguments():
        x = np.zeros(64, np.float32)
        args = [x, 64, 1, x.copy(), 64, 1, 0]
        args[index] = value
        return args

    return arguments


REFUSALS = {
    "dtype": (bad(0, np.zeros(64, np.float64)), TypeError, r"args\[0\]: wanted an array for ptr<f32>, got float64"),
    "integers": (bad(0, np.zeros(64, np.int32)), TypeError, r"args\[0\]: wanted an array for ptr<f32>, got int32"),
    "no array": (bad(3, 5), TypeError, r"args\[3\]: wanted a tensor, an array or another object with memory, got int"),
    "float": (bad(6, 1.5), TypeError, r"args\[6\]: wanted an integer for i32, got float"),
    "range": (bad(6, 2**32), ValueError, r"args\[6\]: wanted an integer of 32 bits for i32, got 4294967296"),
    "read-only": (
        bad(0, np.broadcast_to(np.float32(1), 64)),
        ValueError,
        r"args\[0\]: wanted memory that a kernel may",
    ),
    "byte order": (bad(0, np.zeros(64, ">f4")), ValueError, r"args\[0\]: wanted the machine's byte order"),
    "record": (bad(0, np.zeros(64, "i2,i2")), TypeError, r"args\[0\]: wanted an array for ptr<f32>"),
    "meta": (bad(0, torch.zeros(64, device="meta")), ValueError, r"args\[0\]"),
    "count": (lambda: [1], ValueError, "loops_and_branches: wanted 7 arguments, got 1"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_bad_arguments_are_refused(case):
    arguments, error, text = REFUSALS[case]
    with pytest.raises(error, match=text):
        cpu.load(LOOPS).launch("loops_and_branches", 1, arguments())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"grid": ()}, "grid: wanted 1 to 3 sizes, got 0"),
        ({"grid": (1, 70000)}, "grid: wanted 1 to 65535 tile blocks along y, got 70000"),
        ({"grid": 0}, "grid: wanted 1 to 2147483647 tile blocks along x, got 0"),
        ({"entry": "other"}, "entry: wanted one of loops_and_branches, got 'other'"),
        ({"order": "random"}, "order: wanted one of forward, reversed, shuffled, got 'random'"),
        ({"seed": -1}, "seed: wanted 0 to"),
        ({"threads": -1}, "threads: wanted 0 to"),
    ],
)
def test_bad_launches_are_refused(options, text):
    call = {"entry": "loops_and_branches", "grid": 1, "args": bad(6, 0)()} | options
    with pytest.raises(ValueError, match=text):
        cpu.load(LOOPS).launch(**call)


@pytest.mark.parametrize(
    ("image", "text"),
    [(b"", "magic number"), (b"\x7fELF" + bytes(60), "magic number"), (SOFTMAX.read_bytes()[:300], "byte"),
     (wrapped(SOFTMAX.read_bytes())[:-9], "cut short")],
    ids=["empty", "elf", "short", "short image"],
)  # fmt: skip
def test_what_is_no_module_is_refused(image, text):
    with pytest.raises(ValueError, match=text):
        cpu.load(image)


def test_load_takes_bytes_or_a_path_only():
    with pytest.raises(TypeError, match="bytecode: wanted bytes or a path, got int"):
        cpu.load(7)


SCALARS = """
import sys
import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, ScalarConstraint, export_kernel

def keep(out, value):
    ct.store(out, index=(0,), tile=ct.full((1,), value, out.dtype))

for name in sys.argv[2:]:
    dtype = getattr(ct, name)
    out = ArrayConstraint(dtype, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=[],
                          may_alias_internally=False)
    signature = KernelSignature([out, ScalarConstraint(dtype)], CallingConvention.cutile_python_v1(), symbol=name)
    export_kernel(ct.kernel(keep), [signature], f"{sys.argv[1]}/{name}", gpu_code="sm_100",
                  output_format="tileir_bytecode", bytecode_version="13.1")
"""
SCALAR_TYPES = {
    "int8": (-7, 200), "int16": (-7, 65535), "int32": (-7, 2**32 - 1), "int64": (-(2**63), 2**64 - 1),
    "uint8": (3, -1), "float16": (1 / 3, 1e9, 3e-8, float("nan")), "bfloat16": (1 / 3, -1e39, 1e-40),
    "float32": (1 / 3, 1e39, -0.0), "float64": (1 / 3,), "float8_e4m3fn": (0.3, 448.0, -0.001),
    "float8_e5m2": (0.3, 1e6, 3e-5),
}  # fmt: skip


@pytest.fixture(scope="module")
def scalar_modules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scalars")
    program = folder / "export.py"
    program.write_text(SCALARS)
    subprocess.run([sys.executable, program, folder, *SCALAR_TYPES], check=True)
    return folder


@pytest.mark.parametrize("name", SCALAR_TYPES)
def test_scalars_are_rounded_once_to_the_parameters_type(scalar_modules, name):
    module = cpu.load(scalar_modules / name)
    for value in SCALAR_TYPES[name]:
        out = torch.zeros(1, dtype=getattr(torch, name))
        module.launch(name, 1, [out, 1, 1, value])
        if isinstance(value, int):
            want = torch.tensor([int(np.uint64(value % 2**64))], dtype=torch.uint64).view(torch.int64).to(out.dtype)
        else:
            want = torch.tensor([value], dtype=torch.float64).to(out.dtype)
        assert torch.equal(out.view(torch.uint8), want.view(torch.uint8)) or (want.isnan() & out.isnan()).all(), value


def test_values_beyond_a_type_without_infinities_are_refused(scalar_modules):
    with pytest.raises(ValueError, match=r"args\[3\]: wanted a value that f8E4M3FN holds, got 1000"):
        cpu.load(scalar_modules / "float8_e4m3fn").launch(
            "float8_e4m3fn", 1, [torch.zeros(1, dtype=torch.float8_e4m3fn), 1, 1, 1000.0]
        )


def test_arrays_of_ml_dtypes_and_raw_bits(scalar_modules):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    out = np.zeros(1, ml_dtypes.bfloat16)
    bits = np.zeros(1, np.uint16)
    module = cpu.load(scalar_modules / "bfloat16")
    for array_ in (out, bits):
        module.launch("bfloat16", 1, [array_, 1, 1, 1.5])
    assert out[0] == 1.5
    assert bits[0] == 0x3FC0
    with pytest.raises(TypeError, match="got float8_e5m2"):
        module.launch("bfloat16", 1, [np.zeros(2, ml_dtypes.float8_e5m2), 1, 1, 1.5])
