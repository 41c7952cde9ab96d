"""bmm against its float64 oracle: dtypes, tails, transposes, layouts, both schedules."""

from __future__ import annotations

import pytest
import torch

import tilegym

pytestmark = pytest.mark.usefixtures("seeded")

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


def pair(q, m, n, k, dtype, device):
    """Operands whose products have elements of order 1."""
    return torch.randn(q, m, k, device=device).to(dtype), (torch.randn(q, k, n, device=device) / k**0.5).to(dtype)


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (3, 129, 127, 65), (2, 64, 300, 200), (5, 8, 8, 1023)], ids=str)
def test_any_shape(compare_op, device, backend, shape, dtype, persistent):
    compare_op("bmm", *pair(*shape, dtype, device), backend=backend, static_persistent=persistent)


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize(("transpose_a", "transpose_b"), [(True, False), (False, True), (True, True)])
def test_transposes(compare_op, device, backend, transpose_a, transpose_b, persistent):
    a, b = pair(3, 70, 90, 50, torch.float16, device)
    a, b = a.mT.contiguous() if transpose_a else a, b.mT.contiguous() if transpose_b else b
    options = {"transpose_a": transpose_a, "transpose_b": transpose_b, "static_persistent": persistent}
    compare_op("bmm", a, b, backend=backend, **options)


LAYOUTS = {
    "every_second_batch": lambda x: x.repeat_interleave(2, 0)[::2],
    "batch_innermost": lambda x: x.permute(1, 2, 0).contiguous().permute(2, 0, 1),
    "rows_of_a_wider_buffer": lambda x: torch.cat([x, x], 2)[..., : x.shape[2]],
    "one_batch_expanded": lambda x: x[:1].expand(x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("operand", [0, 1], ids=["a", "b"])
def test_any_layout(compare_op, device, backend, operand, layout):
    operands = list(pair(4, 33, 35, 40, torch.float32, device))
    operands[operand] = LAYOUTS[layout](operands[operand])
    compare_op("bmm", *operands, backend=backend)


@pytest.mark.parametrize("shape", [(0, 4, 4, 4), (2, 0, 4, 4), (2, 4, 0, 4), (2, 4, 4, 0)], ids=str)
def test_no_elements(compare_op, device, backend, shape):
    q, m, n, k = shape
    a, b = torch.ones(q, m, k, device=device), torch.ones(q, k, n, device=device)
    assert torch.equal(compare_op("bmm", a, b, backend=backend), torch.zeros(q, m, n, device=device))


def test_more_tiles_than_programs(compare_op, device):
    configs = {"bm": 16, "bn": 16, "bk": 16}
    compare_op("bmm", *pair(3, 200, 200, 20, torch.float16, device), backend="cutile-rs", kernel_configs=configs)


@pytest.mark.parametrize(("op", "shapes"), [("matmul", [(40, 64), (64, 30)]), ("bmm", [(2, 40, 64), (2, 64, 30)])])
def test_float32_is_rounded_to_tf32_only_where_allowed(device, op, shapes):
    a, b = (torch.randn(shape, device=device) for shape in shapes)
    exact = torch.matmul(a.double(), b.double())
    errors = {
        choice: (getattr(tilegym.ops, op)(a, b, allow_tf32=choice, backend="cutile-rs") - exact).abs().max().item()
        for choice in (False, True)
    }
    assert errors[False] < 1e-4 < errors[True] < 1e-1


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (torch.ones(2, 3), torch.ones(2, 3, 4), "a: wanted rank 3"),
        (torch.ones(2, 3, 4), torch.ones(3, 4, 5), "b: wanted 2 batches"),
        (torch.ones(2, 3, 4), torch.ones(2, 5, 4), "b: wanted 4 rows"),
    ],
    ids=["rank", "batches", "inner"],
)
def test_shapes_that_do_not_fit_are_refused(a, b, words):
    with pytest.raises(ValueError, match=f"bmm: {words}"):
        tilegym.ops.bmm(a, b, backend="cutile-rs")
