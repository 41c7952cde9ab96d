"""An entry with its arguments and what they hold afterwards, and what such entries are built of."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from tile_program import DYNAMIC, Builder, Program, TensorView, Tile, TileView, Token, Value, pointer

from cpu_ops.formats import DTYPES, INTEGERS, Array, all_values, is_float

Build = Callable[..., None]
MEMORY = (*INTEGERS, "f16", "bf16", "f32", "tf32", "f64", "f8E4M3FN", "f8E5M2", "f8E8M0FNU")
SOME = ("i1", "i8", "f16", "f32", "i64")  # every size, and every kind of lane
ORDER = {"memory_ordering_semantics": 0}


@dataclass
class Kernel:
    """An entry over pointers to `arrays`; `expected` gives what some of them hold afterwards, the others stay as they
    are. `ops`: the operations that this is a test of."""

    ops: tuple[str, ...]
    element: str
    build: Build
    arrays: Sequence[tuple[str, Array]]
    expected: Mapping[int, Array]
    variant: str = ""
    oracle: str = "numpy"
    grid: tuple[int, ...] = (1,)
    ulp: float = 0
    prepare: Callable[[Program], None] | None = None

    @property
    def name(self) -> str:
        return "-".join(part for part in (self.ops[0], self.element, self.variant) if part)

    def encode(self) -> bytes:
        program = Program()
        if self.prepare is not None:
            self.prepare(program)
        k = program.entry("kernel", [pointer(e) for e, _ in self.arrays])
        self.build(k, *k.arguments)
        k.finish()
        return program.encode()


def zeros(element: str, *shape: int) -> tuple[str, Array]:
    return element, np.zeros(shape, DTYPES[element])


def ramp(element: str, *shape: int) -> Array:
    """Distinct, exactly representable values where the type has that many; small ones in any case."""
    count = int(np.prod(shape))
    if element == "i1":
        return (np.arange(count) % 3 == 0).reshape(shape)
    values = np.arange(count) % (100 if DTYPES[element].itemsize == 1 else 2000)
    if element in ("f8E4M3FN", "f8E5M2", "f8E8M0FNU"):
        return all_values(element)[values].reshape(shape)
    return values.astype(np.float32 if is_float(element) else np.int64).astype(DTYPES[element]).reshape(shape)


def bits_of(value: float, element: str) -> int:
    data = np.array([value]).astype(np.float64 if is_float(element) else np.int64).astype(DTYPES[element]).tobytes()
    return int.from_bytes(data, "little")


def constant(k: Builder, element: str, values: Array) -> Value:
    return k.constant(Tile(element, values.shape), dense(element, values))


def dense(element: str, values: Array) -> bytes:
    """Elements as constants hold them: i1 eight to a byte, tf32 in its 19 significant bits."""
    flat = np.ascontiguousarray(values).reshape(-1)
    if element == "i1" and flat.size > 1:
        return np.packbits(flat, bitorder="little").tobytes()
    if element == "tf32":
        return b"".join(struct.pack("<I", int(v) >> 13)[:3] for v in flat.view(np.uint32))
    if element == "i4":
        return bytes(int(v) & 15 for v in flat.astype(np.int8))
    return flat.tobytes()


def view_of(k: Builder, base: Value, shape: Sequence[int], tile: tuple[int, ...], **kind: object) -> Value:
    """A view of a row-major tensor whose extents and strides are known at run time only."""
    rank = len(shape)
    strides = [int(np.prod(shape[d + 1 :])) for d in range(rank)]
    tensor = TensorView(base.tile.element, (DYNAMIC,) * rank, (DYNAMIC,) * (rank - 1) + (1,))
    made = k.op("make_tensor_view", base, [k.integer(s) for s in shape], [k.integer(s) for s in strides[:-1]],
                result=tensor)  # fmt: skip
    view = TileView(tensor, tile, **kind)  # type: ignore[arg-type]
    op = {"partition": "make_partition_view", "strided": "make_strided_view"}.get(view.kind, "make_gather_scatter_view")
    return k.op(op, made, result=view)


def load_view(k: Builder, view: Value, *index: Value) -> Value:
    assert isinstance(view.type, TileView)
    tile = Tile(view.type.tensor.element, view.type.tile)
    return k.emit("load_view_tko", (view, index, None), [tile, Token()], ORDER)[0]


def store_view(k: Builder, tile: Value, view: Value, *index: Value) -> None:
    k.emit("store_view_tko", (tile, view, index, None), [Token()], ORDER)


def pack_nibbles(values: Array) -> Array:
    codes = np.ascontiguousarray(values).reshape(-1).view(np.uint8) & 15
    return (codes[0::2] | codes[1::2] << 4).view(np.int8)


def unpack_nibbles(data: Array, element: str) -> Array:
    codes = data.view(np.uint8)
    both = np.stack([codes & 15, codes >> 4], -1).reshape(-1)
    return both.view(DTYPES[element]) if element != "i4" else ((both.astype(np.int8) ^ 8) - 8).astype(np.int8)
