"""Modules with one kernel, made by the writer inside cuTile Python: as NVIDIA's tools write, of our choice."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from cuda.tile._bytecode import encodings as op
from cuda.tile._bytecode.debug_info import DebugAttrId
from cuda.tile._bytecode.type import SimpleType
from cuda.tile._bytecode.type_base import PtrAttr
from cuda.tile._bytecode.version import BytecodeVersion
from cuda.tile._bytecode.writer import write_bytecode

VERSIONS = {1: BytecodeVersion.V_13_1, 2: BytecodeVersion.V_13_2, 3: BytecodeVersion.V_13_3}
DYNAMIC = -(2**63)
Emit = Callable[["Kernel"], None]

INTEGERS = {"I1": 1, "I8": 8, "I16": 16, "I32": 32, "I64": 64}
FLOATS = {
    "F16": b"\x00\x3e",
    "BF16": b"\xc0\x3f",
    "F32": struct.pack("<f", 1.5),
    "TF32": b"\x00\xfe\x01",
    "F64": struct.pack("<d", 1.5),
    "F8E4M3FN": b"\x3c",
    "F8E5M2": b"\x3e",
    "F8E8M0FNU": b"\x80",
    "F4E2M1FN": b"\x03",
}


class Kernel:
    """The kernel under construction. Parameters: a pointer to f32, an i32, an i1 and a pointer to i32."""

    def __init__(self, writer: Any, builder: Any, parameters: Sequence[Any]) -> None:
        self.writer = writer
        self.minor: int = writer.version.minor()
        self.table = writer.type_table
        self.code = builder
        self.pointer, self.count, self.flag, self.integers = parameters
        self.token_type = self.table.Token
        self.i32 = self.tile("I32", [])

    @staticmethod
    def parameter_types(table: Any) -> list[Any]:
        pointers = [table.tile(table.pointer(t, PtrAttr.Missing), []) for t in (table.F32, table.I32)]
        return [pointers[0], table.tile(table.I32, []), table.tile(table.I1, []), pointers[1]]

    def element(self, name: str) -> Any:
        return self.table.simple(SimpleType[name])

    def tile(self, element: str, shape: Sequence[int]) -> Any:
        return self.table.tile(self.element(element), shape)

    def pointer_tile(self, element: str, shape: Sequence[int]) -> Any:
        return self.table.tile(self.table.pointer(self.element(element), PtrAttr.Missing), shape)

    def constant(self, element: str, shape: Sequence[int], data: bytes) -> Any:
        return op.encode_ConstantOp(self.code, self.tile(element, shape), data)

    def some(self, element: str, shape: Sequence[int] = (4, 8)) -> Any:
        """A constant of that type: 3, 1.5 or true."""
        if element == "I1":
            return self.constant(element, shape, b"\xff" if shape else b"\x01")
        if element in INTEGERS:
            return self.constant(element, shape, (3).to_bytes(INTEGERS[element] // 8, "little"))
        return self.constant(element, shape, FLOATS[element])

    def token(self) -> Any:
        return op.encode_MakeTokenOp(self.code, self.token_type)

    def pointers(self, element: str, shape: Sequence[int]) -> Any:
        base = self.pointer if element == "F32" else self.integers
        if element not in ("F32", "I32"):
            base = op.encode_PtrToPtrOp(self.code, self.pointer_tile(element, []), self.pointer)
        if not shape:
            return base
        one = op.encode_ReshapeOp(self.code, self.pointer_tile(element, [1] * len(shape)), base)
        return op.encode_BroadcastOp(self.code, self.pointer_tile(element, shape), one)


def module(emit: Emit, minor: int = 3, globals_: Callable[[Any], None] | None = None) -> bytes:
    """The bytes of a module whose kernel holds what `emit` adds, and returns."""
    buffer = bytearray()
    with write_bytecode(1, buffer, VERSIONS[minor]) as writer:
        if globals_ is not None:
            globals_(writer)
        parameters = Kernel.parameter_types(writer.type_table)
        with writer.function("kernel", parameters, [], True, {}, DebugAttrId(0)) as (builder, values):
            emit(Kernel(writer, builder, values))
            op.encode_ReturnOp(builder, [])
    return bytes(buffer)
