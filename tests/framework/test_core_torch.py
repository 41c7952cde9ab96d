"""The comparison in libtorch against the one of _core. The module exists for the torch version it was built with."""

import pytest
import torch

from tilegym_rs import _core as core

_VERSION = "_".join(torch.__version__.split(".")[:2])
built = pytest.importorskip(f"tilegym_rs._torch_{_VERSION}", reason=f"not built for torch {torch.__version__}")

FIELDS = (
    "elements",
    "mismatches",
    "nan_in_both",
    "nan_in_actual",
    "nan_in_expected",
    "max_abs_error",
    "max_rel_error",
    "matches",
)


def assert_agree(actual, expected, **tolerance):
    ours, theirs = core.compare(actual, expected, **tolerance), built.compare(actual, expected, **tolerance)
    assert {field: getattr(ours, field) for field in FIELDS} == {field: getattr(theirs, field) for field in FIELDS}
    first = [(m.index, m.actual, m.expected) if m else None for m in (ours.first_mismatch, theirs.first_mismatch)]
    assert str(first[0]) == str(first[1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int32], ids=str)
def test_both_comparisons_agree(dtype):
    generator = torch.Generator().manual_seed(0)
    actual, expected = ((torch.randn(40, 30, generator=generator) * 9).to(dtype) for _ in range(2))
    assert_agree(actual, expected.t().contiguous().t(), rtol=0.1, atol=1)


def test_both_treat_nan_and_infinity_alike():
    nan, inf = float("nan"), float("inf")
    actual = torch.tensor([1.0, nan, nan, 2.0, inf, inf, 3.0, 0.0])
    expected = torch.tensor([1.0, nan, 1.0, nan, inf, -inf, inf, 0.0])
    for equal_nan in (False, True):
        assert_agree(actual, expected, rtol=1, atol=1, equal_nan=equal_nan)


def test_both_take_an_empty_tensor_and_a_scalar():
    assert_agree(torch.zeros(0, 3), torch.zeros(0, 3), rtol=0, atol=0)
    assert_agree(torch.tensor(1.0), torch.tensor(2.0), rtol=0, atol=0)


def test_a_tensor_that_wants_a_gradient_is_compared():
    assert built.compare(torch.ones(2, requires_grad=True), torch.ones(2), rtol=0, atol=0).matches


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"got \[2\] and \[3\]"):
        built.compare(torch.zeros(2), torch.zeros(3), rtol=0, atol=0)


def test_the_module_names_the_torch_it_was_built_for():
    assert built.built_for_torch.split("+")[0] == torch.__version__.split("+")[0]
