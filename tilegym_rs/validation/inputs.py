"""Arguments for an op, from what its analysis.json says of its tensors.

The object "comparison" there may hold:
- dims: names of the numbers in a row of `test_perf_configs.shapes`, such as ["m", "n", "k"];
- inputs: per tensor of the op {"shape": [...], "scale": number, "dtype": name, "low": n, "high": n}; entries of a shape
  are numbers, dims, or products such as "2*h"; a dtype of its own is for tensors that do not follow the case's (indices
  lie in [low, high)); "value" in place of a shape gives a number;
- sizes: rows of numbers to compare with, in place of those made from test_perf_configs;
- options: a list of keywords to try; "inputs" among them replaces entries of inputs.
Without it an op that takes one tensor gets the rows as shapes, and one that takes several gets rows of shapes, one for
each of its arguments without a default.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from tilegym_rs.validation import analysis

# Numbers, or one list of them for each tensor.
Size = tuple[Any, ...]

# No extent of a case made from test_perf_configs is above this.
_LARGEST = 300


class NoCasesError(LookupError):
    """Nothing says how to call an op."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """How to make arguments of an op."""

    op: str
    dims: list[str]
    inputs: dict[str, Any]
    sizes: list[Size]
    options: list[dict[str, Any]]

    def arguments_with(
        self, inputs: Mapping[str, Any], size: Size, dtype: torch.dtype, device: torch.device, seed: int
    ) -> dict[str, Any]:
        """Values by parameter name for a description of the tensors; the same at every call."""
        generator = torch.Generator().manual_seed(seed)
        nested = _is_nested(size)
        extents = {} if nested else dict(zip(self.dims, size, strict=False))
        shapes = size if nested else [size] * len(inputs)
        made = {}
        for (name, entry), shape in zip(inputs.items(), shapes, strict=False):
            made[name] = _made(f"{self.op}: {name}", entry, list(shape), extents, dtype, generator)
            if isinstance(made[name], torch.Tensor):
                made[name] = made[name].to(device)
        return made


def plan(op: str) -> Plan:
    """What analysis.json and the op's signature say.

    Raises:
        NoCasesError: they do not say how to call it.
        ValueError: the description is broken.
    """
    stated = analysis.of(op)
    described = stated.get("comparison", {})
    if not isinstance(described, dict):
        raise ValueError(f"{op}: reference/analysis.json: comparison: wanted an object, got {described!r}")  # noqa: TRY004
    sizes = [_frozen(row) for row in described.get("sizes") or _sizes(stated)]
    inputs = described.get("inputs") or _needed_tensors(op, sizes)
    if not sizes:
        raise NoCasesError(
            f"{op}: wanted shapes in reference/analysis.json (test_perf_configs or comparison.sizes), got none"
        )
    return Plan(op, list(described.get("dims", [])), dict(inputs), sizes, list(described.get("options", [{}])))


def _frozen(row: Sequence[Any]) -> Size:
    return tuple(_frozen(entry) if isinstance(entry, (list, tuple)) else int(entry) for entry in row)


def _is_nested(size: Size) -> bool:
    return bool(size) and isinstance(size[0], tuple)


def _needed_tensors(op: str, sizes: list[Size]) -> dict[str, Any]:
    """The op's arguments without a default, where the sizes give each of them a shape."""
    from tilegym.backend import registry

    source = registry.find(op, registry.DEFAULT) or registry.find(op, analysis.BACKEND)
    if source is None:
        raise NoCasesError(f"{op}: wanted a registered op, got none of that name")
    needed = [
        parameter.name
        for parameter in inspect.signature(source).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    shapes = len(sizes[0]) if sizes and _is_nested(sizes[0]) else 1
    if sizes and len(needed) != shapes:
        arguments = ", ".join(needed) or "its arguments"
        raise NoCasesError(
            f"{op}: wanted comparison.inputs in reference/analysis.json, or a shape for each of {arguments}, got none; "
            "CONTRIBUTING.md describes it"
        )
    return {name: {} for name in needed}


def with_zero(size: Size) -> list[Size]:
    """The sizes with no elements: each number 0 in turn; of several shapes those whose first number they share."""
    if not _is_nested(size):
        return [(*size[:place], 0, *size[place + 1 :]) for place in range(len(size))]
    batch, rank = size[0][0], len(size[0])
    return [tuple((0, *shape[1:]) if shape[0] == batch and len(shape) > 1 and rank > 1 else shape for shape in size)]


def _sizes(stated: Mapping[str, Any]) -> list[Any]:
    """Small rows with the remainders of the measured ones: full tiles, tails, and ones."""
    rows: list[Size] = []
    configs = stated.get("test_perf_configs", [])
    for config in configs if isinstance(configs, list) else [configs]:
        rows += [_frozen(row) for row in config.get("shapes", []) if row]
    if not rows:
        return []
    if any(map(_is_nested, rows)):
        # Equal extents stay equal, so the shapes of a row go on fitting together.
        return _distinct([tuple(tuple(map(_small, shape)) for shape in row) for row in rows if _is_nested(row)])
    tails = [[_small(extent) + 1 for extent in rows[0]], [_small(extent) for extent in rows[-1]]]
    even = [[extent + extent % 2 for extent in row] for row in tails]
    return _distinct([*even, [2] * len(rows[0]), *[[_small(extent) for extent in row] for row in rows[1:2]]])


def _small(extent: int) -> int:
    if extent <= _LARGEST:
        return extent
    return 128 + extent % 128


def _distinct(rows: Sequence[Any]) -> list[Any]:
    return [row for place, row in enumerate(rows) if row not in rows[:place]]


def _made(
    name: str,
    entry: Any,
    size: list[int],
    extents: Mapping[str, int],
    dtype: torch.dtype,
    generator: torch.Generator,
) -> Any:
    if not isinstance(entry, Mapping):
        raise ValueError(f"{name}: wanted an object with shape or value in comparison.inputs, got {entry!r}")  # noqa: TRY004
    if "value" in entry:
        return entry["value"]
    shape = [_extent(name, each, extents) for each in entry["shape"]] if "shape" in entry else size
    own = getattr(torch, str(entry["dtype"]), None) if "dtype" in entry else dtype
    if not isinstance(own, torch.dtype):
        raise ValueError(f"{name}: wanted a dtype of torch, got {entry['dtype']!r}")  # noqa: TRY004
    if not own.is_floating_point:
        low, high = _extent(name, entry.get("low", 0), extents), _extent(name, entry.get("high", 2), extents)
        return torch.randint(low, max(high, low + 1), shape, generator=generator).to(own)
    scale = float(entry.get("scale", 1.0))
    if "scale_by" in entry:
        scale /= math.sqrt(max(1, _extent(name, entry["scale_by"], extents)))
    return (torch.randn(shape, generator=generator) * scale).to(own)


def _extent(name: str, entry: Any, extents: Mapping[str, int]) -> int:
    """A number, the name of one, or a product of both."""
    result = 1
    for factor in str(entry).split("*"):
        word = factor.strip()
        if word not in extents and not word.lstrip("-").isdigit():
            raise ValueError(f"{name}: wanted a number or one of {', '.join(extents) or 'no dims'}, got {word!r}")
        result *= extents[word] if word in extents else int(word)
    return result
