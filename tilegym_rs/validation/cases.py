"""One comparison of an op with its reference: call, proof that a kernel was launched, values, time, record."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import torch

from tilegym_rs.validation import analysis, references
from tilegym_rs.validation.compare import Outcome, Tolerance, compare
from tilegym_rs.validation.observe import Observation, block_of, configuration_of, engine_nanoseconds, observed
from tilegym_rs.validation.records import COMPARISON, ERROR, FAIL, FAILURES, PASS, Record, Timing
from tilegym_rs.validation.time_limit import limited
from tilegym_rs.validation.timing import time_warm_calls
from tilegym_rs.validation.tolerances import tolerance_for

KERNEL_BACKEND = "cutile-rs"


@dataclasses.dataclass(frozen=True)
class OpComparison:
    """Compares ops with their float64 oracles and records each comparison.

    Attributes:
        record: called with (name, plain value), as pytest's record_property.
        timed: whether a passed comparison is timed, too.
        labels: further fields of each record, such as the layout.
        seconds: how long a call of the op may take, or None.
    """

    record: Callable[[str, Any], None]
    timed: bool = False
    labels: dict[str, Any] = dataclasses.field(default_factory=dict)
    seconds: float | None = None

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
            Exception: whatever the op raises, after it was recorded.
        """
        call = bound(op, args, backend, kwargs)
        want = expected_of(op, args, kwargs) if expected is None else expected
        inputs = _tensors(args, kwargs)
        dtype = _result_dtype(op, inputs)
        limit = tolerance or tolerance_for(op, dtype_name(dtype))
        with observed() as seen:
            try:
                with limited(self.seconds):
                    result = call()
            except Exception as error:
                self._record(op, backend, inputs, inputs[0].device, _raised(error), limit, seen, None, kwargs)
                raise
        if backend == KERNEL_BACKEND and kwargs.get("out") is None:
            seen.configuration = configuration_of(call)
        outcome = _check_form(result, dtype, inputs[0].device, dense=kwargs.get("out") is None)
        if outcome is None and backend == KERNEL_BACKEND:
            outcome = _check_launches(result, inputs, seen)
        if outcome is None:
            block = _block(op, args, kwargs, seen, result)
            outcome = compare(result, want, limit, nan_equal=nan_equal, tile=seen.configuration, block=block)
        timing = self._time(call, result, outcome, seen)
        device = result.device if isinstance(result, torch.Tensor) else inputs[0].device
        entry = self._record(op, backend, inputs, device, outcome, limit, seen, timing, kwargs)
        if outcome.verdict in FAILURES:
            raise AssertionError(
                f"{entry.subject} on {entry.device}, {backend} against {entry.reference}: {outcome.message}"
            )
        return result

    def of_results(
        self,
        op: str,
        inputs: list[torch.Tensor],
        actual: torch.Tensor,
        expected: torch.Tensor,
        limit: Tolerance,
        options: dict[str, Any],
    ) -> None:
        """Compares and records two results that are there already. Raises AssertionError where they differ."""
        outcome = compare(actual, expected, limit)
        entry = self._record(op, KERNEL_BACKEND, inputs, actual.device, outcome, limit, Observation(), None, options)
        _raise_for(entry)

    def _time(
        self, call: Callable[[], Any], result: torch.Tensor, outcome: Outcome, seen: Observation
    ) -> Timing | None:
        if not self.timed or outcome.verdict != PASS:
            return None
        clock = engine_nanoseconds if result.device.type == "cpu" else None
        return time_warm_calls(call, result.device.type, seen.compile_ms, clock)

    def _record(
        self,
        op: str,
        backend: str,
        inputs: list[torch.Tensor],
        device: torch.device,
        outcome: Outcome,
        limit: Tolerance,
        seen: Observation,
        timing: Timing | None,
        options: dict[str, Any],
    ) -> Record:
        entry = Record(
            **{
                "op": op,
                "backend": backend,
                "dtype": dtype_name(inputs[0].dtype),
                "shape": shape_text(inputs),
                "device": device_name(device),
                "mode": "gpu" if device.type == "cuda" else "cpu",
                "verdict": outcome.verdict,
                "error": outcome.error,
                "tolerance": str(limit),
                "message": outcome.message,
                "timing": timing,
                "options": {k: v for k, v in options.items() if not isinstance(v, torch.Tensor)},
                "configuration": dict(seen.configuration),
                "errors": dict(outcome.errors),
                "blocks": dict(outcome.blocks),
                **self.labels,
            }
        )
        self.record(COMPARISON, entry.to_plain())
        return entry


def _raise_for(entry: Record) -> None:
    if entry.verdict in FAILURES:
        raise AssertionError(
            f"{entry.subject} on {entry.device}, {entry.backend} against {entry.reference}: {entry.message}"
        )


def _raised(error: Exception) -> Outcome:
    return Outcome(ERROR, None, f"raised {type(error).__name__}: {error}")


def _block(
    op: str, args: tuple[Any, ...], kwargs: dict[str, Any], seen: Observation, result: torch.Tensor
) -> tuple[int, ...] | None:
    from tilegym.backend import registry

    implementation = registry.find(op, KERNEL_BACKEND)
    try:
        named = inspect.signature(implementation).bind_partial(*args, **kwargs).arguments if implementation else {}
    except (TypeError, ValueError):
        named = {}
    block = block_of(op, seen.configuration, named)
    return block[-result.dim() :] if block and result.dim() else None


def bound(op: str, args: tuple[Any, ...], backend: str, kwargs: dict[str, Any]) -> Callable[[], torch.Tensor]:
    """A call of the op on that backend and no other one, whichever project has registered it."""
    import tilegym
    from tilegym.backend import registry

    public = getattr(tilegym.ops, op, None)  # the first use of tilegym.ops registers its implementations
    implementation = registry.find(op, backend)
    if implementation is None:
        implemented = ", ".join(tilegym.get_available_backends_for_op(op))
        raise AssertionError(f"{op}: backend {backend!r} has no implementation to compare; there are: {implemented}")
    if getattr(public, "_tilegym_op_name", None) != op:
        return lambda: implementation(*args, **kwargs)
    return lambda: public(*args, backend=backend, **kwargs)  # type: ignore[misc]


def expected_of(op: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    """The oracle's result for packed copies of the arguments."""
    others = {name: references.packed(value) for name, value in kwargs.items() if name != "out"}
    return references.oracle(op)[1](*map(references.packed, args), **others)


def _tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    inputs = [*args, *(value for name, value in kwargs.items() if name != "out")]
    return [value for value in inputs if isinstance(value, torch.Tensor)]


def shape_text(inputs: list[torch.Tensor]) -> str:
    """Shapes of an op's tensors in a few characters."""
    return " @ ".join("x".join(map(str, tensor.shape)) or "scalar" for tensor in inputs)


def _result_dtype(op: str, inputs: list[torch.Tensor]) -> torch.dtype:
    """What analysis.json says of the result, else the dtype of the first tensor of floats, or of any."""
    stated = analysis.of(op).get("comparison", {}).get("result", {})
    found = getattr(torch, str(stated.get("dtype")), None)
    if isinstance(found, torch.dtype):
        return found
    return next((tensor.dtype for tensor in inputs if tensor.is_floating_point()), inputs[0].dtype)


def _check_form(result: torch.Tensor, dtype: torch.dtype, device: torch.device, dense: bool) -> Outcome | None:
    """A failure when the result is not what every op promises apart from its values."""
    if not isinstance(result, torch.Tensor):
        return Outcome(FAIL, None, f"result: wanted a tensor, got {type(result).__name__}")
    if result.dtype != dtype:
        return Outcome(FAIL, None, f"dtype: wanted {dtype}, got {result.dtype}")
    if result.device != device:
        return Outcome(FAIL, None, f"device: wanted {device}, got {result.device}")
    if dense and not result.is_contiguous():
        return Outcome(FAIL, None, f"layout: wanted a dense row-major result, got strides {result.stride()}")
    return None


def _check_launches(result: torch.Tensor, inputs: list[torch.Tensor], seen: Observation) -> Outcome | None:
    """A failure unless a kernel ran exactly where there was something to compute."""
    has_work = result.numel() > 0 and all(tensor.numel() > 0 for tensor in inputs)
    if has_work and seen.launches == 0:
        because = f"; the kernel library's last error: {seen.last_error}" if seen.last_error else ""
        return Outcome(FAIL, None, f"no kernel was launched, so nothing of cutile-rs was compared{because}")
    if not has_work and seen.launches != 0:
        return Outcome(FAIL, None, f"wanted no launch for a tensor without elements, got {seen.launches}")
    return None


def device_name(device: torch.device) -> str:
    """The device in words: the GPU's name, or "CPU device"."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU device"


def dtype_name(dtype: torch.dtype) -> str:
    """The name of a dtype without its module."""
    return str(dtype).removeprefix("torch.")
