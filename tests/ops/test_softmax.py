"""softmax against its float64 oracle: dtypes, lengths, layouts, special values."""

from __future__ import annotations

import pytest
import torch

import tilegym
from tilegym_rs.validation import layouts

pytestmark = pytest.mark.usefixtures("seeded")

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [1, 2, 9, 255, 256, 257, 1009, 2048, 4096, 32768])
def test_any_row_length(compare_op, device, backend, n, dtype):
    compare_op("softmax", torch.randn(5, n, device=device).to(dtype), backend=backend)


@pytest.mark.parametrize("mode", [{"use_tma": True}, {"use_chunked": True}, {"use_multi_wave": True}], ids=str)
@pytest.mark.parametrize("n", [9, 2048, 2500])
def test_every_mode(compare_op, device, backend, n, mode):
    compare_op("softmax", torch.randn(4, n, device=device), backend=backend, **mode)


@pytest.mark.parametrize("layout", layouts.OTHERS)
def test_unusual_layouts(compare_op, device, backend, layout):
    x, memory = layouts.OTHERS[layout](6, 37, torch.float16, device)
    before = memory.clone()
    compare_op("softmax", x, backend=backend)
    assert torch.equal(memory, before)


@pytest.mark.parametrize("shape", [(7,), (3, 1), (2, 3, 5), (2, 1, 3, 130)], ids=str)
def test_any_leading_dimensions(compare_op, device, backend, shape):
    compare_op("softmax", torch.randn(shape, device=device), backend=backend)


@pytest.mark.parametrize("part", [0, 1])
def test_pieces_of_a_split_tensor(compare_op, device, backend, part):
    pieces = torch.split(torch.randn(4, 33, device=device, dtype=torch.float16), [16, 17], dim=1)
    compare_op("softmax", pieces[part], backend=backend)


@pytest.mark.parametrize("shape", [(0, 8), (8, 0), (0, 0), (2, 0, 3), (0,)], ids=str)
def test_no_elements(compare_op, device, backend, shape):
    out = compare_op("softmax", torch.empty(shape, device=device), backend=backend)
    assert out.shape == shape


@pytest.mark.parametrize("n", [64, 9000])
def test_large_values_do_not_overflow(compare_op, device, backend, n):
    compare_op("softmax", torch.randn(3, n, device=device) * 1e4, backend=backend)


@pytest.mark.parametrize("n", [33, 9000])
def test_equal_values_share_the_probability(device, backend, n):
    out = tilegym.ops.softmax(torch.full((2, n), -3.0, device=device), backend=backend)
    torch.testing.assert_close(out, torch.full_like(out, 1 / n))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("place", [0, 70, 149])
def test_nan_fills_its_row_only(compare_op, device, backend, place, dtype):
    x = torch.randn(3, 150, device=device).to(dtype)
    x[1, place] = float("nan")
    out = compare_op("softmax", x, backend=backend, nan_equal=True)
    assert out.isnan().any(dim=1).tolist() == [False, True, False]


@pytest.mark.parametrize("n", [150, 9000])
def test_minus_infinity_gets_no_probability(compare_op, device, backend, n):
    x = torch.randn(3, n, device=device)
    x[0, : n // 2] = -float("inf")
    compare_op("softmax", x, backend=backend)


@pytest.mark.parametrize("value", [float("inf"), -float("inf")])
def test_rows_without_a_finite_answer(compare_op, device, backend, value):
    x = torch.zeros(2, 40, device=device)
    x[0] = value
    compare_op("softmax", x, backend=backend, nan_equal=True)


def test_chunks_repeat_bit_for_bit(device, backend):
    x = torch.randn(64, 9000, device=device)
    first = tilegym.ops.softmax(x, backend=backend)
    assert all(torch.equal(first, tilegym.ops.softmax(x, backend=backend)) for _ in range(5))


def test_many_rows(compare_op, device, backend):
    compare_op("softmax", torch.randn(70000, 3, device=device), backend=backend)
