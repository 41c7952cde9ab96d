"""Literals of constants: what only their text can get wrong."""

from __future__ import annotations

import json
import re
from typing import Any

from ir_types import NotInBytecode, Type

LARGEST = {"f16": 65519.99, "bf16": 3.39e38, "f32": 3.4028236e38, "f8E4M3FN": 464, "f8E5M2": 61439, "f4E2M1FN": 7}


def check_literal(text: str, element: Type, of: Type) -> None:
    """What only the text of a literal can get wrong: its nesting and its numbers."""
    flat = re.sub(r"\s", "", text)
    numbers = re.findall(r"[^\[\],]+", flat)
    pattern = (
        r"-?\d+|true|false|-?0x[0-9a-fA-F]+"
        if str(element.element).startswith("i")
        else r"-?\d+\.\d*(?:[eE][-+]?\d+)?|-?0x[0-9a-fA-F]+|nan|-?inf"
    )
    if not numbers or not all(re.fullmatch(pattern, number) for number in numbers):
        raise NotInBytecode(f"the literal {text} is no list of {element.element}")
    if str(element.element)[0] == "i":
        bits = int(str(element.element)[1:])
        if element.element != "i1" and re.search(r"true|false", flat):
            raise NotInBytecode("true and false are numbers of i1")
        if any(not -(2 ** (bits - 1)) <= int(n, 0) < 2**bits for n in numbers if n[0] not in "tf"):
            raise NotInBytecode(f"a number does not fit into {element.element}")
    elif not all(fits(number, str(element.element)) for number in numbers):
        raise NotInBytecode(f"a number does not fit into {element.element}")
    if flat.startswith("[") and nesting(flat) != of.shape:
        raise NotInBytecode("the literal has another shape than the tile")


def fits(number: str, element: str) -> bool:
    if "0x" in number:
        return int(number, 16) < 2 ** int(re.findall(r"\d+", element)[0])
    return abs(float(number)) <= LARGEST.get(element, 1e308) or "inf" in number


def nesting(flat: str) -> tuple[int, ...] | None:
    try:
        value = json.loads(re.sub(r"[^\[\],]+", "0", flat))
    except ValueError:
        return None

    def sizes(item: Any) -> tuple[int, ...] | None:
        if not isinstance(item, list):
            return ()
        inner = {sizes(part) for part in item}
        part = inner.pop() if len(inner) == 1 else None
        return None if part is None else (len(item), *part)

    return sizes(value)
