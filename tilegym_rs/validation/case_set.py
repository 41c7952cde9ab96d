"""The cases of every registered op: sizes, dtypes, layouts, options, gradients, determinism, other references.

They come from the registry and each op's analysis.json, so an op needs no test file to be compared.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tilegym_rs.validation import analysis, inputs, references, tolerances
from tilegym_rs.validation.cases import KERNEL_BACKEND, OpComparison, bound
from tilegym_rs.validation.compare import Tolerance, compare
from tilegym_rs.validation.layouts import ARRANGEMENTS, arrange
from tilegym_rs.validation.records import PASS

_DTYPES = ("float32", "float16", "bfloat16")
_REPEATS = 3


class NotComparedError(Exception):
    """Why a case cannot be tried here; not a failure."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One call of an op and what is looked at; its id is the same in every process."""

    op: str
    kind: str
    dtype: str
    size: inputs.Size
    layout: str = "packed"
    options: int = 0

    @property
    def id(self) -> str:
        """A name that pytest's -k can select by."""
        shapes = self.size if self.size and isinstance(self.size[0], tuple) else (self.size,)
        size = "_".join("x".join(map(str, shape)) for shape in shapes)
        parts = [self.kind, self.dtype, size, self.layout if self.layout != "packed" else ""]
        return "-".join(filter(None, [*parts, f"options{self.options}" if self.options else ""]))


@dataclasses.dataclass(frozen=True)
class CaseSet:
    """The cases of an op, or why there are none."""

    op: str
    cases: tuple[Case, ...] = ()
    problem: str = ""


def registered_ops() -> list[str]:
    """The ops with an implementation for cutile-rs, those of tilegym among them."""
    from tilegym.backend import registry

    importlib.import_module("tilegym.ops")
    return sorted(op for op in registry.ops() if registry.find(op, KERNEL_BACKEND))


def expected_ops() -> list[str]:
    """The registered ops, and those whose kernels are there: a kernel folder beside one of the wrappers."""
    registered = registered_ops()
    sources = filter(None, map(analysis.implementation_file, registered))
    beside = {source.parent for source in sources}
    kernels = {
        path.name.removesuffix("_kernel") for folder in beside for path in folder.glob("*_kernel") if path.is_dir()
    }
    return sorted({*registered, *kernels})


def case_set(op: str) -> CaseSet:
    """The cases of an op. What keeps it from having any is told as text, not raised."""
    from tilegym.backend import registry

    if registry.find(op, KERNEL_BACKEND) is None:
        return CaseSet(
            op, problem=f"{op}: wanted an implementation registered for cutile-rs, got none; import the wrapper"
        )
    try:
        plan = inputs.plan(op)
        references.oracle(op)
        return CaseSet(op, tuple(_cases(op, plan)))
    except (LookupError, ValueError, TypeError) as error:
        return CaseSet(op, problem=str(error))


def _cases(op: str, plan: inputs.Plan) -> list[Case]:
    dtypes = _dtypes(op)
    sizes, main = plan.sizes, plan.sizes[0]
    cases = [Case(op, "values", dtype, size) for dtype in dtypes for size in sizes]
    cases += [
        Case(op, "values", dtype, main, layout) for dtype in dtypes for layout in ARRANGEMENTS if layout != "packed"
    ]
    cases += [Case(op, "values", dtypes[0], main, options=number) for number in range(1, len(plan.options))]
    cases += [Case(op, "empty", dtypes[0], size) for size in inputs.with_zero(main)]
    cases += [Case(op, kind, dtypes[0], main) for kind in ("gradients", "deterministic")]
    # One case says that there is no such kernel, several compare with it.
    cases += [Case(op, kind, dtype, main) for kind in _OTHERS for dtype in _dtypes_of_other(op, kind, dtypes)]
    return cases


def _dtypes_of_other(op: str, backend: str, dtypes: list[str]) -> list[str]:
    from tilegym.backend import registry

    return dtypes if registry.find(op, backend) else dtypes[:1]


# Kernels in other languages, each the reference of a kind of case of the same name.
_OTHERS = ("cutile", "triton")


def _dtypes(op: str) -> list[str]:
    """The dtypes for which the op states a tolerance, else the usual ones."""
    stated = analysis.of(op).get("correctness_tolerance", {})
    known = [dtype for dtype in tolerances.DEFAULTS if any(name in stated for name in tolerances.spellings(dtype))]
    return known or list(_DTYPES)


def run(case: Case, device: torch.device, comparison: OpComparison) -> None:
    """Runs a case.

    Raises:
        AssertionError: the comparison failed.
        NotComparedError: the case cannot be tried here.
    """
    labels = {"case": case.kind, "layout": "" if case.layout == "packed" else case.layout}
    _RUNNERS[case.kind](case, _Call.of(case, device), dataclasses.replace(comparison, labels=labels))


@dataclasses.dataclass(frozen=True)
class _Call:
    """Arguments by name; `memories` are the allocations behind the tensors."""

    tensors: dict[str, Any]
    options: dict[str, Any]
    memories: tuple[torch.Tensor, ...]

    @classmethod
    def of(cls, case: Case, device: torch.device) -> _Call:
        plan = inputs.plan(case.op)
        options = dict(plan.options[case.options]) if plan.options else {}
        described = {**plan.inputs, **options.pop("inputs", {})}
        dtype = getattr(torch, case.dtype)
        made = plan.arguments_with(described, case.size, dtype, device, seed=len(case.id))
        memories = []
        for name, value in made.items():
            if isinstance(value, torch.Tensor):
                made[name], memory = arrange(case.layout, value)
                memories.append(memory)
        return cls(made, options, tuple(memories))

    @property
    def arguments(self) -> dict[str, Any]:
        return {**self.tensors, **self.options}

    def inputs(self) -> list[torch.Tensor]:
        return [value for value in self.tensors.values() if isinstance(value, torch.Tensor)]


def arguments(case: Case, device: torch.device) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a case, by position and by keyword."""
    return _split(case, _Call.of(case, device))


def _split(case: Case, call: _Call) -> tuple[list[Any], dict[str, Any]]:
    """Arguments without a default by position, whatever a reference calls them, and the others by keyword."""
    from tilegym.backend import registry

    source = registry.find(case.op, registry.DEFAULT) or registry.find(case.op, KERNEL_BACKEND)
    assert source is not None
    needed = [p.name for p in inspect.signature(source).parameters.values() if p.default is p.empty]
    first = [name for name in needed if name in call.tensors]
    others = {name: value for name, value in call.tensors.items() if name not in first}
    return [call.tensors[name] for name in first], {**others, **call.options}


def _values(case: Case, call: _Call, comparison: OpComparison) -> None:
    before = [memory.clone() for memory in call.memories]
    positional, keywords = _split(case, call)
    comparison(case.op, *positional, **keywords)
    names = [name for name, value in call.tensors.items() if isinstance(value, torch.Tensor)]
    for memory, saved, name in zip(call.memories, before, names, strict=True):
        if not _same_bits(memory, saved):
            raise AssertionError(f"{case.op}: {name}: wanted the input's memory unchanged, got other values there")


def _same_bits(left: torch.Tensor, right: torch.Tensor) -> bool:
    return torch.equal(left.reshape(-1).view(torch.uint8), right.reshape(-1).view(torch.uint8))


def _deterministic(case: Case, call: _Call, comparison: OpComparison) -> None:
    positional, keywords = _split(case, call)
    first = comparison(case.op, *positional, **keywords)
    repeat = bound(case.op, tuple(positional), KERNEL_BACKEND, keywords)
    for number in range(2, _REPEATS + 1):
        again = compare(repeat(), first, Tolerance(0.0, 0.0), nan_equal=True)
        if again.verdict != PASS:
            raise AssertionError(
                f"{case.op}: wanted the same bits at every call, got others at call {number}: {again.message}"
            )


def _gradients(case: Case, call: _Call, comparison: OpComparison) -> None:
    leaves = [tensor for tensor in call.inputs() if tensor.is_floating_point()]
    for leaf in leaves:
        leaf.requires_grad_()
    positional, keywords = _split(case, call)
    try:
        result = bound(case.op, tuple(positional), KERNEL_BACKEND, keywords)()
    except RuntimeError as error:
        if not any(words in str(error) for words in _NO_BACKWARD):
            raise
        raise NotComparedError(f"{case.op} has no backward") from None
    if not result.requires_grad:
        raise NotComparedError(f"{case.op} has no backward")
    reference_leaves = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    wide = {id(leaf): twin for leaf, twin in zip(leaves, reference_leaves, strict=True)}
    swapped = {name: wide.get(id(value), value) for name, value in keywords.items()}
    expected = references.oracle(case.op)[1](*(wide.get(id(value), value) for value in positional), **swapped)
    slope = torch.randn(result.shape, generator=torch.Generator().manual_seed(1)).to(result.device)
    found = torch.autograd.grad(result, leaves, slope.to(result.dtype))
    wanted = torch.autograd.grad(expected, reference_leaves, slope.to(result.dtype).to(expected.dtype))
    limit = _of_gradients(tolerances.tolerance_for(case.op, case.dtype))
    names = [name for name, value in call.tensors.items() if any(value is leaf for leaf in leaves)]
    for name, gradient, reference in zip(names, found, wanted, strict=True):
        _record_other(comparison, case, call, f"gradient of {name}", gradient, reference, limit, references.ORACLE)


# In the text of an op that refuses tensors with a gradient.
_NO_BACKWARD = ("has no backward", "forward only")


def _of_gradients(values: Tolerance) -> Tolerance:
    """A gradient goes through the op twice and sums where the op broadcasts."""
    return Tolerance(atol=10 * values.atol, rtol=10 * values.rtol)


def _against_other(case: Case, call: _Call, comparison: OpComparison) -> None:
    tensors = call.inputs()
    usable, reasons = references.others(case.op, tensors[0].device)
    if case.kind not in usable:
        raise NotComparedError(reasons[case.kind])
    positional, keywords = _split(case, call)
    comparison(case.op, *positional, expected=None, **keywords)
    actual = bound(case.op, tuple(positional), KERNEL_BACKEND, keywords)()
    expected = usable[case.kind](*positional, **keywords)
    limit = tolerances.tolerance_for(case.op, case.dtype)
    _record_other(comparison, case, call, "values", actual, expected, limit, f"{case.kind} kernel")


def _record_other(
    comparison: OpComparison,
    case: Case,
    call: _Call,
    what: str,
    actual: torch.Tensor,
    expected: torch.Tensor,
    limit: Tolerance,
    reference: str,
) -> None:
    """Compares two results that are there already, and records that."""
    labels = {**comparison.labels, "reference": reference, "case": f"{case.kind}: {what}"}
    dataclasses.replace(comparison, labels=labels).of_results(
        case.op, call.inputs(), actual, expected, limit, call.options
    )


_RUNNERS: dict[str, Callable[[Case, _Call, OpComparison], None]] = {
    "values": _values,
    "empty": _values,
    "deterministic": _deterministic,
    "gradients": _gradients,
    **dict.fromkeys(_OTHERS, _against_other),
}


def small_set(op: str) -> Sequence[Case]:
    """A few cases of an op: each dtype once, one strided layout, determinism."""
    cases = case_set(op).cases
    main = [case for case in cases if case.kind == "values" and case.size == cases[0].size and not case.options]
    kept = [
        case for case in main if case.layout == "packed" or (case.layout == "padded" and case.dtype == main[0].dtype)
    ]
    return [*kept, *(case for case in cases if case.kind == "deterministic")]
