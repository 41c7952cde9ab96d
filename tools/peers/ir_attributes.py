"""Attributes of operations, in their own formats and in braces."""

from __future__ import annotations

import re
from typing import Any

from ir_bytecode import ENCODINGS, Number, Operation
from ir_format import ENUMS, NAME, snake
from ir_literal import check_literal
from ir_types import NotInBytecode, Scanner, Type, parse_type


class Attributes:
    """A part of ir_text.Reader."""

    scan: Scanner

    def enum(self, name: str) -> int:
        if number := self.scan.match(r"(\d+)\s*:\s*i32"):
            return int(number[1])
        bracket = self.scan.literal("<")
        word = self.scan.take(r"\w+", f"a {name}")
        if word not in ENUMS[name]:
            raise NotInBytecode(f"there is no {name} {word}")
        if bracket:
            self.scan.expect(">")
        return ENUMS[name].index(word)

    def attribute(self, name: str) -> Any:
        if name in ENUMS:
            return self.enum(name)
        encoding = ENCODINGS[name]
        if encoding == "unit":
            return True
        if encoding == "string":
            return self.scan.take(r'"[^"]*"|@[\w$.-]+', "a text").strip('"@')
        if encoding == "boolean":
            return self.scan.take(r"true|false") == "true"
        if encoding == "i32_array":
            return self.scan.numbers()
        if encoding == "array":
            return self.identities()
        if encoding == "hints":
            return self.hints()
        number = int(self.scan.take(r"-?\d+", "a number"))
        self.scan.match(r":\s*i\d+")
        return number

    def identities(self) -> list[Number]:
        self.scan.expect("[")
        out = []
        while not self.scan.literal("]"):
            self.scan.take(r"true|false|-?0x\w+|-?[\d.]+(?:[eE][-+]?\d+)?", "a number")
            out.append(Number(parse_type(self.scan) if self.scan.literal(":") else Type("element", "i64")))
            self.scan.match(",")
        return out

    def hints(self) -> dict[str, Any]:
        self.scan.match(r"#cuda_tile\.optimization_hints")
        self.scan.expect("<")
        out: dict[str, Any] = {}
        while not self.scan.literal(">"):
            target = self.scan.take(r"\w+", "a target")
            self.scan.expect("=")
            self.scan.expect("{")
            out[target] = {}
            while not self.scan.literal("}"):
                key = self.scan.take(r"\w+", "a hint")
                self.scan.expect("=")
                out[target][key] = self.plain()
                self.scan.match(",")
            self.scan.match(",")
        return out

    def plain(self) -> Any:
        found = self.scan.take(r'"[^"]*"|true|false|-?\d+', "a value")
        self.scan.match(r":\s*i\d+")
        return found.strip('"') if found[0] == '"' else found == "true" if found in ("true", "false") else int(found)

    def dense(self) -> Type:
        """A literal `<type: values> : tile`; the values are looked at only as far as they name a shape."""
        self.scan.expect("<")
        element = parse_type(self.scan)
        self.scan.expect(":")
        literal = self.scan.balanced(">")
        self.scan.expect(">")
        self.scan.expect(":")
        of = parse_type(self.scan)
        if of.kind != "tile" or of.element != element:
            raise NotInBytecode("the literal has another type than the tile")
        check_literal(literal, element, of)
        return of

    def predicate(self) -> tuple[Any, ...]:
        self.scan.match(r"#cuda_tile\.")
        name = self.scan.take(r"\w+", "a predicate")
        self.scan.expect("<")
        text = self.scan.balanced(">")
        self.scan.expect(">")
        numbers = [None if found == "?" else int(found) for found in re.findall(r"\?|-?\d+", text)]
        if name == "div_by":
            return ("div_by", *(*numbers, None, None)[:3]) if numbers else ("div_by", 0, None, None)
        if name == "same_elements":
            return ("same_elements", *(number or 0 for number in numbers))
        if name != "bounded" or len(numbers) != 2:
            raise NotInBytecode(f"there is no predicate {name}<{text}>")
        return ("bounded", *numbers)

    def dictionary(self, operation: Operation) -> None:
        """Attributes in braces; those that bytecode does not know are left out."""
        if not self.scan.looking_at(r"\{"):
            return
        self.scan.expect("{")
        while not self.scan.literal("}"):
            name = snake(self.scan.take(NAME, "an attribute"))
            text = self.scan.balanced(",}")[1:].strip() if self.scan.looking_at("=") else ""
            self.scan.match(",")
            self.set_attribute(operation, name, text)

    def set_attribute(self, operation: Operation, name: str, text: str) -> None:
        if name == "operand_segment_sizes":
            operation.attributes[name] = [int(found) for found in re.findall(r"\b\d+\b", text.split(":")[-1])]
        elif name in ENCODINGS and name not in ("value", "arg_attrs", "res_attrs"):
            inner = Attributes()
            inner.scan = Scanner(re.sub(r"^#cuda_tile\.\w+<|^array<i32:|>$", "", text) if "<" in text else text)
            if ENCODINGS[name] == "i32_array":
                numbers = re.findall(r"-?\d+", text.split(":", 1)[-1])
                operation.attributes[name] = [int(found) for found in numbers]
            else:
                operation.attributes[name] = inner.attribute(name)
