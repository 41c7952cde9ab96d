"""What an elementwise case is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from tile_program import Builder, Value

from cpu_ops.formats import Array, binary_inputs, unary_inputs

ROUNDED_ONCE = "float64, rounded once"

Write = Callable[[Builder, Sequence[Value]], Value]


@dataclass
class Case:
    """`write` maps tiles of the inputs' types to a tile of `result`, of the same shape. `inputs` and `expected` are
    made when they are needed. `ulp`: 0 for the oracle's bits."""

    op: str
    element: str
    write: Write
    inputs: Callable[[], Sequence[Array]]
    expected: Callable[..., Array]
    elements: tuple[str, ...]
    result: str
    oracle: str
    variant: str = ""
    ulp: float = 0

    @property
    def name(self) -> str:
        return "-".join(part for part in (self.op, self.element, self.variant) if part)


def apply(op: str, result: str | None = None, **attributes: object) -> Write:
    def write(k: Builder, tiles: Sequence[Value]) -> Value:
        tile = tiles[0].tile if result is None else tiles[0].tile.like(result)
        return k.op(op, *tiles, result=tile, **attributes)

    return write


def elementwise(
    op: str,
    element: str,
    expected: Callable[..., Array],
    *,
    operands: int = 2,
    result: str | None = None,
    oracle: str,
    inputs: Callable[[], Sequence[Array]] | None = None,
    variant: str = "",
    ulp: float = 0,
    **attributes: object,
) -> Case:
    def default() -> Sequence[Array]:
        return binary_inputs(element) if operands == 2 else [unary_inputs(element)]

    to = result or element
    write = apply(op, result, **attributes)
    return Case(op, element, write, inputs or default, expected, (element,) * operands, to, oracle, variant, ulp)


def unsigned(values: Array) -> Array:
    return values.view(np.dtype(f"u{values.dtype.itemsize}"))


PREDICATES = ("equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal")
COMPARE: tuple[Callable[[Array, Array], Array], ...] = (
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
)  # fmt: skip
