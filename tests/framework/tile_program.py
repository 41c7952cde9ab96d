"""Writes Tile IR bytecode operation by operation, from the operation table of `csrc/tile_ir`.

For tests that need modules no producer would write: every operation, type and attribute can be put in. A value knows
its type; groups of operands are given in the order of `opcodes.def`, an absent optional one as None.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
DYNAMIC = -(2**63)

ELEMENT_TAGS = {
    "i1": 0, "i8": 1, "i16": 2, "i32": 3, "i64": 4, "f16": 5, "bf16": 6, "f32": 7, "tf32": 8, "f64": 9,
    "f8E4M3FN": 10, "f8E5M2": 11, "f8E8M0FNU": 18, "f4E2M1FN": 19, "i4": 22,
}  # fmt: skip
PADDINGS = {"zero": 0, "neg_zero": 1, "nan": 2, "pos_inf": 3, "neg_inf": 4}


@dataclass(frozen=True)
class Tile:
    """A tile of numbers, or of pointers to them."""

    element: str
    shape: tuple[int, ...] = ()
    pointers: bool = False

    def like(self, element: str) -> Tile:
        return Tile(element, self.shape)

    def shaped(self, *shape: int) -> Tile:
        return Tile(self.element, shape, self.pointers)


@dataclass(frozen=True)
class TensorView:
    element: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class TileView:
    """kind: partition, strided or gather_scatter."""

    tensor: TensorView
    tile: tuple[int, ...]
    kind: str = "partition"
    dim_map: tuple[int, ...] | None = None
    padding: str | None = None
    steps: tuple[int, ...] = ()
    sparse_dim: int = 0


@dataclass(frozen=True)
class Token:
    pass


Type = Tile | TensorView | TileView | Token


@dataclass(frozen=True)
class Value:
    number: int
    type: Type

    @property
    def tile(self) -> Tile:
        assert isinstance(self.type, Tile)
        return self.type


def pointer(element: str, *shape: int) -> Tile:
    return Tile(element, shape, pointers=True)


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def zigzag(bits: int) -> bytes:
    signed = bits - 2**64 if bits >= 2**63 else bits
    return varint(((signed << 1) ^ (signed >> 63)) & (2**64 - 1))


def _numbers(values: Sequence[int], code: str) -> bytes:
    return varint(len(values)) + struct.pack(f"<{len(values)}{code}", *values)


@dataclass(frozen=True)
class _Part:
    """An attribute or operand group of an operation: presence or arity, name and first minor version."""

    kind: str
    name: str
    since: int = 1


@dataclass(frozen=True)
class _Spec:
    code: int
    results: str
    results_since: int
    attributes: tuple[_Part, ...]
    operands: tuple[_Part, ...]
    regions: tuple[_Part, ...]


def _parts(column: str) -> tuple[_Part, ...]:
    found = re.findall(r'(\w+)\("?(\w+)"?(?:, (\d+))?(?:, \d+)?\)', column)
    return tuple(_Part(kind, name, int(since or 1)) for kind, name, since in found)


def _read_table() -> dict[str, _Spec]:
    text = re.sub(r"//.*", "", (ROOT / "csrc/tile_ir/opcodes.def").read_text())
    nested = r"\(((?:[^()]|\([^()]*\))*)\)"
    row = re.compile(
        rf'TILE_IR_OP\(\w+, "(\w+)", (0x\w+), \d+, (\w+)\((\d*)(?:, (\d+))?\),\s*{nested},\s*{nested},\s*{nested}\)'
    )
    return {
        name: _Spec(int(code, 16), kind + count, int(since or 1), _parts(attrs), _parts(operands), _parts(regions))
        for name, code, kind, count, since, attrs, operands, regions in row.findall(text)
    }


OPERATIONS = _read_table()
ENCODINGS = dict(re.findall(r"^TILE_IR_ATTR\((\w+), (\w+),", (ROOT / "csrc/tile_ir/attributes.def").read_text(), re.M))

Operand = Value | Sequence[Value] | None
Body = Callable[..., None]


@dataclass
class Region:
    """A block with arguments of the given types; `write` gets them and emits the operations."""

    types: Sequence[Type]
    write: Body


@dataclass
class Program:
    """One module. Entries are written with the builder that `entry` returns, in one go each."""

    minor: int = 3
    _strings: dict[bytes, int] = field(default_factory=dict)
    _types: dict[bytes, int] = field(default_factory=dict)
    _constants: dict[bytes, int] = field(default_factory=dict)
    _functions: list[tuple[str, int, Builder]] = field(default_factory=list)
    _globals: list[bytes] = field(default_factory=list)

    def entry(self, name: str, parameters: Sequence[Type]) -> Builder:
        builder = Builder(self)
        builder.arguments = [builder.define(t) for t in parameters]
        signature = varint(16) + varint(len(parameters)) + b"".join(varint(self.type_id(t)) for t in parameters)
        self._functions.append((name, self._intern(self._types, signature + varint(0)), builder))
        return builder

    def add_global(self, name: str, tile: Tile, data: bytes, alignment: int = 0) -> None:
        fields = [self.string(name), self.type_id(tile), self.constant(data), alignment]
        later = [0, 0] if self.minor >= 3 else []
        self._globals.append(b"".join(varint(n) for n in fields + later))

    @staticmethod
    def _intern(table: dict[bytes, int], entry: bytes) -> int:
        return table.setdefault(entry, len(table))

    def string(self, text: str) -> int:
        return self._intern(self._strings, text.encode())

    def constant(self, data: bytes) -> int:
        return self._intern(self._constants, varint(len(data)) + data)

    def element_id(self, element: str, pointers: bool = False) -> int:
        plain = self._intern(self._types, varint(ELEMENT_TAGS[element]))
        return self._intern(self._types, varint(12) + varint(plain)) if pointers else plain

    def type_id(self, t: Type) -> int:
        if isinstance(t, Token):
            return self._intern(self._types, varint(17))
        if isinstance(t, Tile):
            entry = varint(13) + varint(self.element_id(t.element, t.pointers)) + _numbers(t.shape, "q")
        elif isinstance(t, TensorView):
            entry = varint(14) + varint(self.element_id(t.element)) + _numbers(t.shape, "q") + _numbers(t.strides, "q")
        else:
            entry = self._view(t)
        return self._intern(self._types, entry)

    def _view(self, t: TileView) -> bytes:
        tensor = varint(self.type_id(t.tensor))
        flag = bytes([t.padding is not None])
        padding = bytes([PADDINGS[t.padding]]) if t.padding is not None else b""
        tile = _numbers(t.tile, "i")
        dims = _numbers(t.dim_map or range(len(t.tile)), "i")
        if t.kind == "gather_scatter":
            return varint(20) + flag + tile + tensor + varint(t.sparse_dim) + padding
        if t.kind == "strided":
            return varint(21) + flag + tile + _numbers(t.steps, "i") + tensor + dims + padding
        if self.minor < 3:
            return varint(15) + tile + tensor + dims + flag + padding
        return varint(15) + flag + tile + tensor + dims + padding

    def encode(self) -> bytes:
        functions = varint(len(self._functions))
        for name, signature, builder in self._functions:
            body = bytes(builder.code)
            functions += varint(self.string(name)) + varint(signature) + b"\x02" + varint(0) + varint(len(body)) + body
        sections = [(2, 8, functions)]
        if self._globals:
            sections.append((6, 1, varint(len(self._globals)) + b"".join(self._globals)))
        sections += [
            (4, 8, _table(self._constants, 8)),
            (5, 4, _table(self._types, 4)),
            (1, 4, _table(self._strings, 4)),
        ]
        out = bytearray(b"\x7fTileIR\x00" + bytes([13, self.minor, 0, 0]))
        for number, alignment, payload in sections:
            out += bytes([number | (0x80 if alignment > 1 else 0)]) + varint(len(payload))
            if alignment > 1:
                out += varint(alignment)
                out += b"\xcb" * (-len(out) % alignment)
            out += payload
        return bytes(out) + b"\x00"


def _table(entries: Mapping[bytes, int], width: int) -> bytes:
    out = bytearray(varint(len(entries)))
    out += b"\xcb" * (-len(out) % width)
    offset = 0
    for entry in entries:
        out += offset.to_bytes(width, "little")
        offset += len(entry)
    return bytes(out) + b"".join(entries)


class Builder:
    """Emits the operations of one entry."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.code = bytearray()
        self.arguments: list[Value] = []
        self._next = 0
        self._count = 0

    def define(self, t: Type) -> Value:
        self._next += 1
        return Value(self._next - 1, t)

    def emit(
        self,
        name: str,
        operands: Sequence[Operand] = (),
        results: Sequence[Type] = (),
        attributes: Mapping[str, object] | None = None,
        regions: Sequence[Region | None] = (),
    ) -> list[Value]:
        """Appends an operation and returns its results."""
        spec, minor, given = OPERATIONS[name], self.program.minor, dict(attributes or {})
        groups = [[] if g is None else [g] if isinstance(g, Value) else list(g) for g in operands]
        groups += [[] for _ in range(len(spec.operands) - len(groups))]
        arities = [group.kind for group in spec.operands]
        if minor < spec.results_since:
            results = ()
        self.code += varint(spec.code)
        if spec.results.startswith("any") or "any" in arities:
            self.code += varint(len(results))
        self.code += b"".join(varint(self.program.type_id(t)) for t in results)
        self._flags(spec, given, groups)
        for part in spec.attributes:
            if part.name in given and part.since <= minor and part.kind != "unit":
                self.code += self._attribute(part.name, given[part.name], has_result=bool(results))
        segmented = "maybe" in arities or arities.count("any") > 1
        if not segmented and "any" in arities:
            self.code += varint(sum(map(len, groups)))
        for part, group in zip(spec.operands, groups, strict=True):
            if segmented and part.kind == "any":
                self.code += varint(len(group))
            self.code += b"".join(varint(value.number) for value in group)
        self._regions(spec, regions)
        self._count += 1
        return [self.define(t) for t in results]

    def _flags(self, spec: _Spec, given: Mapping[str, object], groups: Sequence[Sequence[Value]]) -> None:
        minor = self.program.minor
        bits = [p.name in given and given[p.name] is not False for p in spec.attributes
                if p.kind in ("optional", "unit") and p.since <= minor]  # fmt: skip
        bits += [len(g) > 0 for p, g in zip(spec.operands, groups, strict=True)
                 if p.kind == "maybe" and p.since <= minor]  # fmt: skip
        if bits:
            self.code += varint(sum(bit << i for i, bit in enumerate(bits)))

    def _attribute(self, name: str, value: object, has_result: bool) -> bytes:
        program, encoding = self.program, ENCODINGS[name]
        if encoding in ("number", "boolean"):
            assert isinstance(value, int)
            return varint(value)
        if encoding == "string":
            return varint(program.string(str(value)))
        if encoding == "i32_array":
            assert isinstance(value, Sequence)
            return _numbers(value, "i")
        if encoding == "dense":
            assert isinstance(value, bytes)
            assert has_result
            return varint(program.constant(value))
        if encoding == "array":
            assert isinstance(value, Sequence)
            return varint(len(value)) + b"".join(self._number(element, bits) for element, bits in value)
        assert isinstance(value, bytes)
        return value

    def _number(self, element: str, bits: int) -> bytes:
        """A tagged integer or float."""
        kind = varint(self.program.element_id(element))
        if element.startswith("i"):
            return b"\x01" + kind + varint(bits)
        narrow = element.startswith(("f8", "f4"))
        return b"\x02" + kind + (bytes([bits]) if narrow else zigzag(bits))

    def _regions(self, spec: _Spec, regions: Sequence[Region | None]) -> None:
        if not spec.regions:
            return
        self.code += varint(len(spec.regions))
        for region in [*regions, *[None] * (len(spec.regions) - len(regions))]:
            if region is None:
                self.code += varint(0)
                continue
            self.code += varint(1) + varint(len(region.types))
            self.code += b"".join(varint(self.program.type_id(t)) for t in region.types)
            outer, count, first = self.code, self._count, self._next
            self.code, self._count = bytearray(), 0
            region.write(*[self.define(t) for t in region.types])
            outer += varint(self._count) + self.code
            self.code, self._count, self._next = outer, count, first

    # Short forms

    def op(self, name: str, *operands: Operand, result: Type | None = None, **attributes: object) -> Value:
        """An operation with one result, of the first operand's type where none is given."""
        if result is None:
            first = operands[0]
            assert isinstance(first, Value)
            result = first.type
        return self.emit(name, operands, [result], attributes)[0]

    def constant(self, tile: Tile, data: bytes) -> Value:
        return self.emit("constant", (), [tile], {"value": data})[0]

    def integer(self, value: int, element: str = "i32", shape: tuple[int, ...] = ()) -> Value:
        width = {"i1": 1, "i4": 1}.get(element) or int(element[1:]) // 8
        return self.constant(Tile(element, shape), (value & (2 ** (8 * width) - 1)).to_bytes(width, "little"))

    def splat(self, scalar: Value, *shape: int) -> Value:
        one = self.op("reshape", scalar, result=scalar.tile.shaped(*[1] * len(shape)))
        return self.op("broadcast", one, result=scalar.tile.shaped(*shape))

    def iota(self, count: int, element: str = "i32") -> Value:
        return self.emit("iota", (), [Tile(element, (count,))])[0]

    def addresses(self, base: Value, shape: tuple[int, ...]) -> Value:
        """Pointers to `shape` contiguous elements from `base`, a scalar pointer."""
        count = 1
        for extent in shape:
            count *= extent
        index = self.op("reshape", self.iota(count), result=Tile("i32", shape))
        return self.op("offset", self.splat(base, *shape), index)

    def load(self, pointers: Value, mask: Value | None = None, padding: Value | None = None) -> Value:
        tile = Tile(pointers.tile.element, pointers.tile.shape)
        operands = (pointers, mask, padding, None)
        return self.emit("load_ptr_tko", operands, [tile, Token()], {"memory_ordering_semantics": 0})[0]

    def store(self, pointers: Value, value: Value, mask: Value | None = None) -> None:
        operands = (pointers, value, mask, None)
        self.emit("store_ptr_tko", operands, [Token()], {"memory_ordering_semantics": 0})

    def load_all(self, base: Value, *shape: int) -> Value:
        return self.load(self.addresses(base, shape))

    def store_all(self, base: Value, value: Value) -> None:
        self.store(self.addresses(base, value.tile.shape), value)

    def finish(self) -> None:
        self.emit("return")
