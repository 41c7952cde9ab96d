"""The rules by which a generated kernel's IR passes beside its reference, and the report about them.

Rules and verdicts are those of the public conversion workflow of NVIDIA TileGym (diff_ir, validate_ir), on bytecode.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from tilegym_rs.tile_ir import Change, Facts, Module

CRITICAL_OPS = (
    "load_ptr_tko",
    "store_ptr_tko",
    "load_view_tko",
    "store_view_tko",
    "reduce",
    "exp",
    "exp2",
    "rsqrt",
    "fma",
    "mmaf",
    "mmaf_scaled",
    "mmai",
    "for",
)
ARITHMETIC_OPS = ("addf", "subf", "mulf", "divf", "maxf", "minf")
INFO_OPS = ("select", "iota", "cmpi", "ftof", "itof", "exti")
ENTRY_HINTS = ("occupancy", "num_cta_in_cga")
EXACTNESS_OPS = ("addf", "subf", "mulf", "divf", "exp", "exp2", "negf")
KEY_OPS = ("load_ptr_tko", "store_ptr_tko", "load_view_tko", "store_view_tko", "mmaf", "reduce", "make_partition_view")
WORKAROUND_ALLOWANCE = 2


class Severity(Enum):
    """How much a finding weighs."""

    CRITICAL = "CRITICAL"
    WORKAROUND = "WORKAROUND"
    WARN = "WARN"
    INFO = "INFO"
    OK = "OK"


class Verdict(Enum):
    """The outcome of a comparison and its exit status."""

    PASS = 0
    FAIL_FIXABLE = 1
    PASS_WITH_NOTES = 2


@dataclass(frozen=True)
class Finding:
    """One rule applied to two modules."""

    item: str
    reference: str
    generated: str
    severity: Severity
    text: str = ""
    impact: str = "performance"

    @property
    def status(self) -> str:
        """The word of the checklist."""
        if self.severity is Severity.OK:
            return "MATCH"
        if self.severity in (Severity.INFO, Severity.WORKAROUND):
            return "SEMANTIC_EQUIV"
        return "MISSING" if self.generated in ("0", "none", "no") else "DIFFERS"


@dataclass(frozen=True)
class Comparison:
    """A generated module beside its reference."""

    changes: list[Change]
    counts: list[Finding]
    checklist: list[Finding]

    @property
    def findings(self) -> list[Finding]:
        """What counts against the generated module, the gravest first."""
        found = [f for f in (*self.counts, *self.checklist) if f.severity is not Severity.OK]
        return sorted(found, key=lambda f: list(Severity).index(f.severity))

    @property
    def verdict(self) -> Verdict:
        """Modules without a difference pass whatever the rules say of either."""
        severities = {f.severity for f in self.findings} if self.changes else set()
        if Severity.CRITICAL in severities:
            return Verdict.FAIL_FIXABLE
        if severities & {Severity.WORKAROUND, Severity.WARN}:
            return Verdict.PASS_WITH_NOTES
        return Verdict.PASS


def compare(reference: Module, generated: Module) -> Comparison:
    """Applies every rule."""
    before, after = reference.facts(), generated.facts()
    return Comparison(reference.diff(generated), list(_counts(before, after)), list(_checklist(before, after)))


def _counts(before: Facts, after: Facts) -> Iterator[Finding]:
    for op in (*CRITICAL_OPS, *ARITHMETIC_OPS, *INFO_OPS):
        old, new = before.operations.get(op, 0), after.operations.get(op, 0)
        yield _finding(op, old, new, _count_severity(op, new - old), f"{op}: {old} in the reference, {new} here")


def _count_severity(op: str, delta: int) -> Severity:
    if delta == 0:
        return Severity.OK
    if op in INFO_OPS:
        return Severity.INFO
    if op in ARITHMETIC_OPS and abs(delta) <= WORKAROUND_ALLOWANCE:
        return Severity.WORKAROUND
    return Severity.CRITICAL


def _finding(
    item: str, old: object, new: object, severity: Severity, text: str, impact: str = "performance"
) -> Finding:
    return Finding(item, str(old), str(new), severity, "" if severity is Severity.OK else text, impact)


def _when(condition: bool, severity: Severity) -> Severity:
    return severity if condition else Severity.OK


def _checklist(before: Facts, after: Facts) -> Iterator[Finding]:
    yield from _entry_hint_rules(before, after)
    yield from _set_rules(before, after)
    yield from _exactness_rules(before, after)
    yield from _assumption_rules(before, after)
    yield from _access_hint_rules(before, after)
    yield from _layout_rules(before, after)


def _entry_hint_rules(before: Facts, after: Facts) -> Iterator[Finding]:
    for hint in ENTRY_HINTS:
        old, new = before.entry_hints.get(hint, 0), after.entry_hints.get(hint, 0)
        severity = Severity.OK
        if old and new and old != new:
            severity = Severity.CRITICAL
        elif old and not new:
            severity = Severity.WARN
        yield _finding(hint, old or "none", new or "none", severity, f"hint {hint}: {old} in the reference, {new} here")


def _set_rules(before: Facts, after: Facts) -> Iterator[Finding]:
    tiles = bool(before.row_tiles and after.row_tiles and before.row_tiles != after.row_tiles)
    yield _sets("tile shapes", before.row_tiles, after.row_tiles, tiles)
    yield _sets("reduce identities", before.identities, after.identities, before.identities != after.identities)
    both = before.accumulators and after.accumulators
    yield _sets(
        "mma accumulator types",
        before.accumulators,
        after.accumulators,
        bool(both and before.accumulators != after.accumulators),
    )


def _sets(item: str, old: set[str], new: set[str], differs: bool) -> Finding:
    before, after = (" ".join(sorted(values)) or "none" for values in (old, new))
    return _finding(item, before, after, _when(differs, Severity.CRITICAL), f"{item} differ", "correctness")


def _exactness_rules(before: Facts, after: Facts) -> Iterator[Finding]:
    for op in EXACTNESS_OPS:
        pairs = (
            ("flush_to_zero", before.flush_to_zero.get(op, 0), after.flush_to_zero.get(op, 0)),
            ("rounding<approx>", _approximate(before, op), _approximate(after, op)),
        )
        for name, old, new in pairs:
            severity = _when(new < old, Severity.CRITICAL)
            yield _finding(f"{op} {name}", old, new, severity, f"{op}: {old - new} without {name}")
    old, new = (sum(sum(ways.values()) for ways in facts.rounding.values()) for facts in (before, after))
    yield _finding("rounding modes", old, new, _when(new > old, Severity.WARN), "more operations name a rounding mode")


def _approximate(facts: Facts, op: str) -> int:
    return facts.rounding.get(op, {}).get("approx", 0)


def _assumption_rules(before: Facts, after: Facts) -> Iterator[Finding]:
    old, new = before.pointer_div_by, after.pointer_div_by
    raw = after.operations.get("load_ptr_tko", 0) + after.operations.get("store_ptr_tko", 0)
    severity = _when(new < old, Severity.CRITICAL if raw else Severity.WARN)
    yield _finding("assume div_by of pointers", old, new, severity, "fewer pointers are known to be aligned")
    yield _finding(
        "assume div_by of scalars",
        before.scalar_div_by,
        after.scalar_div_by,
        _when(after.scalar_div_by > 0, Severity.CRITICAL),
        "an integer is assumed to be divisible, which is wrong for irregular shapes",
        "correctness",
    )


def _access_hint_rules(before: Facts, after: Facts) -> Iterator[Finding]:
    def count(facts: Facts, hint: str, value: str) -> int:
        return facts.access_hints.get(hint, {}).get(value, 0)

    old, new = count(before, "allow_tma", "true"), count(after, "allow_tma", "true")
    yield _finding("allow_tma = true", old, new, _when(new < old, Severity.CRITICAL), "fewer accesses ask for TMA")
    old, new = count(before, "allow_tma", "false"), count(after, "allow_tma", "false")
    yield _finding("allow_tma = false", old, new, _when(new != old, Severity.WARN), "TMA is refused elsewhere")
    old, new = (sum(facts.access_hints.get("latency", {}).values()) for facts in (before, after))
    yield _finding("latency hints", old, new, _when(new != old, Severity.WARN), "other accesses have latency hints")


def _layout_rules(before: Facts, after: Facts) -> Iterator[Finding]:
    missing = before.swizzled and not after.swizzled
    old, new = _yes(before.swizzled), _yes(after.swizzled)
    text = "block ids are not swizzled for the L2 cache"
    yield _finding("block swizzle", old, new, _when(missing, Severity.WARN), text)
    old, new = _yes("bf16" in before.elements), _yes("bf16" in after.elements)
    missing = old == "yes" and new == "no"
    yield _finding("bf16", old, new, _when(missing, Severity.WARN), "bf16 is not used here", "correctness")
    old, new = _layouts(before), _layouts(after)
    text = "look at dim_map, strides and tile shapes of the views"
    yield _finding("layouts (strides=[], dim_map, tile)", old, new, _when(old != new, Severity.WARN), text)


def _yes(condition: bool) -> str:
    return "yes" if condition else "no"


def _layouts(facts: Facts) -> str:
    return ", ".join(f"{count} x {name}" for name, count in sorted(facts.layouts.items())) or "none"


def validate(module: Module, kernel: str) -> list[Finding]:
    """Whether a module can serve as the IR of `kernel`: an entry of that name, and better hints and memory accesses."""
    facts = module.facts()
    named = any(kernel in entry for entry in facts.entries)
    entries = ", ".join(facts.entries) or "none"
    key_ops = sum(facts.operations.get(op, 0) for op in KEY_OPS)
    return [
        _finding(
            "entry", f"*{kernel}*", entries, _when(not named, Severity.CRITICAL), f"no entry is called *{kernel}*"
        ),
        _finding(
            "optimization_hints",
            "some",
            "some" if facts.entry_hints or facts.access_hints else "none",
            _when(not (facts.entry_hints or facts.access_hints), Severity.WARN),
            "no optimization hints",
        ),
        _finding(
            "key operations", "some", key_ops, _when(key_ops == 0, Severity.WARN), "no load, store, mma or reduce"
        ),
    ]
