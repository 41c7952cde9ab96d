"""Is an op whole? Files, symbol, manifest row, registration, test, and a small comparison with its references."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tilegym_rs.errors import BuildError, KernelError

PASS, FAIL = "PASS", "FAIL"


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that is not as it should be."""

    id: str
    message: str
    remedy: str
    severity: str = "error"
    file: str = ""
    line: int = 0


@dataclasses.dataclass(frozen=True)
class CheckReport:
    """What was found of one op."""

    op: str
    findings: tuple[Finding, ...] = ()
    compared: int = 0
    """Comparisons that were made."""

    @property
    def verdict(self) -> str:
        """ "PASS" where nothing was found."""
        return FAIL if self.findings else PASS

    def to_plain(self) -> dict[str, Any]:
        """Plain values: verdict and findings."""
        findings = [dataclasses.asdict(finding) for finding in self.findings]
        return {"verdict": self.verdict, "findings": findings, "compared": self.compared}


def check(op: str) -> CheckReport:
    """Looks at the op's tree and compares it on a few inputs, on the device that TILEGYM_RS_DEVICE asks for.

    The kernel library is built where it is stale. Nothing is raised for what is wrong with the op.
    """
    findings = list(_structure(op))
    if any(finding.id == "registration" for finding in findings):
        return CheckReport(op, tuple(findings))
    compared, failed = _compared(op)
    return CheckReport(op, (*findings, *failed), compared)


def checkable_ops() -> list[str]:
    """The registered ops, and those that have kernels without being registered."""
    from tilegym_rs.validation.case_set import expected_ops

    return expected_ops()


def _structure(op: str) -> Iterator[Finding]:
    from tilegym_rs.validation import analysis
    from tilegym_rs.validation.case_set import registered_ops

    if op not in registered_ops():
        known = ", ".join(registered_ops())
        yield Finding(
            "registration",
            f"{op}: wanted an implementation registered for cutile-rs, got none; there are: {known}",
            f'decorate the wrapper with @register_impl("{op}", backend="cutile-rs") and import its module',
        )
        return
    folder = analysis.kernel_folder(op)
    if folder is None:
        source = analysis.implementation_file(op)
        yield Finding(
            "files",
            f"{op}: wanted a folder {op}_kernel beside the wrapper, got none",
            "ARCHITECTURE.md lists an op's files",
            file=str(source or ""),
        )
    else:
        for look in (_files, _analysis, _crate, _test_file):
            yield from look(op, folder)
    yield from _library(op)


def _files(op: str, folder: Path) -> Iterator[Finding]:
    for name in ("kernel.rs", "ffi.rs", "reference/analysis.json"):
        if not (folder / name).is_file():
            yield Finding("files", f"{op}: wanted {name}, got no such file", "add it", file=str(folder / name))
    ffi = folder / "ffi.rs"
    if ffi.is_file() and not re.search(rf"\b(cutile_)?{re.escape(op)}\b", ffi.read_text(encoding="utf-8")):
        yield Finding(
            "files", f"{op}: ffi.rs: wanted a declaration of {op}, got none", "declare it with op!", file=str(ffi)
        )


# The keys that tools expect, and whether a value is one.
_KEYS: dict[str, Callable[[Any], bool]] = {
    "kernel_name": lambda value: isinstance(value, str),
    "source": lambda value: isinstance(value, str),
    "launch_path": lambda value: isinstance(value, str),
    "pattern": lambda value: isinstance(value, str),
    "ops_used": lambda value: isinstance(value, list),
    "test_perf_configs": bool,
    "correctness_reference": lambda value: isinstance(value, dict) and bool(value.get("function")),
    "correctness_tolerance": lambda value: isinstance(value, dict) and bool(value),
}


def _analysis(op: str, folder: Path) -> Iterator[Finding]:
    path = folder / "reference" / "analysis.json"
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        yield Finding(
            "analysis", f"{op}: wanted JSON, got {error.msg}", "correct it", file=str(path), line=error.lineno
        )
        return
    for key, is_right in _KEYS.items():
        if not isinstance(values, dict) or key not in values or not is_right(values[key]):
            got = repr(values.get(key))[:60] if isinstance(values, dict) and key in values else "none"
            line = text[: max(text.find(f'"{key}"'), 0)].count("\n") + 1
            yield Finding("analysis", f"{op}: wanted a usable {key}, got {got}", "state it", file=str(path), line=line)


def _crate(op: str, folder: Path) -> Iterator[Finding]:
    crate = folder.parent / "cutile_kernels" / "src" / "lib.rs"
    if crate.is_file() and f"{op}_kernel/" not in _without_comments(crate.read_text(encoding="utf-8")):
        text = f"{op}: wanted the kernel's sources in lib.rs, got none"
        yield Finding("crate", text, "add the op's line there", file=str(crate))
    package = folder.parent / "__init__.py"
    if package.is_file() and not re.search(rf"\b{re.escape(op)}\b", package.read_text(encoding="utf-8")):
        yield Finding("import", f"{op}: wanted an import of the wrapper, got none", "import it", file=str(package))


def _without_comments(source: str) -> str:
    return re.sub(r"//[^\n]*", "", source)


def _test_file(op: str, folder: Path) -> Iterator[Finding]:
    """Only in a checkout: an installed package has no tests."""
    tests = next((parent / "tests" / "ops" for parent in folder.parents if (parent / "tests" / "ops").is_dir()), None)
    if tests is None:
        return
    path = tests / f"test_{op}.py"
    if not path.is_file():
        yield Finding("test", f"{op}: wanted a test file, got none", "add it", file=str(path))


def _library(op: str) -> Iterator[Finding]:
    import tilegym_rs

    try:
        library = tilegym_rs.library()
    except (BuildError, KernelError, ImportError) as error:
        yield Finding(
            "library", f"{op}: wanted the kernel library, got: {error}", "tilegym-rs doctor tells what is missing"
        )
        return
    if op not in library.ops:
        text = f"{op}: wanted a row in the library's manifest, got only {', '.join(library.ops)}"
        yield Finding("manifest", text, "declare the op with op! in ffi.rs", file=library.path)
    if not hasattr(ctypes.CDLL(library.path), f"cutile_{op}"):
        text = f"{op}: wanted the exported symbol cutile_{op}, got none"
        yield Finding("symbol", text, "declare the op with op! in ffi.rs", file=library.path)


def _compared(op: str) -> tuple[int, list[Finding]]:
    import torch

    from tilegym_rs.device import default_device
    from tilegym_rs.validation import analysis, case_set
    from tilegym_rs.validation.cases import OpComparison

    cases = case_set.case_set(op)
    file = str(analysis.path_of(op) or analysis.implementation_file(op) or "")
    if cases.problem:
        return 0, [Finding("comparison", cases.problem, "state what the comparison needs", file=file)]
    made: list[object] = []
    comparison = OpComparison(lambda _name, value: made.append(value))
    source = str(analysis.implementation_file(op) or file)
    failed = []
    for case in case_set.small_set(op):
        try:
            case_set.run(case, torch.device(default_device()), comparison)
        except case_set.NotComparedError:
            continue
        except Exception as error:
            remedy = f"pytest --cutile-rs-all -k '{op}' runs every case"
            failed.append(Finding("comparison", f"{case.id}: {type(error).__name__}: {error}", remedy, file=source))
    if not made and not failed:
        failed.append(Finding("comparison", f"{op}: wanted a comparison, got none", "state shapes", file=file))
    return len(made), failed
