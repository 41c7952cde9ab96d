"""Writes bytecode 13.3 as csrc/tile_ir/opcodes.def describes it, right or wrong: nothing is checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ir_debug import UNKNOWN, DebugSection, Info
from ir_types import BITS, NotInBytecode, Type, TypeTable, fixed, varint

TABLES = Path(__file__).resolve().parents[2] / "csrc" / "tile_ir"


@dataclass(frozen=True)
class Row:
    """One row of opcodes.def: parts are (kind, name) in file order."""

    code: int
    results: str
    attributes: tuple[tuple[str, str], ...]
    operands: tuple[tuple[str, str], ...]
    regions: int

    @property
    def variadic(self) -> bool:
        return any(kind == "any" for kind, _ in self.operands)

    @property
    def segmented(self) -> bool:
        kinds = [kind for kind, _ in self.operands]
        return "maybe" in kinds or kinds.count("any") > 1


def read_rows() -> dict[str, Row]:
    text = "\n".join(
        line for line in (TABLES / "opcodes.def").read_text().splitlines() if not line.lstrip().startswith("//")
    )
    rows = {}
    pattern = r'TILE_IR_OP\(\w+, "(\w+)", (0x\w+), \d+, (\w+\([^)]*\)), \((.*?)\), \((.*?)\), \((.*?)\)\)$'
    for name, code, results, attributes, operands, regions in re.findall(
        pattern, re.sub(r"\s+", " ", text).replace(" TILE_IR_OP", "\nTILE_IR_OP"), re.M
    ):
        rows[name] = Row(
            int(code, 16),
            results,
            tuple((kind, word) for kind, word in re.findall(r"(required|added|optional|unit)\((\w+)", attributes)),
            tuple((kind, word) for kind, word in re.findall(r'(one|any|maybe)\("(\w+)"', operands)),
            len(re.findall(r"(?:one|maybe)\(", regions)),
        )
    return rows


ROWS = read_rows()
ENCODINGS: dict[str, str] = dict(
    re.findall(r"^TILE_IR_ATTR\((\w+), (\w+)", (TABLES / "attributes.def").read_text(), re.M)
)


class Value:
    """Something an operation defines; known by identity."""

    def __init__(self, of: Type) -> None:
        self.type = of


@dataclass
class Block:
    arguments: list[Value] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


@dataclass
class Operation:
    name: str
    groups: dict[str, list[Value]] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    regions: list[Block | None] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
    location: Info = UNKNOWN


@dataclass
class Entry:
    name: str
    parameters: list[Value]
    body: Block
    results: list[Type] = field(default_factory=list)
    hints: dict[str, Any] = field(default_factory=dict)
    location: Info = UNKNOWN


@dataclass(frozen=True)
class Number:
    """A number with its type, or a splat of it where the type is a tile."""

    type: Type


def zigzag(value: int) -> bytes:
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


class ModuleWriter:
    """One module; entries and globals are added, then `build` gives the bytes."""

    def __init__(self) -> None:
        self.types = TypeTable()
        self.debug = DebugSection()
        self.strings: list[bytes] = []
        self.constants: list[bytes] = []
        self.entries: list[bytes] = []
        self.globals: list[bytes] = []

    def string(self, text: str) -> bytes:
        data = text.encode()
        if data not in self.strings:
            self.strings.append(data)
        return varint(self.strings.index(data))

    def constant(self, of: Type) -> bytes:
        """A splat of zeros: values do not matter to the verifier."""
        element = of.element.element if isinstance(of.element, Type) else ""
        width = BITS.get(str(element), int(re.sub(r"\D.*", "", str(element)[1:]) or 8)) + 7
        self.constants.append(varint(width // 8) + bytes(width // 8))
        return varint(len(self.constants) - 1)

    def add_global(self, name: str, of: Type, alignment: int) -> None:
        row = self.string(name) + varint(self.types.index(of)) + self.constant(of) + varint(alignment)
        self.globals.append(row + b"\0\0")

    def add_entry(self, entry: Entry) -> None:
        inputs = self.types.function([value.type for value in entry.parameters], entry.results)
        writer = BodyWriter(self, list(entry.parameters), [self.debug.index(entry.location)])
        body = writer.operations(entry.body)
        self.debug.functions.append(writer.locations)
        hints = b"\x0b" + self.dictionary(entry.hints) if entry.hints else b""
        row = self.string(entry.name) + varint(inputs) + bytes([6 if hints else 2])
        row += varint(len(self.debug.functions) if any(writer.locations) else 0)
        self.entries.append(row + hints + varint(len(body)) + body)

    def dictionary(self, items: dict[str, Any]) -> bytes:
        return varint(len(items)) + b"".join(self.string(key) + self.tagged(value) for key, value in items.items())

    def tagged(self, value: Any) -> bytes:
        if isinstance(value, bool):
            return b"\x03" + bytes([value])
        if isinstance(value, int):
            return b"\x01" + varint(self.types.index(Type("element", "i64"))) + varint(value)
        if isinstance(value, str):
            return b"\x05" + self.string(value)
        if isinstance(value, dict):
            return b"\x0a" + self.dictionary(value)
        if isinstance(value, Number):
            floating = "f" in str(value.type.element)
            return bytes([2 if floating else 1]) + varint(self.types.index(value.type)) + b"\0"
        kind, *numbers = value
        if kind == "same_elements":
            return b"\x09" + fixed(tuple(numbers), 8)
        pair = b"".join(zigzag(number) for number in numbers[-2:] if number is not None)
        flags = bytes([(numbers[-2] is not None) + 2 * (numbers[-1] is not None)])
        return b"\x08" + varint(numbers[0]) + flags + pair if kind == "div_by" else b"\x0c" + flags + pair

    def build(self) -> bytes:
        """The module's bytes. Strings come last: other sections add to them."""
        lists = ((6, self.globals, 1), (2, self.entries, 8))
        payloads = [(i, varint(len(rows)) + b"".join(rows), width) for i, rows, width in lists if rows]
        if any(any(locations) for locations in self.debug.functions):
            payloads.append((3, self.debug.payload(self), 8))
        tables = ((4, self.constants, 8), (5, self.types.rows, 4), (1, self.strings, 4))
        payloads += [(i, table(rows, width), width) for i, rows, width in tables if rows]
        out = b"\x7fTileIR\0\x0d\x03\0\0"
        for identifier, payload, width in payloads:
            out += self.section(out, identifier, payload, width)
        return out + b"\0"

    @staticmethod
    def section(before: bytes, identifier: int, payload: bytes, alignment: int) -> bytes:
        if alignment == 1:
            return bytes([identifier]) + varint(len(payload)) + payload
        head = bytes([identifier | 0x80]) + varint(len(payload)) + bytes([alignment])
        return head + b"\xcb" * (-(len(before) + len(head)) % alignment) + payload


def table(rows: list[bytes], width: int) -> bytes:
    head = varint(len(rows))
    head += b"\xcb" * (-len(head) % width)
    starts = [sum(map(len, rows[:i])) for i in range(len(rows))]
    return head + b"".join(start.to_bytes(width, "little") for start in starts) + b"".join(rows)


class BodyWriter:
    """The operations of one function; values are numbered as they appear."""

    def __init__(self, module: ModuleWriter, values: list[Value], locations: list[int]) -> None:
        self.module = module
        self.values = values
        self.locations = locations

    def operations(self, block: Block) -> bytes:
        return b"".join(self.operation(operation) for operation in block.operations)

    def block(self, block: Block) -> bytes:
        outer = len(self.values)
        self.values += block.arguments
        head = varint(len(block.arguments)) + b"".join(varint(self.module.types.index(a.type)) for a in block.arguments)
        out = head + varint(len(block.operations)) + self.operations(block)
        del self.values[outer:]
        return out

    def operation(self, operation: Operation) -> bytes:
        row = ROWS[operation.name]
        self.locations.append(self.module.debug.index(operation.location))
        out = varint(row.code)
        if row.results.startswith("any") or row.variadic:
            out += varint(len(operation.results))
        out += b"".join(varint(self.module.types.index(result.type)) for result in operation.results)
        flagged = [name for kind, name in row.attributes if kind in ("optional", "unit")]
        present = [name in operation.attributes for name in flagged]
        present += [bool(operation.groups.get(name)) for kind, name in row.operands if kind == "maybe"]
        if present:
            out += varint(sum(bit << i for i, bit in enumerate(present)))
        for kind, name in row.attributes:
            if kind in ("required", "added") or name in operation.attributes:
                out += self.attribute(name, operation)
        out += self.operands(operation, row)
        if row.regions:
            out += varint(row.regions)
            for region in (*operation.regions, None, None)[: row.regions]:
                out += b"\0" if region is None else b"\x01" + self.block(region)
        self.values += operation.results
        return out

    def operands(self, operation: Operation, row: Row) -> bytes:
        out = b""
        if not row.segmented and row.variadic:
            out += varint(sum(len(values) for values in operation.groups.values()))
        for kind, name in row.operands:
            values = operation.groups.get(name, [])
            if row.segmented and kind == "any":
                out += varint(len(values))
            if kind == "one" and len(values) != 1:
                raise NotInBytecode(f"{operation.name} has one {name}, got {len(values)}")
            out += b"".join(varint(self.number(value)) for value in values)
        return out

    def number(self, value: Value) -> int:
        for index, known in enumerate(self.values):
            if known is value:
                return index
        raise NotInBytecode("the value is not defined there")

    def attribute(self, name: str, operation: Operation) -> bytes:
        value = operation.attributes.get(name, 0)
        encoding = ENCODINGS[name]
        module = self.module
        if encoding == "string":
            return module.string(str(value))
        if encoding == "dense":
            return module.constant(operation.results[0].type)
        if encoding == "hints":
            return module.dictionary(value)
        if encoding == "array":
            return varint(len(value)) + b"".join(module.tagged(item) for item in value)
        if encoding == "tagged":
            return module.tagged(value)
        if encoding == "i32_array":
            return fixed(tuple(value), 4)
        return b"" if encoding == "unit" else varint(int(value))
