"""The comparison in C++ against numpy in float64."""

import numpy as np
import pytest
import torch

from tilegym_rs import _core as core

DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int8,
    torch.uint8,
]


def random(dtype, *shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator, dtype=torch.float64) * 20).abs().to(dtype)


def float64(tensor):
    return tensor.to(torch.float64).numpy()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_errors_are_those_of_numpy(dtype):
    actual, expected = random(dtype, 37, 53), random(dtype, 37, 53, seed=1)
    result = core.compare(actual, expected, rtol=0.1, atol=1.0)
    a, e = float64(actual), float64(expected)
    error = np.abs(a - e)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(error == 0, 0, error / np.abs(e))
    assert result.elements == a.size
    assert result.max_abs_error == error.max()
    assert result.max_rel_error == relative.max()
    assert result.mismatches == np.count_nonzero(error > 1.0 + 0.1 * np.abs(e))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
def test_every_value_of_a_small_format_is_read_right(dtype):
    bits = torch.arange(2 ** (8 * dtype.itemsize), dtype=torch.int64)
    tensor = bits.to(torch.uint16 if dtype.itemsize == 2 else torch.uint8).view(dtype)
    result = core.compare(tensor, tensor.to(torch.float64), rtol=0, atol=0, equal_nan=True)
    assert result.matches
    assert result.nan_in_both == int(tensor.to(torch.float64).isnan().sum())


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x.t(),
        lambda x: x[:, 1:20],
        lambda x: x[::3],
        lambda x: x[:1].expand(9, 40),
        lambda x: x[0],
    ],
    ids=["packed", "transposed", "padded", "every_third", "expanded", "row"],
)
def test_layouts_are_followed(view):
    tensor = view(random(torch.float32, 30, 40))
    assert core.compare(tensor, tensor.contiguous().to(torch.float64), rtol=0, atol=0).matches


def test_the_first_mismatch_is_named():
    expected = torch.zeros(3, 4, 5)
    actual = expected.clone()
    actual[1, 2, 3] = 7
    actual[2, 0, 0] = 9
    first = core.compare(actual, expected, rtol=0, atol=0).first_mismatch
    assert (first.index, first.actual, first.expected) == ((1, 2, 3), 7.0, 0.0)


def test_kinds_of_nan_are_told_apart():
    nan = float("nan")
    result = core.compare(torch.tensor([nan, nan, 1.0]), torch.tensor([nan, 1.0, nan]), rtol=0, atol=0)
    assert (result.nan_in_both, result.nan_in_actual, result.nan_in_expected) == (1, 1, 1)
    assert not result.matches


def test_an_empty_tensor_has_no_elements():
    assert core.compare(torch.zeros(0, 4), torch.zeros(0, 4), rtol=0, atol=0).elements == 0


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"got \[2\] and \[3\]"):
        core.compare(torch.zeros(2), torch.zeros(3), rtol=0, atol=0)


def test_a_complex_tensor_is_refused_by_name():
    with pytest.raises(ValueError, match=r"argument 'expected': .*got complex64"):
        core.compare(torch.zeros(2), torch.zeros(2, dtype=torch.complex64), rtol=0, atol=0)


def test_a_list_is_no_tensor():
    with pytest.raises(TypeError, match="argument 'actual': wanted a tensor, got list"):
        core.compare([1.0], torch.zeros(1), rtol=0, atol=0)


def test_a_negative_tolerance_is_refused():
    with pytest.raises(ValueError, match="tolerances of at least 0"):
        core.compare(torch.zeros(1), torch.zeros(1), rtol=-1, atol=0)


def test_first_and_worst_mismatches_are_kept():
    expected = torch.zeros(3, 4)
    actual = expected.clone()
    actual[0, 1], actual[1, 2], actual[2, 0] = 1.0, 9.0, 5.0
    found = core.compare(actual, expected, rtol=0, atol=0, keep=2)
    assert [m.index for m in found.first] == [(0, 1), (1, 2)]
    assert [m.index for m in found.worst] == [(1, 2), (2, 0)]
    assert found.greatest_absolute.actual == 9.0


def test_mismatches_are_counted_by_block():
    expected = torch.zeros(2, 8, 8)
    actual = expected.clone()
    actual[1, 5:7, 3] = float("nan")
    found = core.compare(actual, expected, rtol=0, atol=0, block=(4, 4)).blocks
    assert (found.extents, found.grid) == ((1, 4, 4), (2, 2, 2))
    assert [(b.block, b.mismatches) for b in found.blocks] == [((1, 1, 0), 2)]


@pytest.mark.parametrize("block", [(0,), (1, 1, 1)], ids=str)
def test_a_bad_block_is_refused(block):
    with pytest.raises(ValueError, match="block: wanted up to 2 extents of at least 1"):
        core.compare(torch.zeros(2, 2), torch.zeros(2, 2), rtol=0, atol=0, block=block)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_statistics_are_those_of_numpy(dtype):
    expected = random(dtype, 500, 601).t()
    actual = (expected.double() + (torch.rand(601, 500) < 0.3)).to(dtype).t().contiguous().t()
    found = core.compare(actual, expected, rtol=1, atol=1)
    error = np.abs(float64(actual) - float64(expected))
    assert found.matches
    assert found.max_abs_error == error.max()
    assert found.mean_abs_error == pytest.approx(error.mean(), rel=1e-6)
    for percent, estimate in found.percentiles.items():
        assert estimate == pytest.approx(np.percentile(error, percent, method="higher"), rel=0.07)


def test_pieces_make_the_whole():
    actual, expected = random(torch.float16, 70, 9), random(torch.float16, 70, 9, seed=1)
    pieces = core.PiecewiseComparison([70, 9], rtol=0.1, atol=0)
    for start in (40, 0):
        pieces.add(actual[start : start + 40], expected[start : start + 40], start * 9)
    found, whole = pieces.result(), core.compare(actual, expected, rtol=0.1, atol=0)
    assert (found.elements, found.mismatches) == (whole.elements, whole.mismatches)
    assert found.first[0].index == whole.first[0].index
    with pytest.raises(ValueError, match="wanted a piece of the 630 elements"):
        pieces.add(actual, expected, 1)
