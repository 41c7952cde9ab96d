"""What a test case would cost on the CPU device, judged by its parameters before it runs.

Work and memory follow from the shapes: operations of one call, elements that are compared, bytes at the peak. A
comparison holds many float32 temporaries, measured at up to 115 bytes for each element of the output.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import Any

import pytest

Parameters = Mapping[str, Any]

_BASE_BYTES = 0.8e9
_BYTES_PER_COMPARED_ELEMENT = 115
_SECONDS_PER_COMPARED_ELEMENT = 0.2e-6
# A correctness case calls the op and its reference; a timed one calls the op six more times.
_CALLS = {False: 2, True: 8}
# Elementwise work is bound by memory, not by arithmetic: about this many operations cost as much as one element moved.
_OPERATIONS_PER_ELEMENT = 8


@dataclasses.dataclass(frozen=True)
class Cost:
    """Of one call: floating-point operations, elements of the output, bytes at the peak."""

    operations: float
    elements: float
    peak_bytes: float


def _product(p: Parameters) -> Cost:
    elements = p.get("q", p.get("batch_size", p.get("batch", 1))) * p["m"] * p["n"]
    return Cost(2.0 * elements * p["k"], elements, _BASE_BYTES + 60 * elements)


def _gated(p: Parameters) -> Cost:
    elements = p["batch_size"] * p["seq_len"] * p["hidden_size"]
    return Cost(_OPERATIONS_PER_ELEMENT * elements, elements, _BASE_BYTES + _BYTES_PER_COMPARED_ELEMENT * elements)


def _attention(p: Parameters) -> Cost:
    heads = p["num_key_value_heads"] * p["num_key_value_groups"]
    scores = p["batch_size"] * p["num_queries"] * p["num_keys"] * heads
    return Cost(4.0 * scores * p["head_dim"], scores, _BASE_BYTES + 40 * scores)


def _rows(p: Parameters) -> Cost:
    elements = p["m"] * p["n"]
    return Cost(_OPERATIONS_PER_ELEMENT * elements, elements, _BASE_BYTES + _BYTES_PER_COMPARED_ELEMENT * elements)


# By what the parameters are called: a test of any project whose parameters have these names is judged alike.
_SHAPES: tuple[tuple[frozenset[str], Callable[[Parameters], Cost]], ...] = (
    (frozenset({"m", "n", "k"}), _product),
    (frozenset({"batch_size", "num_queries", "num_keys", "head_dim"}), _attention),
    (frozenset({"batch_size", "seq_len", "hidden_size"}), _gated),
    (frozenset({"m", "n"}), _rows),
)


def cost_of(item: pytest.Item) -> Cost | None:
    """The cost of a test case; None where its parameters say nothing about shapes."""
    parameters: Parameters = getattr(getattr(item, "callspec", None), "params", {})
    for names, estimate in _SHAPES:
        if names <= parameters.keys() and all(isinstance(parameters[name], int) for name in names):
            try:
                return estimate(parameters)
            except (KeyError, TypeError):
                return None
    return None


@dataclasses.dataclass(frozen=True)
class Budget:
    """Limits of one case: seconds, bytes; and how fast this machine multiplies."""

    seconds: float
    peak_bytes: float
    operations_per_second: float

    @classmethod
    def of_this_machine(cls, seconds: float, workers: int) -> Budget:
        """Half of the memory that is free, divided among the workers; speed from one small product."""
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
        return cls(seconds, free / 2 / max(workers, 1), _speed())

    def refusal(self, item: pytest.Item) -> str | None:
        """Why a case is not run, with the estimate; None where it fits."""
        cost = cost_of(item)
        if cost is None:
            return None
        calls = _CALLS["perf" in item.name.partition("[")[0]]
        seconds = calls * cost.operations / self.operations_per_second + cost.elements * _SECONDS_PER_COMPARED_ELEMENT
        if seconds <= self.seconds and cost.peak_bytes <= self.peak_bytes:
            return None
        return (
            f"too large for the CPU device: estimated {seconds:.0f} s and {cost.peak_bytes / 1e9:.1f} GB, "
            f"limits {self.seconds:.0f} s and {self.peak_bytes / 1e9:.1f} GB"
        )


def _speed() -> float:
    import time

    import torch

    a = torch.ones(384, 384)
    a @ a
    start = time.perf_counter()
    for _ in range(4):
        a @ a
    # Both sides of a comparison: the CPU device is somewhat slower than torch.
    return 4 * 2 * 384**3 / (time.perf_counter() - start) / 2
