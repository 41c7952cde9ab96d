"""silu_and_mul against its float64 oracle: dtypes, widths, layouts, out=, special values."""

from __future__ import annotations

import pytest
import torch

from tilegym_rs.validation import layouts

pytestmark = pytest.mark.usefixtures("seeded")

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("half", [1, 2, 9, 255, 256, 257, 1000, 2048, 4096, 10000])
def test_any_width(compare_op, device, backend, half, dtype):
    compare_op("silu_and_mul", torch.randn(5, 2 * half, device=device).to(dtype), backend=backend)


@pytest.mark.parametrize("layout", layouts.OTHERS)
def test_unusual_layouts(compare_op, device, backend, layout):
    x, memory = layouts.OTHERS[layout](6, 38, torch.float16, device)
    before = memory.clone()
    compare_op("silu_and_mul", x, backend=backend)
    assert torch.equal(memory, before)


@pytest.mark.parametrize("shape", [(8,), (3, 2), (7, 100, 30), (2, 1, 3, 260)], ids=str)
def test_any_leading_dimensions(compare_op, device, backend, shape):
    compare_op("silu_and_mul", torch.randn(shape, device=device), backend=backend)


@pytest.mark.parametrize("shape", [(0, 8), (8, 0), (2, 0, 6)], ids=str)
def test_no_elements(compare_op, device, backend, shape):
    out = compare_op("silu_and_mul", torch.empty(shape, device=device), backend=backend)
    assert out.shape == (*shape[:-1], shape[-1] // 2)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_writes_out_in_place(compare_op, device, backend, dtype):
    x, out = torch.randn(5, 66, device=device).to(dtype), torch.empty(5, 33, device=device, dtype=dtype)
    assert compare_op("silu_and_mul", x, out=out, backend=backend) is out


@pytest.mark.parametrize("layout", [name for name in layouts.ALL if name != "expanded"])
def test_out_of_any_layout(compare_op, device, backend, layout):
    out, memory = layouts.ALL[layout](6, 19, torch.float32, device)
    outside = memory.clone()
    x = torch.randn(*out.shape[:-1], 38, device=device)
    compare_op("silu_and_mul", x, out=out, backend=backend)
    restored = memory.clone()
    restored.as_strided(out.shape, out.stride(), out.storage_offset()).copy_(
        outside.as_strided(out.shape, out.stride(), out.storage_offset())
    )
    assert torch.equal(restored, outside)


def test_out_beside_the_input_in_one_buffer(compare_op, device, backend):
    buffer = torch.randn(4, 30, device=device)
    compare_op("silu_and_mul", buffer[:, :20], out=buffer[:, 20:], backend=backend)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_large_values_saturate(compare_op, device, backend, dtype):
    gate = torch.tensor([[-60000.0, -100.0, -20.0, 0.0, 20.0, 100.0]], device=device)
    x = torch.cat([gate, torch.ones_like(gate)], dim=1).to(dtype)
    compare_op("silu_and_mul", x, backend=backend)


@pytest.mark.parametrize("place", [3, 40])
def test_nan_stays_in_its_element(compare_op, device, backend, place):
    x = torch.randn(3, 64, device=device)
    x[1, place] = float("nan")
    out = compare_op("silu_and_mul", x, backend=backend, nan_equal=True)
    assert out.isnan().nonzero().tolist() == [[1, place % 32]]


def test_infinities(compare_op, device, backend):
    x = torch.tensor([[float("inf"), -float("inf"), 1.0, 2.0, 2.0, -float("inf")]], device=device)
    compare_op("silu_and_mul", x, backend=backend, nan_equal=True)


def test_many_rows(compare_op, device, backend):
    compare_op("silu_and_mul", torch.randn(70000, 4, device=device), backend=backend)
