"""diff_report.md: a comparison of two modules as Markdown, the same text for the same modules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilegym_rs.ir_rules import Comparison, Finding, Severity, Verdict

MOST_CHANGES = 200

CAUSES = {
    Severity.CRITICAL: "user_code",
    Severity.WARN: "user_code",
    Severity.WORKAROUND: "dsl_limitation",
    Severity.INFO: "semantic_equiv",
}


def as_markdown(comparison: Comparison, kernel: str) -> str:
    """The report with all five steps."""
    sections = (
        [f"# IR diff report: {kernel}"],
        ["## Step 1: Structural comparison (op counts)", *_counts(comparison)],
        ["## Step 2: Checklist diff", *_checklist(comparison)],
        ["## Step 3: Root cause analysis", *_causes(comparison)],
        ["## Step 4: Impact assessment", *_impact(comparison)],
        ["## Step 5: Verdict", *_verdict(comparison)],
        ["## Every difference", *_changes(comparison)],
    )
    return "\n\n".join("\n\n".join(section) for section in sections) + "\n"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _counts(comparison: Comparison) -> list[str]:
    rows = [
        (f.item, f.reference, f.generated, f"{int(f.generated) - int(f.reference):+d}", _word(f))
        for f in comparison.counts
    ]
    return [_table(("Op", "Reference", "Generated", "Delta", "Match"), rows)]


def _word(finding: Finding) -> str:
    return "MATCH" if finding.severity is Severity.OK else finding.severity.value


def _checklist(comparison: Comparison) -> list[str]:
    rows = [(f.item, f.reference, f.generated, f.status, _word(f)) for f in comparison.checklist]
    return [_table(("Item", "Reference", "Generated", "Status", "Severity"), rows)]


def _causes(comparison: Comparison) -> list[str]:
    if not comparison.findings:
        return ["Nothing to explain: no rule found a difference (semantic_equiv)."]
    rows = [(f.item, CAUSES[f.severity], f.text) for f in comparison.findings]
    return [_table(("Item", "Category", "What differs"), rows)]


def _impact(comparison: Comparison) -> list[str]:
    if not comparison.findings:
        return ["None: neither correctness nor performance is touched."]
    rows = [(f.item, f.impact, "yes" if f.severity is Severity.CRITICAL else "no") for f in comparison.findings]
    return [_table(("Item", "Impact", "Blocking"), rows)]


def _verdict(comparison: Comparison) -> list[str]:
    verdict = comparison.verdict
    lines = [f"VERDICT: {verdict.name}"]
    if not comparison.changes:
        lines.append("The modules have no differences.")
    elif verdict is Verdict.FAIL_FIXABLE:
        lines += ["Action items:", _items(comparison, {Severity.CRITICAL})]
    elif verdict is Verdict.PASS_WITH_NOTES:
        lines += ["Known gaps, accepted:", _items(comparison, {Severity.WARN, Severity.WORKAROUND})]
    return lines


def _items(comparison: Comparison, severities: set[Severity]) -> str:
    return "\n".join(f"- {f.item}: {f.text}" for f in comparison.findings if f.severity in severities)


def _changes(comparison: Comparison) -> list[str]:
    if not comparison.changes:
        return ["No differences."]
    rows = [(c.kind, c.place, c.part or "whole", c.before, c.after) for c in comparison.changes[:MOST_CHANGES]]
    lines = [_table(("Kind", "Place", "What", "Reference", "Generated"), rows)]
    left = len(comparison.changes) - MOST_CHANGES
    return [*lines, f"... and {left} more."] if left > 0 else lines
