"""The comparison of CUDA tensors against the one of CPU tensors: by the kernel, and by torch's operations."""

from __future__ import annotations

import itertools

import pytest
import torch

from tilegym_rs import _core
from tilegym_rs.validation import compare as comparing
from tilegym_rs.validation import on_device
from tilegym_rs.validation.compare import Tolerance, statistics

DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
]
COUNTS = [
    "elements",
    "mismatches",
    "nan_in_both",
    "nan_in_actual",
    "nan_in_expected",
    "infinity_in_both",
    "infinity_in_actual",
    "infinity_in_expected",
    "signed_zeros",
]
MAXIMA = ("max_abs_error", "max_rel_error", "max_ulp_error", "mean_abs_error")


@pytest.fixture(params=["kernel", "torch"])
def way(request, monkeypatch):
    """Each way to compare on a device in turn; torch's runs on any device, so also without a GPU."""
    if request.param == "kernel":
        if not torch.cuda.is_available():
            pytest.skip("there is no GPU; tests/cpp/validation runs the kernel's source without one")
        if not _core.cuda_kernels:
            pytest.skip("the build had no nvcc")
        return lambda *args, **options: statistics(*(arg.cuda() for arg in args), **options)
    monkeypatch.setattr(on_device, "_PIECE", 1 << 10)
    device = "cuda" if torch.cuda.is_available() else "cpu"

    def by_torch(actual, expected, *, tolerance, nan_equal=False, block=None, keep=3):
        options = {"rtol": tolerance.rtol, "atol": tolerance.atol, "equal_nan": nan_equal, "keep": keep, "block": block}
        return on_device.statistics(actual.to(device), expected.to(device), options)

    return by_torch


def values(dtype, shape, seed):
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    return (torch.randn(shape, generator=generator) * 9).to(dtype)


def places(found):
    kept = [*found.first, *found.worst, found.greatest_absolute, found.greatest_relative]
    return [(m.index, str(m.actual), str(m.expected)) if m else None for m in kept]


def assert_as_on_the_host(way, actual, expected, tolerance, **options):
    found = way(actual, expected, tolerance=tolerance, **options)
    wanted = statistics(actual, expected, tolerance, **options)
    assert {name: getattr(found, name) for name in COUNTS} == {name: getattr(wanted, name) for name in COUNTS}
    for name in MAXIMA:
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-5), name
    assert found.percentiles == pytest.approx(wanted.percentiles)
    assert places(found) == places(wanted)
    if options.get("block"):
        rows = [[(b.block, b.mismatches, b.max_abs_error) for b in each.blocks.blocks] for each in (found, wanted)]
        assert rows[0] == rows[1]


LOOSE, TIGHT = Tolerance(atol=100.0, rtol=1.0), Tolerance(atol=0.5, rtol=0.1)


@pytest.mark.parametrize("tolerance", [LOOSE, TIGHT], ids=["matching", "not matching"])
def test_every_pair_of_dtypes(way, tolerance):
    for first, second in itertools.product(DTYPES, DTYPES):
        assert_as_on_the_host(way, values(first, (60, 70), 1), values(second, (60, 70), 2), tolerance)


LAYOUTS = {
    "transposed": lambda x: x.t(),
    "padded": lambda x: x[:, 1:60],
    "every third": lambda x: x[::3],
    "expanded": lambda x: x[:1].expand(50, 70),
    "row": lambda x: x[3],
    "scalar": lambda x: x[3, 4],
    "permuted": lambda x: x.view(6, 10, 70).permute(2, 0, 1),
    "offset": lambda x: x.view(-1)[1:4097],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tolerance", [LOOSE, TIGHT], ids=["matching", "not matching"])
def test_any_strides(way, layout, tolerance):
    actual = LAYOUTS[layout](values(torch.float16, (60, 70), 1))
    expected = values(torch.float32, actual.shape, 2)
    assert_as_on_the_host(way, actual, expected, tolerance)
    assert_as_on_the_host(way, expected, actual, tolerance)


@pytest.mark.parametrize("nan_equal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_special_values(way, dtype, nan_equal):
    special = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-40, 1.0]).to(dtype)
    grid = torch.cartesian_prod(special, special)
    actual, expected = values(dtype, (9, 700), 1), values(dtype, (9, 700), 1)
    actual[:, :490:10], expected[:, :490:10] = grid[:, 0], grid[:, 1]
    assert_as_on_the_host(way, actual, expected, LOOSE, nan_equal=nan_equal)


@pytest.mark.parametrize("keep", [1, 3, 500])
def test_many_mismatches(way, keep):
    actual, expected = torch.zeros(300, 301), torch.ones(300, 301)
    actual[200, 7] = 9
    assert_as_on_the_host(way, actual, expected, TIGHT, keep=keep)


def test_a_map_of_blocks(way):
    actual, expected = values(torch.float32, (3, 60, 70), 1), values(torch.float32, (3, 60, 70), 2)
    assert_as_on_the_host(way, actual, expected, TIGHT, block=[16, 32])


def test_samples_of_a_large_tensor(way):
    expected = torch.randn(1 << 20, generator=torch.Generator().manual_seed(0))
    assert_as_on_the_host(way, expected * (1 + 1e-4), expected, LOOSE)


def test_nothing_to_compare(way):
    assert way(torch.zeros(0, 4), torch.zeros(0, 4), tolerance=TIGHT).elements == 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_tensors_of_two_devices_are_compared():
    x = values(torch.float32, (30, 40), 1)
    assert comparing.compare(x.cuda(), x.double(), TIGHT).verdict == "pass"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_the_kernel_runs_on_the_current_stream():
    expected = torch.zeros(1 << 20, device="cuda")
    actual = torch.ones_like(expected)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        actual.zero_()
        assert comparing.compare(actual, expected, TIGHT).verdict == "pass"
