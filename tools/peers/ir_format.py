"""The assembly formats that a checkout's Ops.td declares, and the words of the dialect's enums."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ir_types import PADDINGS, Scanner

ENUMS: dict[str, tuple[str, ...]] = {
    "rounding_mode": ("nearest_even", "zero", "negative_inf", "positive_inf", "approx", "full", "nearest_int_to_zero"),
    "overflow": ("none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap"),
    "memory_ordering_semantics": ("weak", "relaxed", "acquire", "release", "acq_rel"),
    "memory_scope": ("tl_blk", "device", "sys"),
    "mode": ("and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg"),
    "signedness": ("unsigned", "signed"),
    "comparison_predicate": (
        *("equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"),
    ),
    "comparison_ordering": ("unordered", "ordered"),
}
ENUMS |= {"rounding": ENUMS["rounding_mode"], "padding_value": PADDINGS}
ENUMS |= dict.fromkeys(("signedness_lhs", "signedness_rhs"), ENUMS["signedness"])
DEFAULT_ROUNDINGS = {"ExpOpRoundingMode": "full", "TanHOpRoundingMode": "full"}
DEFAULT_ROUNDINGS["IntegerRoundingMode"] = "nearest_int_to_zero"


NAME = r"[\w$.-]+"


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda m: "_" + m[1].lower(), name)


def read_formats(checkout: Path) -> dict[str, list[Any]]:
    """Format of each operation as a list of literals, variables, directives and groups."""
    text = (checkout / "include/cuda_tile/Dialect/CudaTile/IR/Ops.td").read_text()
    formats = {}
    for part in re.split(r"\ndef CudaTile_", text)[1:]:
        name = re.match(r'\w+\s*:\s*\w+<"([\w$]+)"', part)
        found = re.search(r"let assemblyFormat = (?:\[\{(.*?)\}\]|((?:\s*\"[^\"]*\")+))", part, re.S)
        if name and found:
            quoted = "".join(re.findall(r'"([^"]*)"', found[2] or ""))
            formats[name[1]] = parse_format(Scanner(found[1] or quoted))
    return formats


def parse_format(scan: Scanner, stop: str = "") -> list[Any]:
    out: list[Any] = []
    while scan.rest() and not (stop and scan.looking_at(stop)):
        if found := scan.match(r"`([^`]*)`"):
            if found[1].strip():
                out.append(("literal", found[1]))
        elif found := scan.match(r"\$(\w+)"):
            out.append(("var", snake(found[1])))
        elif found := scan.match(r"custom<(\w+)>\(([^()]*(?:\([^()]*\))?[^()]*)\)"):
            out.append(("custom", found[1], [snake(word) for word in re.findall(r"\$(\w+)", found[2])]))
        elif scan.match(r"attr-dict(-with-keyword)?"):
            out.append(("attributes",))
        elif scan.match(r"oilist\("):
            choices = [parse_format(scan, r"[|)]")]
            while scan.match(r"\|"):
                choices.append(parse_format(scan, r"[|)]"))
            scan.expect(")")
            out.append(("any", choices))
        elif scan.match(r"\("):
            group = parse_format(scan, r"\)\s*\?")
            scan.take(r"\)\s*\?")
            out.append(("maybe", group))
        else:
            scan.take(r"\^|\?|:", "a format element")
    return out
