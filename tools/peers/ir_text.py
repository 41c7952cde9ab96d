"""Reads the textual cuda_tile dialect into operations, by the assembly formats that a checkout's Ops.td declares."""

from __future__ import annotations

import re
from typing import Any

from ir_attributes import Attributes
from ir_bytecode import ENCODINGS, ROWS, Block, Entry, ModuleWriter, Operation, Value
from ir_debug import DebugText, Info
from ir_format import DEFAULT_ROUNDINGS, ENUMS, NAME
from ir_special import SpecialOperations
from ir_types import NotInBytecode, Scanner, Type, parse_type, parse_types
from ir_values import Values

TERMINATORS = {"for": "continue", "if": "yield", "loop": "continue", "reduce": "yield", "scan": "yield"}
RENAMED = {"fpowf": "pow"}


class Reader(Values, Attributes, DebugText, SpecialOperations):
    """One case of a test file."""

    def __init__(self, text: str, formats: dict[str, list[Any]]) -> None:
        self.scan = Scanner(text)
        self.formats = formats
        self.scopes: list[dict[str, Value]] = []
        self.bodies: list[Block] = []
        self.module = ModuleWriter()
        self.entries: list[Entry] = []
        self.aliases: dict[str, Info] = {}

    def read(self) -> bytes:
        """Bytecode of the case; operations outside a function go into an entry of their own."""
        loose = Entry("loose", [], Block())
        self.open(loose.body)
        while self.scan.rest():
            self.operation()
        self.close("return")
        if len(loose.body.operations) > 1 or not self.entries:
            self.entries.append(loose)
        for entry in self.entries:
            self.module.add_entry(entry)
        return self.module.build()

    def operation(self) -> None:
        if self.scan.looking_at("#"):
            self.alias()
            return
        start = self.scan.at
        names: list[tuple[str, int]] = []
        if self.scan.looking_at("%"):
            while True:
                name = self.value_name()
                many = self.scan.match(r":(\d+)")
                names.append((name, int(many[1]) if many else 1))
                if not self.scan.literal(","):
                    break
            self.scan.expect("=")
        if generic := self.scan.match(r'"([\w$.]+)"'):
            results = self.generic(generic[1])
        else:
            name = self.scan.take(NAME, "an operation").removeprefix("cuda_tile.")
            results = self.custom(RENAMED.get(name, name))
        self.bind(names, results)
        written = self.scan.text[start:].lstrip()
        self.place(self.trailing_location(), has_row=not re.match(r'(cuda_tile\.)?global\b|"(?!cuda_tile\.)', written))

    def place(self, location: Info, has_row: bool) -> None:
        """Gives a location to what was read last: the function behind its body, else the operation."""
        if location.kind not in ("di_loc", "call_site"):
            return
        if not has_row:
            raise NotInBytecode("globals and operations of other dialects have no location in bytecode")
        if self.bodies[-1].operations:
            self.bodies[-1].operations[-1].location = location
        elif self.entries:
            self.entries[-1].location = location

    def bind(self, names: list[tuple[str, int]], results: list[Value]) -> None:
        if names and sum(count for _, count in names) != len(results):
            raise NotInBytecode(f"{len(results)} results for {len(names)} names")
        rest = list(results)
        for name, count in names:
            taken, rest = rest[:count], rest[count:]
            self.scopes[-1][name] = taken[0]
            self.scopes[-1].update({f"{name}#{i}": value for i, value in enumerate(taken)})

    def custom(self, name: str) -> list[Value]:
        special = getattr(self, "op_" + name.replace("$", "_"), None)
        if special is not None:
            out: list[Value] = special()
            return out
        if name not in self.formats or name not in ROWS:
            raise NotInBytecode(f"there is no operation {name}")
        operation = Operation(name, {word: [] for _, word in ROWS[name].operands})
        types: dict[str, list[Type]] = {}
        for element in self.formats[name]:
            self.element(element, operation, types)
        return self.finish(operation, types)

    def finish(self, operation: Operation, types: dict[str, list[Type]]) -> list[Value]:
        row = ROWS[operation.name]
        operands = [word for _, word in row.operands]
        declared = [of for word, items in types.items() if word not in operands for of in items]
        count = int(row.results[6]) if row.results.startswith("fixed") else len(declared)
        if not declared and count:
            declared = types.get("acc") or types.get("value") or list(types.values())[-1]
        if len(declared) < count:
            declared = declared * count
        operation.results = [Value(of) for of in declared[:count]]
        if operation.name == "divi":
            operation.attributes.setdefault("rounding", ENUMS["rounding"].index("zero"))
        return self.emit(operation).results

    def element(self, element: tuple[Any, ...], operation: Operation, types: dict[str, list[Type]]) -> None:
        kind = element[0]
        if kind == "literal":
            self.scan.expect(element[1])
        elif kind == "attributes":
            self.dictionary(operation)
        elif kind == "maybe":
            if self.starts(element[1][0], operation):
                for inner in element[1]:
                    self.element(inner, operation, types)
        elif kind == "any":
            while chosen := next((c for c in element[1] if self.starts(c[0], operation)), None):
                for inner in chosen:
                    self.element(inner, operation, types)
        elif kind == "custom":
            self.directive(element[1], element[2], operation, types)
        else:
            self.variable(element[1], operation)

    def starts(self, element: tuple[Any, ...], operation: Operation) -> bool:
        if element[0] == "literal":
            word = re.escape(element[1])
            return self.scan.looking_at(word + (r"(?![\w$])" if element[1][-1].isalnum() else ""))
        if element[0] == "custom":
            return self.scan.looking_at(r"\{|\(" if "Region" in element[1] else r"rounding\b")
        if element[1] in operation.groups:
            return self.scan.looking_at("%")
        return self.scan.looking_at("|".join(ENUMS.get(element[1], ("(?!)",))))

    def variable(self, name: str, operation: Operation) -> None:
        if name in operation.groups:
            many = ("any", name) in ROWS[operation.name].operands
            operation.groups[name] = self.values() if many else [self.value()]
        elif name in ENCODINGS:
            operation.attributes[name] = self.attribute(name)
        else:
            raise NotInBytecode(f"{operation.name} has no {name}")

    def directive(self, name: str, words: list[str], operation: Operation, types: dict[str, list[Type]]) -> None:
        if name == "CudaTileType":
            row = ROWS[operation.name]
            many = ("any", words[0]) in row.operands or (words[0] not in operation.groups and "any" in row.results)
            types[words[0]] = parse_types(self.scan) if many else [parse_type(self.scan)]
        elif name.endswith("RoundingMode"):
            default = ENUMS[words[0]].index(DEFAULT_ROUNDINGS.get(name, "nearest_even"))
            operation.attributes[words[0]] = self.enum(words[0]) if self.scan.literal("rounding") else default
        elif name in ("Signedness", "ComparisonPredicate", "ComparisonOrdering"):
            operation.attributes[words[0]] = self.enum(words[0])
        elif name == "DenseTypedElementsAttr":
            types["result"] = [self.dense()]
        elif name == "AssumePredicate":
            operation.attributes["predicate"] = self.predicate()
        elif name in ("ArgumentRegion", "IfOpRegion"):
            arguments = self.arguments() if name == "ArgumentRegion" else []
            operation.regions.append(self.region(arguments, TERMINATORS[operation.name]))
        else:
            raise NotInBytecode(f"no reading of {name}")

    def arguments(self) -> list[tuple[str, Type]]:
        out = []
        self.scan.expect("(")
        while not self.scan.literal(")"):
            name = self.value_name()
            self.scan.expect(":")
            out.append((name, parse_type(self.scan)))
            self.scan.match(",")
        return out

    def region(self, arguments: list[tuple[str, Type]], terminator: str) -> Block:
        self.scan.expect("{")
        block = Block([Value(of) for _, of in arguments])
        self.open(block)
        self.scopes[-1].update({name: value for (name, _), value in zip(arguments, block.arguments, strict=True)})
        while not self.scan.literal("}"):
            self.operation()
        self.close(terminator)
        return block

    def generic(self, name: str) -> list[Value]:
        self.scan.expect("(")
        operands = self.values()
        self.scan.expect(")")
        operation = Operation(name.removeprefix("cuda_tile."))
        if self.scan.literal("<"):
            self.dictionary(operation)
            self.scan.expect(">")
        if self.scan.literal("("):
            while not self.scan.literal(")"):
                operation.regions.append(self.generic_region(operation.name))
                self.scan.match(",")
        self.dictionary(operation)
        self.scan.expect(":")
        self.type_list()
        self.scan.expect("->")
        results = self.type_list()
        if operation.name == name:
            return [self.make(of) for of in results]
        if operation.name not in ROWS or not ROWS[operation.name].code:
            raise NotInBytecode(f"there is no operation {operation.name}")
        self.split(operation, operands)
        operation.results = [Value(of) for of in results]
        return self.emit(operation).results

    def split(self, operation: Operation, operands: list[Value]) -> None:
        row = ROWS[operation.name]
        sizes = operation.attributes.pop("operand_segment_sizes", None)
        if sizes is None:
            fixed = sum(kind == "one" for kind, _ in row.operands)
            sizes = [len(operands) - fixed if kind == "any" else int(kind == "one") for kind, _ in row.operands]
        if sum(sizes) != len(operands):
            raise NotInBytecode(f"{len(operands)} operands for groups of {sizes}")
        for (_, word), size in zip(row.operands, sizes, strict=True):
            operation.groups[word], operands = operands[:size], operands[size:]

    def type_list(self) -> list[Type]:
        if not self.scan.literal("("):
            return [parse_type(self.scan)]
        out = [] if self.scan.looking_at(r"\)") else parse_types(self.scan)
        self.scan.expect(")")
        return out

    def generic_region(self, owner: str) -> Block | None:
        self.scan.expect("{")
        if self.scan.literal("}"):
            return None
        arguments = []
        if self.scan.match(r"\^\w+"):
            arguments = self.arguments() if self.scan.looking_at(r"\(") else []
            self.scan.expect(":")
        self.scan.text = self.scan.text[: self.scan.at] + "{" + self.scan.text[self.scan.at :]
        return self.region(arguments, TERMINATORS.get(owner, "return"))
