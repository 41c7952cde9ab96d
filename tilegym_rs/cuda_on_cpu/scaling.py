"""What a report says of a case that ran at a smaller size than its own."""

from __future__ import annotations

import pytest

CATEGORY = "scaled"
ATTRIBUTE = "tilegym_rs_scaled"


def scaling_of(report: pytest.TestReport) -> str:
    """How the case was scaled, "m 8192 -> 512"; empty where it was not."""
    return str(getattr(report, ATTRIBUTE, ""))
