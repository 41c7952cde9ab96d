"""Runs tests that ask for torch's "cuda" device on the CPU device: a pytest plugin, `-p tilegym_rs.cuda_on_cpu`.

Tensors asked for on "cuda" are made on the CPU, torch.cuda answers as a GPU of the target would, and timings are wall
clock. What a tensor says about itself stays true (`is_cuda` is False). Torch is patched before any conftest is imported
and restored at the end. Cases too large for a CPU are skipped with the estimate as the reason.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tilegym_rs.cuda_on_cpu.patches import Patches

# Repetitions of public benchmark helpers, which read these when they are imported: one of 256 MB flushed a repetition
# of a small op into most of a minute.
_FEW_REPETITIONS = {"WARMUP": "0", "REP": "0", "MIN_REP": "2", "INITIAL_REP": "1"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the limit of one case."""
    group = parser.getgroup("tilegym", "tilegym_rs")
    group.addoption(
        "--cuda-on-cpu-seconds",
        type=float,
        default=20.0,
        help="skip cases estimated to take longer on the CPU device (default 20)",
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, None, None]:
    """Enables the mapping before a conftest may ask for a GPU."""
    for name, value in _FEW_REPETITIONS.items():
        os.environ.setdefault(name, value)
    early_config.add_cleanup(enable().restore)
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips what is over the budget."""
    from tilegym_rs.cuda_on_cpu.budget import Budget

    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    budget = Budget.of_this_machine(config.getoption("--cuda-on-cpu-seconds"), workers)
    for item in items:
        reason = budget.refusal(item)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


def enable() -> Patches:
    """Maps "cuda" to the CPU in this process until `restore()` of the result is called."""
    from tilegym_rs.cuda_on_cpu import cuda_module, factories, timing
    from tilegym_rs.cuda_on_cpu.patches import Patches

    patches = Patches()
    for part in (factories, cuda_module, timing):
        part.apply(patches)
    return patches
