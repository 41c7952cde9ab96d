"""Tests made from the registry: one for each case of each op, without a test file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tilegym_rs.validation.case_set import Case

OP_ATTRIBUTE = "tilegym_rs_op"


class CaseItem(pytest.Item):
    """One case of an op's case set."""

    def __init__(self, *, case: Case | None, op: str, problem: str = "", **others: Any) -> None:
        super().__init__(**others)
        self._case = case
        self._problem = problem
        setattr(self, OP_ATTRIBUTE, op)
        self.extra_keyword_matches.update((op, "cutile-rs", "cutile_rs"))

    def runtest(self) -> None:
        """Runs the case."""
        import torch

        from tilegym_rs.device import default_device
        from tilegym_rs.plugin import comparison_for
        from tilegym_rs.validation import case_set

        if self._case is None:
            raise AssertionError(f"never compared: {self._problem}")
        device = torch.device(default_device())
        try:
            case_set.run(self._case, device, comparison_for(self))
        except case_set.NotComparedError as reason:
            pytest.skip(str(reason))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """A failed comparison by its message; what an op raised with the place where it did."""
        if isinstance(excinfo.value, AssertionError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """The op's kernel folder and the case."""
        return self.path, None, self.name


def items_of_all_ops(session: pytest.Session) -> list[CaseItem]:
    """The items, in an order that every process shares."""
    from tilegym_rs.validation import case_set

    items = []
    for op in case_set.expected_ops():
        found = case_set.case_set(op)
        items += [_item(session, op, case.id, case=case) for case in found.cases]
        if found.problem:
            items.append(_item(session, op, "no cases", case=None, problem=found.problem))
    return items


def _item(session: pytest.Session, op: str, name: str, **others: Any) -> CaseItem:
    # The op stands where a file does, so that xdist's loadfile spreads ops over workers.
    item: CaseItem = CaseItem.from_parent(
        session, name=f"{op}[{name}]", nodeid=f"cutile-rs/{op}::{name}", op=op, **others
    )
    return item
