"""Every registered op against its references: the cases that `--cutile-rs-all` adds to the tests of any project."""

from __future__ import annotations

import pytest

import tilegym
from tilegym_rs.validation import case_set

OPS = case_set.registered_ops()
CASES = [case for op in OPS for case in case_set.case_set(op).cases]


@pytest.mark.parametrize("op", OPS)
def test_cutile_rs_knows_how_to_call_it(op):
    assert case_set.case_set(op).problem == ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.id}")
def test_cutile_rs(compare_op, device, case):
    if not tilegym.is_backend_available("cutile-rs"):
        pytest.skip("backend cutile-rs is not available")
    try:
        case_set.run(case, device, compare_op)
    except case_set.NotComparedError as reason:
        pytest.skip(str(reason))
