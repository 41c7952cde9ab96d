"""matmul against its float64 oracle: dtypes, tails, transposes, layouts, both schedules."""

from __future__ import annotations

import pytest
import torch

import tilegym
from tilegym_rs.validation import layouts

pytestmark = pytest.mark.usefixtures("seeded")

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
SHAPES = [
    (1, 1, 1),
    (8, 8, 8),
    (128, 128, 64),
    (129, 127, 65),
    (1, 300, 200),
    (300, 1, 200),
    (200, 300, 1),
    (257, 255, 129),
    (512, 384, 1023),
]


def pair(m, n, k, dtype, device):
    """Operands whose product has elements of order 1, so that absolute tolerances mean the same for every k."""
    return torch.randn(m, k, device=device).to(dtype), (torch.randn(k, n, device=device) / k**0.5).to(dtype)


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_any_shape(compare_op, device, backend, shape, dtype, persistent):
    compare_op("matmul", *pair(*shape, dtype, device), backend=backend, static_persistent=persistent)


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize(("trans_a", "trans_b"), [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_transposes(compare_op, device, backend, dtype, trans_a, trans_b, persistent):
    a, b = pair(70, 90, 50, dtype, device)
    a, b = a.t().contiguous() if trans_a else a, b.t().contiguous() if trans_b else b
    options = {"trans_a": trans_a, "trans_b": trans_b, "static_persistent": persistent}
    compare_op("matmul", a, b, backend=backend, **options)


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("layout", layouts.MATRICES)
@pytest.mark.parametrize("operand", ["a", "b"])
def test_any_layout(compare_op, device, backend, operand, layout, persistent):
    strided, memory = layouts.MATRICES[layout](40, 40, torch.float16, device)
    before, other = memory.clone(), torch.randn(40, 40, device=device).half()
    a, b = (strided, other) if operand == "a" else (other, strided)
    compare_op("matmul", a, b, backend=backend, static_persistent=persistent)
    assert torch.equal(memory, before)


def test_one_tensor_on_both_sides(compare_op, device, backend):
    a = torch.randn(65, 65, device=device) / 8
    compare_op("matmul", a, a, backend=backend)


@pytest.mark.parametrize(("m", "n", "k"), [(0, 4, 4), (4, 0, 4), (4, 4, 0), (0, 0, 0)])
def test_no_elements(compare_op, device, backend, m, n, k):
    a, b = torch.ones(m, k, device=device), torch.ones(k, n, device=device)
    assert torch.equal(compare_op("matmul", a, b, backend=backend), torch.zeros(m, n, device=device))


def test_persistent_is_the_default(recording_kernels, device):
    tilegym.ops.matmul(torch.ones(4, 4), torch.ones(4, 4), backend="cutile-rs")
    assert recording_kernels.launches[0][2]["persistent"] == 1


@pytest.mark.parametrize("persistent", [False, True])
def test_more_tiles_than_programs(compare_op, device, backend, persistent):
    a, b = pair(2048, 1536, 32, torch.float16, device)
    compare_op("matmul", a, b, backend=backend, static_persistent=persistent, **tiles(backend, bm=64, bn=64, bk=32))


def tiles(backend, **overrides):
    return {"kernel_configs": overrides} if backend == "cutile-rs" else {}


def test_accumulates_in_float32(compare_op, device, backend):
    a, b = torch.full((4, 4096), 1.0, device=device).half(), torch.full((4096, 4), 1.0, device=device).half()
    out = compare_op("matmul", a, b, backend=backend)
    assert torch.equal(out, torch.full_like(out, 4096.0))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_special_values_stay_in_their_row(compare_op, device, backend, value):
    a, b = pair(40, 30, 20, torch.float32, device)
    a[3, 5] = value
    out = compare_op("matmul", a, b, backend=backend, nan_equal=True)
    assert (~out.isfinite()).any(dim=1).nonzero().flatten().tolist() == [3]


@pytest.mark.parametrize("persistent", [False, True])
def test_repeats_bit_for_bit(device, backend, persistent):
    a, b = pair(300, 200, 100, torch.bfloat16, device)
    first = tilegym.ops.matmul(a, b, static_persistent=persistent, backend=backend)
    for _ in range(5):
        assert torch.equal(first, tilegym.ops.matmul(a, b, static_persistent=persistent, backend=backend))
