"""Types of the cuda_tile dialect: read from text, written as rows of the bytecode's type section."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

ELEMENTS = {
    "i1": 0,
    "i8": 1,
    "i16": 2,
    "i32": 3,
    "i64": 4,
    "f16": 5,
    "bf16": 6,
    "f32": 7,
    "tf32": 8,
    "f64": 9,
    "f8E4M3FN": 10,
    "f8E5M2": 11,
    "f8E8M0FNU": 18,
    "f4E2M1FN": 19,
    "i4": 22,
}
BITS = {"tf32": 19, "bf16": 16}
PADDINGS = ("zero", "neg_zero", "nan", "pos_inf", "neg_inf")
VIEWS = ("partition_view", "strided_view", "gather_scatter_view")
TAGS = {"partition_view": 15, "strided_view": 21, "gather_scatter_view": 20}
DYNAMIC = -(2**63)


class NotInBytecode(Exception):
    """The text says something that has no place in bytecode."""


@dataclass(frozen=True)
class Type:
    """A type; fields that a kind does not use keep their defaults."""

    kind: str
    element: Type | str = ""
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    padding: str | None = None
    tensor: Type | None = None
    dims: tuple[int, ...] | None = None
    sparse_dim: int = 0


class Scanner:
    """A cursor over text; white space and comments are skipped before every read."""

    def __init__(self, text: str) -> None:
        self.text = re.sub(r"//[^\n]*", "", text)
        self.at = 0

    def rest(self) -> str:
        self.at = len(self.text) - len(self.text[self.at :].lstrip())
        return self.text[self.at :]

    def match(self, pattern: str) -> re.Match[str] | None:
        found = re.match(pattern, self.rest())
        if found:
            self.at += found.end()
        return found

    def take(self, pattern: str, what: str = "") -> str:
        found = self.match(pattern)
        if not found:
            raise NotInBytecode(f"wanted {what or pattern}, got {self.rest()[:30]!r}")
        return found[0]

    def looking_at(self, pattern: str) -> bool:
        return re.match(pattern, self.rest()) is not None

    def literal(self, text: str) -> bool:
        """Takes a literal; a word must end where it ends."""
        end = r"(?![\w$])" if re.search(r"\w$", text) else ""
        return self.match(re.escape(text) + end) is not None

    def expect(self, text: str) -> None:
        if not self.literal(text):
            raise NotInBytecode(f"wanted {text!r}, got {self.rest()[:30]!r}")

    def numbers(self) -> tuple[int, ...]:
        """A list in square brackets; `?` is dynamic."""
        self.expect("[")
        out = []
        while not self.literal("]"):
            found = self.take(r"\?|-?\d+", "a number")
            if found != "?" and int(found) == DYNAMIC:
                raise NotInBytecode("the number that stands for ? in bytecode")
            out.append(DYNAMIC if found == "?" else int(found))
            if not self.looking_at(r"\]"):
                self.expect(",")
        return tuple(out)

    def balanced(self, stop: str) -> str:
        """Text up to one of the characters of `stop` outside brackets and strings."""
        depth, start, quoted = 0, self.at, False
        while self.at < len(self.text):
            c = self.text[self.at]
            quoted ^= c == '"'
            if not quoted and depth == 0 and c in stop:
                break
            depth += (c in "<([{") - (c in ")]}" or (c == ">" and self.text[self.at - 1] != "-")) if not quoted else 0
            self.at += 1
        return self.text[start : self.at].strip()


def shape(scan: Scanner) -> tuple[int, ...]:
    """Extents before an element type: `4x?x`."""
    out = []
    while found := scan.match(r"(\?|\d+)x"):
        out.append(DYNAMIC if found[1] == "?" else int(found[1]))
    return tuple(out)


def parse_view(scan: Scanner, kind: str) -> Type:
    scan.expect("tile")
    scan.expect("=")
    extents = tuple(map(int, filter(None, scan.take(r"\([\dx]*\)", "a tile shape")[1:-1].split("x"))))
    scan.expect(",")
    strides: tuple[int, ...] = ()
    if kind == "strided_view":
        scan.expect("traversal_strides")
        scan.expect("=")
        strides = scan.numbers()
        scan.expect(",")
    padding = None
    if scan.literal("padding_value"):
        scan.expect("=")
        padding = scan.take(r"\w+")
        scan.expect(",")
    tensor = parse_type(scan)
    dims, sparse_dim = None, 0
    if scan.literal(","):
        if kind == "gather_scatter_view":
            scan.expect("sparse_dim")
            scan.expect("=")
            sparse_dim = int(scan.take(r"\d+"))
        else:
            scan.expect("dim_map")
            scan.expect("=")
            dims = scan.numbers()
    if dims is None and kind != "gather_scatter_view":
        dims = tuple(range(len(extents)))
    return Type(kind, "", extents, strides, padding, tensor, dims, sparse_dim)


def parse_type(scan: Scanner) -> Type:
    """One type, with or without the dialect's prefix."""
    scan.match(r"!cuda_tile\.")
    name = scan.take(r"[A-Za-z_]\w*", "a type")
    if name == "token":
        return Type("token")
    if name not in ("tile", "ptr", "tensor_view", *VIEWS):
        if name not in ELEMENTS or scan.looking_at("<"):
            raise NotInBytecode(f"there is no type {name} in bytecode")
        return Type("element", name)
    scan.expect("<")
    if name == "ptr":
        out = Type("ptr", parse_type(scan))
    elif name in VIEWS:
        out = parse_view(scan, name)
    else:
        extents = shape(scan)
        element = parse_type(scan)
        strides: tuple[int, ...] = ()
        if name == "tensor_view" and scan.literal(","):
            scan.expect("strides")
            scan.expect("=")
            strides = scan.numbers()
        elif name == "tensor_view" and extents:
            raise NotInBytecode("wanted strides")
        if name == "tensor_view" and not extents and scan.text[: scan.at].rstrip().endswith("]"):
            raise NotInBytecode("a tensor_view of rank 0 has no strides in text")
        if name == "tile" and DYNAMIC in extents:
            raise NotInBytecode("tiles have static shapes")
        out = Type(name, element, extents, strides)
    scan.expect(">")
    return out


def parse_types(scan: Scanner) -> list[Type]:
    out = [parse_type(scan)]
    while scan.literal(","):
        out.append(parse_type(scan))
    return out


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def fixed(numbers: tuple[int, ...], width: int) -> bytes:
    """A length and that many numbers of `width` bytes."""
    if any(number >= 2 ** (8 * width - 1) for number in numbers):
        raise NotInBytecode(f"a number has more than {width} bytes")
    return varint(len(numbers)) + b"".join(number.to_bytes(width, "little", signed=True) for number in numbers)


@dataclass
class TypeTable:
    """Rows of the type section, each once."""

    rows: list[bytes] = field(default_factory=list)

    def row(self, entry: bytes) -> int:
        if entry not in self.rows:
            self.rows.append(entry)
        return self.rows.index(entry)

    def function(self, inputs: list[Type], results: list[Type]) -> int:
        lists = (varint(len(items)) + b"".join(varint(self.index(of)) for of in items) for items in (inputs, results))
        return self.row(b"\x10" + b"".join(lists))

    def index(self, of: Type) -> int:
        if of.kind == "element":
            return self.row(varint(ELEMENTS[str(of.element)]))
        if of.kind == "token":
            return self.row(b"\x11")
        if of.kind in VIEWS:
            return self.row(self.view(of))
        assert isinstance(of.element, Type)
        element = varint(self.index(of.element))
        if of.kind == "ptr":
            return self.row(b"\x0c" + element)
        if of.kind == "tile":
            return self.row(b"\x0d" + element + fixed(of.shape, 8))
        return self.row(b"\x0e" + element + fixed(of.shape, 8) + fixed(of.strides, 8))

    def view(self, of: Type) -> bytes:
        assert of.tensor is not None
        if of.tensor.kind != "tensor_view":
            raise NotInBytecode("wanted a view of a tensor_view")
        if of.padding is not None and of.padding not in PADDINGS:
            raise NotInBytecode(f"there is no padding {of.padding}")
        out = varint(TAGS[of.kind]) + varint(of.padding is not None) + fixed(of.shape, 4)
        if of.kind == "strided_view":
            out += fixed(of.strides, 4)
        out += varint(self.index(of.tensor))
        out += varint(of.sparse_dim) if of.kind == "gather_scatter_view" else fixed(of.dims or (), 4)
        return out + (varint(PADDINGS.index(of.padding)) if of.padding else b"")
