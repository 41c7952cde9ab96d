"""Debug information: aliases and locations in text, the rows of the bytecode's debug section."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ir_types import NotInBytecode, Scanner, varint

# Tag and fields of each kind, in the order of the bytecode: another row, a text, or a number.
KINDS: dict[str, tuple[int, tuple[tuple[str, str], ...]]] = {
    "di_compile_unit": (1, (("file", "row"),)),
    "di_file": (2, (("name", "text"), ("directory", "text"))),
    "di_lexical_block": (3, (("scope", "row"), ("file", "row"), ("line", "number"), ("column", "number"))),
    "di_loc": (4, (("scope", "row"), ("name", "text"), ("line", "number"), ("column", "number"))),
    "di_subprogram": (
        5,
        (
            *(("file", "row"), ("line", "number"), ("name", "text"), ("linkageName", "text")),
            *(("compileUnit", "row"), ("scopeLine", "number")),
        ),
    ),
    "call_site": (6, (("callee", "row"), ("caller", "row"))),
}
FILE_POSITION = r'"([^"]*)":(\d+):(\d+)'


@dataclass(frozen=True)
class Info:
    """One row; `kind` "unknown" is the location without a scope."""

    kind: str
    fields: tuple[tuple[str, Any], ...] = ()


UNKNOWN = Info("unknown")


class DebugText:
    """A part of ir_text.Reader: aliases `#name = …` and what stands after `loc`."""

    scan: Scanner
    aliases: dict[str, Info]

    def alias(self) -> None:
        name = self.scan.take(r"#[\w$.-]+")
        self.scan.expect("=")
        self.aliases[name] = self.info()

    def info(self) -> Info:
        if found := self.scan.match(r"#cuda_tile\.(di_\w+)<"):
            return self.attribute_info(found[1])
        if self.scan.looking_at(r"loc\("):
            return self.location()
        name = self.scan.take(r"#[\w$.-]+", "debug information")
        if name not in self.aliases:
            raise NotInBytecode(f"{name} is not defined")
        return self.aliases[name]

    def attribute_info(self, kind: str) -> Info:
        if kind not in KINDS:
            raise NotInBytecode(f"there is no {kind}")
        fields: dict[str, Any] = {}
        if kind == "di_file":
            name, folder = self.scan.take(r'"[^"]*"\s+in\s+"[^"]*"', "a file").split('"')[1::2]
            fields = {"name": name, "directory": folder}
        elif kind == "di_loc":
            position = self.position()
            self.scan.expect("in")
            fields = {"scope": self.info(), **position}
        else:
            while not self.scan.looking_at(">"):
                word = self.scan.take(r"\w+", "a field")
                self.scan.expect("=")
                fields[word] = self.field()
                self.scan.match(",")
        self.scan.expect(">")
        if missing := [name for name, _ in KINDS[kind][1] if name not in fields]:
            raise NotInBytecode(f"{kind} has no {missing[0]}")
        return Info(kind, tuple(fields.items()))

    def field(self) -> Any:
        if self.scan.looking_at("#"):
            return self.info()
        found = self.scan.take(r'"[^"]*"|-?\d+', "a text or number")
        return found.strip('"') if found[0] == '"' else int(found)

    def position(self) -> dict[str, Any]:
        """The file position that a location wraps."""
        wrapped = self.info()
        if wrapped.kind != "position":
            raise NotInBytecode("a location has a position in a file")
        return dict(wrapped.fields)

    def location(self) -> Info:
        """What bytecode keeps of a location: wrappers give the first location with a scope."""
        self.scan.expect("loc")
        self.scan.expect("(")
        out = self.inner_location()
        self.scan.expect(")")
        return out

    def inner_location(self) -> Info:
        if found := self.scan.match(FILE_POSITION):
            fields = (("name", found[1]), ("line", int(found[2])), ("column", int(found[3])))
            return Info("position", fields)
        if self.scan.literal("unknown"):
            return UNKNOWN
        if self.scan.match(r"callsite\("):
            callee = self.inner_location()
            self.scan.expect("at")
            caller = self.inner_location()
            self.scan.expect(")")
            return Info("call_site", (("callee", callee), ("caller", caller)))
        if self.scan.match(r"fused\["):
            parts = [self.inner_location()]
            while self.scan.literal(","):
                parts.append(self.inner_location())
            self.scan.expect("]")
            return next((part for part in parts if part.kind in ("di_loc", "call_site")), UNKNOWN)
        if self.scan.match(r'"[^"]*"\('):
            out = self.inner_location()
            self.scan.expect(")")
            return out
        if self.scan.match(r'"[^"]*"'):
            return UNKNOWN
        return self.info()

    def trailing_location(self) -> Info:
        return self.location() if self.scan.looking_at(r"loc\s*\(") else UNKNOWN


@dataclass
class DebugSection:
    """Rows, and for each function the locations of itself and its operations."""

    rows: list[Info] = field(default_factory=list)
    functions: list[list[int]] = field(default_factory=list)

    def index(self, info: Info) -> int:
        """Index of a row; positions without a scope are unknown to bytecode."""
        if info.kind not in KINDS:
            return 0
        for _, value in info.fields:
            if isinstance(value, Info):
                self.index(value)
        if info not in self.rows:
            self.rows.append(info)
        return self.rows.index(info) + 1

    def row(self, info: Info, module: Any) -> bytes:
        tag, fields = KINDS[info.kind]
        values = dict(info.fields)
        out = varint(tag)
        for name, kind in fields:
            value = values.get(name, 0)
            if kind == "row":
                if not isinstance(value, Info):
                    raise NotInBytecode(f"{info.kind} has no {name}")
                out += varint(self.index(value))
            else:
                out += module.string(str(value)) if kind == "text" else varint(int(value))
        return out

    def payload(self, module: Any) -> bytes:
        rows = [self.row(info, module) for info in self.rows]
        starts = [sum(map(len, self.functions[:i])) for i in range(len(self.functions))]
        indices = [index for function in self.functions for index in function]
        out = pad(varint(len(starts)), 4) + b"".join(start.to_bytes(4, "little") for start in starts)
        out = pad(out + varint(len(indices)), 8) + b"".join(index.to_bytes(8, "little") for index in indices)
        out = pad(out + varint(len(rows)), 4)
        offsets = (sum(map(len, rows[:i])) for i in range(len(rows)))
        return out + b"".join(offset.to_bytes(4, "little") for offset in offsets) + b"".join(rows)


def pad(out: bytes, width: int) -> bytes:
    return out + b"\xcb" * (-len(out) % width)
