"""The IR of an op's Rust kernels beside that of its cuTile Python kernels, a pair for each variant in analysis.json."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tilegym_rs import _core, tile_ir
from tilegym_rs.ir_report import as_markdown
from tilegym_rs.ir_rules import Verdict, compare
from tilegym_rs.validation import analysis, case_set, inputs

REPORT = Path("generated") / "diff_report.md"


@dataclasses.dataclass(frozen=True)
class Pair:
    """Both modules of a variant and what their comparison says.

    Attributes:
        variant: its name.
        reference, generated: the texts' places in the folder; the bytecode lies beside them.
        verdict: of the rules of `tilegym-rs ir diff`.
    """

    variant: str
    reference: Path
    generated: Path
    verdict: Verdict


def write_pairs(op: str, folder: Path | None = None, dtype: str = "float16") -> list[Pair]:
    """Writes reference/*.mlir, generated/*.mlir, *.tileirbc beside them, and generated/diff_report.md.

    Both are compiled for the same call on the CPU device, which is the first of the op's cases that takes the variant.
    The kernel library must not have been loaded in this process.

    Args:
        op: a registered op with a kernel for both backends.
        folder: where to write; None is the op's own `<op>_kernel`.
        dtype: of its tensors.

    Raises:
        LookupError: the op has no such kernels, states no variants, or no case takes one of them.
        ImportError: cuTile Python is not installed.
    """
    stated = analysis.of(op).get("kernel_variants", [])
    folder = folder or analysis.kernel_folder(op)
    if not stated or folder is None:
        raise LookupError(f"{op}: wanted kernel_variants in reference/analysis.json, got none")
    pairs, reports = [], []
    with tempfile.TemporaryDirectory(prefix="tilegym-ir-") as recorded:
        os.environ["TILEGYM_RS_CACHE_RECORD"] = recorded
        calls = dict(_references(op, dtype, {variant["kernel_function"] for variant in stated}))
        for variant in stated:
            function = variant["kernel_function"]
            if function not in calls:
                raise LookupError(f"{op}: wanted a case in analysis.json that launches {function}, got none")
            reference, call = calls[function]
            pair, report = _pair(folder, variant, reference, _generated(op, function, call, Path(recorded)))
            pairs.append(pair)
            reports.append(report)
    (folder / REPORT).write_text("\n".join(reports), encoding="utf-8")
    return pairs


_Call = tuple[list[Any], dict[str, Any]]


def _references(op: str, dtype: str, wanted: set[str]) -> Iterator[tuple[str, tuple[bytes, _Call]]]:
    """(kernel, (its bytecode, a call that launches it)), each kernel once."""
    import torch

    from tilegym.backend import registry

    module_of = getattr(registry.find(op, "cutile"), "module_of", None)
    if module_of is None:
        raise LookupError(f"{op}: wanted a cuTile Python kernel in tilegym/ops/cutile, got none")
    plan, left = inputs.plan(op), set(wanted)
    for options in range(len(plan.options)):
        for size in plan.sizes:
            case = case_set.Case(op, "values", dtype, size, options=options)
            positional, keywords = case_set.arguments(case, torch.device("cpu"))
            entry, image = module_of(*positional, **keywords)
            if entry in left:
                left.remove(entry)
                yield entry, (image, (positional, keywords))
            if not left:
                return


def _generated(op: str, function: str, call: _Call, recorded: Path) -> bytes:
    """The bytecode of the Rust kernel that the call launches."""
    from tilegym.backend import registry

    registry.entries(op)[analysis.BACKEND](*call[0], **call[1])
    images = [entry.payload for entry in _core.cache_entries_in(recorded / "images")]
    for image in images:
        if any(function in entry for entry in tile_ir.load(image).entries):
            return image
    raise LookupError(f"{op}: wanted a launch of {function} by this call, got {len(images)} other kernels")


def _pair(folder: Path, variant: dict[str, Any], reference: bytes, generated: bytes) -> tuple[Pair, str]:
    name = str(variant.get("variant_name", variant["kernel_function"]))
    place = Path(str(variant.get("reference_ir", "reference/reference.mlir")))
    twin = Path("generated") / place.name.replace("reference", "generated", 1)
    comparison = compare(tile_ir.load(reference), tile_ir.load(generated))
    for path, image in ((folder / place, reference), (folder / twin, generated)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(tile_ir.load(image).text(), encoding="utf-8", errors="surrogateescape")
        path.with_suffix(".tileirbc").write_bytes(image)
    return Pair(name, place, twin, comparison.verdict), as_markdown(comparison, variant["kernel_function"])
