"""swiglu against its float64 oracle: dtypes, widths, layouts, special values."""

from __future__ import annotations

import pytest
import torch

import tilegym
from tilegym_rs.validation import layouts

pytestmark = pytest.mark.usefixtures("seeded")

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [1, 9, 256, 1000, 4096, 10000])
def test_any_width(compare_op, device, backend, n, dtype):
    a, b = (torch.randn(5, n, device=device).to(dtype) for _ in range(2))
    compare_op("swiglu", a, b, backend=backend)


@pytest.mark.parametrize("layout", layouts.ALL)
@pytest.mark.parametrize("operand", ["a", "b"])
def test_any_layout(compare_op, device, backend, operand, layout):
    strided, memory = layouts.ALL[layout](6, 38, torch.float16, device)
    before, other = memory.clone(), torch.randn(strided.shape, device=device).half()
    compare_op("swiglu", *((strided, other) if operand == "a" else (other, strided)), backend=backend)
    assert torch.equal(memory, before)


@pytest.mark.parametrize("shape", [(), (7,), (3, 1), (2, 5, 3, 30)], ids=str)
def test_any_rank(compare_op, device, backend, shape):
    compare_op("swiglu", torch.randn(shape, device=device), torch.randn(shape, device=device), backend=backend)


@pytest.mark.parametrize("shape", [(0, 8), (8, 0), (0,)], ids=str)
def test_no_elements(compare_op, device, backend, shape):
    compare_op("swiglu", torch.empty(shape, device=device), torch.empty(shape, device=device), backend=backend)


def test_special_values_stay_in_their_element(compare_op, device, backend):
    a = torch.tensor([[float("nan"), float("inf"), -float("inf"), -200.0, 200.0, 1.0]], device=device)
    compare_op("swiglu", a, torch.full_like(a, 2.0), backend=backend, nan_equal=True)


def test_get_swiglu_keeps_the_backend_it_was_made_under(device, backend):
    a, b = torch.randn(2, 3, device=device), torch.randn(2, 3, device=device)
    bound = tilegym.ops.get_swiglu(backend=backend)
    assert torch.equal(bound(a, b), tilegym.ops.swiglu(a, b, backend=backend))


@pytest.mark.parametrize("other", [torch.ones(2, 4), torch.ones(3)])
def test_shapes_that_differ_are_refused(other):
    with pytest.raises(ValueError, match=r"swiglu: b: wanted the shape of a, \(2, 3\), got"):
        tilegym.ops.swiglu(torch.ones(2, 3), other, backend="cutile-rs")
