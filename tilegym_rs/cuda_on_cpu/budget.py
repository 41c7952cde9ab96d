"""What a test case would cost on the CPU device, judged by its parameters before it runs.

Work and memory follow from the shapes: operations of one call, elements that are compared, bytes at the peak. How fast
this machine multiplies and moves is measured at the first case that may be too large.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tilegym_rs.cuda_on_cpu.speed import Speed

Parameters = Mapping[str, Any]

_BASE_BYTES = 0.8e9
# A comparison makes many float32 copies of the output: measured, with the gradients of inputs.
_BYTES_PER_COMPARED_ELEMENT = 100
_SECONDS_PER_COMPARED_ELEMENT = 0.2e-6
# Random input is made by one thread.
_SECONDS_PER_INPUT_ELEMENT = 10e-9
# A timed case calls the op six times more than a correctness case does.
_TIMED_CALLS = 7
# A forward pass, and the two products of its gradients.
_WITH_GRADIENTS = 3
_SHARE_OF_MEMORY = 0.75


@dataclasses.dataclass(frozen=True)
class Cost:
    """Of one call: operations of matrix products, elements of the output, of its inputs, bytes at the peak.

    `kept_bytes` is the peak where nothing is compared.
    """

    operations: float
    elements: float
    inputs: float
    peak_bytes: float
    kept_bytes: float | None = None


def _product(p: Parameters) -> Cost:
    batches = p.get("q", p.get("batch_size", p.get("batch", 1)))
    elements, inputs = batches * p["m"] * p["n"], batches * p["k"] * (p["m"] + p["n"])
    return Cost(2.0 * elements * p["k"], elements, inputs, 60 * elements + 4 * inputs)


def _gated(p: Parameters) -> Cost:
    elements = p["batch_size"] * p["seq_len"] * p["hidden_size"]
    return Cost(0.0, elements, 2 * elements, _BYTES_PER_COMPARED_ELEMENT * elements, 16 * elements)


def _attention(p: Parameters) -> Cost:
    heads = p["num_key_value_heads"] * p["num_key_value_groups"]
    scores = p["batch_size"] * p["num_queries"] * p["num_keys"] * heads
    inputs = p["batch_size"] * p["head_dim"] * (p["num_queries"] * heads + 2 * p["num_keys"] * p["num_key_value_heads"])
    return Cost(4.0 * scores * p["head_dim"], scores / 8, inputs, 40 * scores)


def _rows(p: Parameters) -> Cost:
    elements = p["m"] * p["n"]
    return Cost(0.0, elements, elements, _BYTES_PER_COMPARED_ELEMENT * elements)


# By what the parameters are called: a test of any project whose parameters have these names is judged alike.
_SHAPES: tuple[tuple[frozenset[str], Callable[[Parameters], Cost]], ...] = (
    (frozenset({"m", "n", "k"}), _product),
    (frozenset({"batch_size", "num_queries", "num_keys", "head_dim"}), _attention),
    (frozenset({"batch_size", "seq_len", "hidden_size"}), _gated),
    (frozenset({"m", "n"}), _rows),
)
# Extents that may be made smaller: what is left of their division by 64 decides which paths of a kernel run, and stays.
_EXTENTS = ("m", "n", "k", "num_keys", "num_queries", "hidden_size", "seq_len", "intermediate_size")
_KEPT_REMAINDER = 64
_CAPS = (1024, 512, 256, 128, 64)
_SCALED_SECONDS = 2.0


def parameters_of(item: pytest.Item) -> Parameters:
    """The parameters of a test case by name."""
    parameters: Parameters = getattr(getattr(item, "callspec", None), "params", {})
    return parameters


def cost_of(parameters: Parameters) -> Cost | None:
    """The cost of a test case; None where its parameters say nothing about shapes."""
    for names, estimate in _SHAPES:
        if names <= parameters.keys() and all(isinstance(parameters[name], int) for name in names):
            try:
                return estimate(parameters)
            except (KeyError, TypeError):
                return None
    return None


@dataclasses.dataclass(frozen=True)
class Budget:
    """Limits of one case: seconds, bytes; and how fast this machine is."""

    seconds: float
    peak_bytes: float
    speed: Speed = dataclasses.field(default_factory=Speed)

    @classmethod
    def of_this_machine(cls, seconds: float, workers: int) -> Budget:
        """Three quarters of the memory that is available, divided among the workers."""
        return cls(seconds, _available_bytes() * _SHARE_OF_MEMORY / max(workers, 1))

    def refusal(self, item: pytest.Item) -> str | None:
        """Why a case is not run, with the estimate; None where it fits."""
        found = self._estimate(item, parameters_of(item))
        if found is None:
            return None
        seconds, peak = found
        if seconds <= self.seconds and peak <= self.peak_bytes:
            return None
        return (
            f"too large for the CPU device: estimated {seconds:.0f} s and {peak / 1e9:.1f} GB, "
            f"limits {self.seconds:.0f} s and {self.peak_bytes / 1e9:.1f} GB"
        )

    def fits(self, item: pytest.Item, parameters: Parameters, seconds: float) -> bool:
        """Whether the case would take less than that with other parameters."""
        found = self._estimate(item, parameters)
        return found is not None and found[0] <= min(seconds, self.seconds) and found[1] <= self.peak_bytes

    def _estimate(self, item: pytest.Item, parameters: Parameters) -> tuple[float, float] | None:
        """Seconds and bytes of a whole case."""
        cost = cost_of(parameters)
        if cost is None:
            return None
        timed = "perf" in item.name.partition("[")[0]
        compared = not timed or cost.kept_bytes is None
        peak = _BASE_BYTES + (cost.peak_bytes if compared or cost.kept_bytes is None else cost.kept_bytes)
        seconds = cost.inputs * _SECONDS_PER_INPUT_ELEMENT
        seconds += cost.elements * _SECONDS_PER_COMPARED_ELEMENT * compared
        calls = (_TIMED_CALLS, 1 * compared) if timed else (_WITH_GRADIENTS, _WITH_GRADIENTS)
        return seconds + self.speed.seconds(cost.operations, cost.elements + cost.inputs, calls, parameters), peak


def scaled_down(item: pytest.Item, budget: Budget) -> dict[str, int] | None:
    """Smaller extents with which a case takes a moment, by name; None where there are none.

    The largest values below a cap that leave the same remainder: multiples of a tile stay multiples.
    """
    parameters = parameters_of(item)
    for cap in _CAPS:
        smaller = {
            name: cap - (cap - value) % _KEPT_REMAINDER
            for name, value in parameters.items()
            if name in _EXTENTS and isinstance(value, int) and value > cap
        }
        smaller = {name: value for name, value in smaller.items() if value > 0}
        if smaller and budget.fits(item, {**parameters, **smaller}, _SCALED_SECONDS):
            return smaller
    return None


def _available_bytes() -> float:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024.0
    except (OSError, ValueError, IndexError):
        pass
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES"))
