"""How fast this machine multiplies and moves: the CPU device and torch, each by the best of a few short runs."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

_SIZE = 512
_ROUNDS = 4
_ELEMENTS = 1 << 20
# Slower than any machine: what is cheap even there needs no measurement.
_SLOWEST_OPERATIONS = 2e9
_SLOWEST_ELEMENTS = 5e7


class Speed:
    """Seconds of work, measured where they matter."""

    def seconds(
        self, operations: float, elements: float, calls: tuple[int, int], parameters: Mapping[str, Any]
    ) -> float:
        """Of calls of the op and of its reference, each with so many operations of products or elements moved."""
        at_most = sum(calls) * (operations / _SLOWEST_OPERATIONS + elements / _SLOWEST_ELEMENTS)
        if at_most < 1.0:
            return at_most
        ours, theirs = calls
        engine, torch_ = products_per_second(_dtype_of(parameters))
        moved = sum(calls) * elements / elements_per_second()
        return operations * (ours / engine + theirs / torch_) + moved


def _dtype_of(parameters: Mapping[str, Any]) -> str:
    """float16 where the parameters name no dtype that is multiplied."""
    for value in parameters.values():
        name = str(value).removeprefix("torch.")
        if name in ("float32", "float16", "bfloat16"):
            return name
    return "float16"


@functools.cache
def products_per_second(dtype: str) -> tuple[float, float]:
    """Operations a second of a matrix product on the CPU device, and in torch."""
    import torch

    a, b, out = (torch.ones(_SIZE, _SIZE).to(getattr(torch, dtype)) for _ in range(3))
    operations = 2.0 * _SIZE**3
    theirs = operations / _best(lambda: torch.mm(a, b, out=out))
    try:
        return operations / _best(_engine_product(out, a, b)), theirs
    except (RuntimeError, AttributeError, ImportError):
        return theirs / 2, theirs  # without the kernel library its cases cannot run either


def _engine_product(out: Any, a: Any, b: Any) -> Callable[[], object]:
    from tilegym_rs.library import library

    tiles = (_SIZE // 128) ** 2
    arguments = {"bm": 128, "bn": 128, "bk": 64, "group_size_m": 8, "num_programs": tiles, "persistent": 0}
    return lambda: library().matmul(out, a, b, **arguments, allow_tf32=1)


@functools.cache
def elements_per_second() -> float:
    """Elements a second of elementwise work on both sides, by torch's."""
    import torch

    x = torch.ones(_ELEMENTS)
    return _ELEMENTS / _best(lambda: torch.sigmoid(x) * x)


def _best(call: Callable[[], object]) -> float:
    call()
    seconds = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return max(min(seconds), 1e-9)
