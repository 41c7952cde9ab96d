"""One comparison of an op with its reference: call, proof that a kernel was launched, values, time, record."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch

from tilegym_rs.validation.compare import Outcome, Tolerance, compare
from tilegym_rs.validation.records import COMPARISON, FAIL, PASS, Record, Timing
from tilegym_rs.validation.timing import time_warm_calls
from tilegym_rs.validation.tolerances import tolerance_for

KERNEL_BACKEND = "cutile-rs"


@dataclasses.dataclass(frozen=True)
class _Counts:
    launches: int
    compile_ms: float


@dataclasses.dataclass(frozen=True)
class OpComparison:
    """Compares ops with their float64 oracles and records each comparison.

    Attributes:
        record: called with (name, plain value), as pytest's record_property.
        timed: whether a passed comparison is timed, too.
    """

    record: Callable[[str, Any], None]
    timed: bool = False

    def __call__(
        self,
        op: str,
        *args: Any,
        backend: str = KERNEL_BACKEND,
        tolerance: Tolerance | None = None,
        expected: torch.Tensor | None = None,
        nan_equal: bool = False,
        **kwargs: Any,
    ) -> torch.Tensor:
        """Calls `tilegym.ops.<op>` and compares the result with the op's oracle.

        Args:
            op: name of the op.
            *args: the op's arguments.
            backend: the implementation under test; no other one ever takes its place.
            tolerance: in place of the op's own.
            expected: in place of the oracle's result.
            nan_equal: accepts NaN where the oracle has NaN.
            **kwargs: the op's keywords.

        Returns:
            The result.

        Raises:
            AssertionError: wrong values, shape, dtype, layout or device, or cutile-rs launched nothing.
        """
        call = _bound(op, args, backend, kwargs)
        want = _expected(op, args, kwargs) if expected is None else expected
        inputs = _tensors(args, kwargs)
        limit = tolerance or tolerance_for(op, _name(inputs[0].dtype))
        before = _counts()
        result = call()
        after = _counts()
        outcome = _check_form(result, inputs, dense=kwargs.get("out") is None)
        if outcome is None and backend == KERNEL_BACKEND:
            outcome = _check_launches(result, inputs, after.launches - before.launches)
        if outcome is None:
            outcome = compare(result, want, limit, nan_equal=nan_equal)
        timing = self._time(call, result, outcome, after.compile_ms - before.compile_ms)
        self._record(op, backend, inputs, result, outcome, limit, timing)
        return result

    def _time(
        self, call: Callable[[], Any], result: torch.Tensor, outcome: Outcome, compile_ms: float
    ) -> Timing | None:
        if not self.timed or outcome.verdict != PASS:
            return None
        return time_warm_calls(call, result.device.type, compile_ms)

    def _record(
        self,
        op: str,
        backend: str,
        inputs: list[torch.Tensor],
        result: torch.Tensor,
        outcome: Outcome,
        limit: Tolerance,
        timing: Timing | None,
    ) -> None:
        entry = Record(
            op=op,
            backend=backend,
            dtype=_name(inputs[0].dtype),
            shape=" @ ".join("x".join(map(str, tensor.shape)) or "scalar" for tensor in inputs),
            device=device_name(result.device),
            verdict=outcome.verdict,
            error=outcome.error,
            tolerance=str(limit),
            message=outcome.message,
            timing=timing,
        )
        self.record(COMPARISON, entry.to_plain())
        if outcome.verdict == FAIL:
            raise AssertionError(f"{op} {entry.dtype} {entry.shape} on {entry.device}, {backend}: {outcome.message}")


def _bound(op: str, args: tuple[Any, ...], backend: str, kwargs: dict[str, Any]) -> Callable[[], torch.Tensor]:
    import tilegym

    function = getattr(tilegym.ops, op)
    if not tilegym.has_backend_impl(op, backend):
        implemented = ", ".join(tilegym.get_available_backends_for_op(op))
        raise AssertionError(f"{op}: backend {backend!r} has no implementation to compare; there are: {implemented}")
    return lambda: function(*args, backend=backend, **kwargs)


def _expected(op: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    from tilegym.ops.reference import ORACLES

    # Packed copies: the reference must not depend on the layouts under test, nor see what the op writes.
    def packed(value: Any) -> Any:
        return value.detach().clone(memory_format=torch.contiguous_format) if isinstance(value, torch.Tensor) else value

    others = {name: packed(value) for name, value in kwargs.items() if name != "out"}
    return ORACLES[op](*(packed(value) for value in args), **others)


def _tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    inputs = [*args, *(value for name, value in kwargs.items() if name != "out")]
    return [value for value in inputs if isinstance(value, torch.Tensor)]


def _check_form(result: torch.Tensor, inputs: list[torch.Tensor], dense: bool) -> Outcome | None:
    """A failure when the result is not what every op promises apart from its values."""
    if result.dtype != inputs[0].dtype:
        return Outcome(FAIL, None, f"dtype: wanted {inputs[0].dtype}, got {result.dtype}")
    if result.device != inputs[0].device:
        return Outcome(FAIL, None, f"device: wanted {inputs[0].device}, got {result.device}")
    if dense and not result.is_contiguous():
        return Outcome(FAIL, None, f"layout: wanted a dense row-major result, got strides {result.stride()}")
    return None


def _check_launches(result: torch.Tensor, inputs: list[torch.Tensor], launches: int) -> Outcome | None:
    """A failure unless a kernel ran exactly where there was something to compute."""
    has_work = result.numel() > 0 and all(tensor.numel() > 0 for tensor in inputs)
    if has_work and launches == 0:
        return Outcome(FAIL, None, "no kernel was launched, so nothing of cutile-rs was compared")
    if not has_work and launches != 0:
        return Outcome(FAIL, None, f"wanted no launch for a tensor without elements, got {launches}")
    return None


def _counts() -> _Counts:
    import tilegym_rs

    counters = tilegym_rs.counters()
    return _Counts(int(counters.launches), counters.compile_nanoseconds / 1e6)


def device_name(device: torch.device) -> str:
    """The device in words: the GPU's name, or "CPU device"."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU device"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
