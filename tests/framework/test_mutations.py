"""Faults put into ops on purpose: each must fail the op's cases, with a message that names the cause.

The faults sit at the library's edges, so nothing is rebuilt; tools/mutations breaks kernels and rebuilds them.
"""

from __future__ import annotations

import importlib

import pytest
import torch

import tilegym
from tilegym.backend import registry
from tilegym.backend.cutile_rs import utils
from tilegym.ops import reference
from tilegym_rs.device import default_device
from tilegym_rs.validation import case_set
from tilegym_rs.validation.cases import OpComparison
from tilegym_rs.validation.records import PASS

importlib.import_module("tilegym.ops")

pytestmark = pytest.mark.skipif(
    not tilegym.is_backend_available("cutile-rs"), reason="there is no kernel library and nothing to build one with"
)


class Launches:
    """The kernel library with another launch of every op: `launch(real, out, *inputs, **options)`."""

    def __init__(self, library, launch):
        self._library, self._launch = library, launch

    def __getattr__(self, op):
        real = getattr(self._library, op)
        return lambda *args, **options: self._launch(real, *args, **options)


def after(change):
    """A launch that changes the output behind the kernel."""

    def launch(real, out, *inputs, **options):
        real(out, *inputs, **options)
        change(out)

    return launch


def with_input(change):
    """A launch that reads other inputs than it was given."""
    return lambda real, out, x, *others, **options: real(out, change(x), *others, **options)


def swallowed(real, out, *inputs, **options):
    try:
        real(out, *inputs, **{**options, "block_size": 3})
    except (RuntimeError, ValueError):
        out.zero_()


def written_input(real, out, x, *others, **options):
    real(out, x, *others, **options)
    x[..., 0] = 7


def written_outside(real, out, x, *others, **options):
    real(out, x, *others, **options)
    x.as_strided(x.shape, x.stride(), x.storage_offset() + 1)[..., -1] = 7


def in_bf16(out):
    out.copy_(out.bfloat16())


def last_column(out):
    out[..., -1] = 0


def one_tile(out):
    out[32:, 128:] += 1


def one(value):
    def change(out):
        out.view(-1)[out.numel() // 2] = value

    return change


def noise(out):
    out += torch.rand(1).item() * 1e-8


# Fault, op, part of a case's id, launch, what the message says.
LAUNCHES = [
    ("wrong constant", "softmax", "values-float32", after(lambda out: out.mul_(1.01)), "Tensor-likes are not close"),
    ("wrong precision", "softmax", "values-float32", after(in_bf16), "Greatest relative difference"),
    ("wrong stride", "softmax", "padded", with_input(lambda x: x.as_strided(x.shape, (x.shape[1], 1))), "padded"),
    ("lost offset", "softmax", "offset", with_input(lambda x: x.as_strided(x.shape, x.stride(), 0)), "offset"),
    ("swallowed error", "softmax", "values-float32", swallowed, "no kernel was launched.*last error: "),
    ("no launch", "softmax", "values-float32", lambda real, out, *_, **__: out.zero_(), "no kernel was launched"),
    ("one NaN", "softmax", "values-float16", after(one(float("nan"))), "NaN only in the result: 1 of"),
    ("one infinity", "matmul", "values-float32", after(one(float("inf"))), "Infinity only in the result"),
    ("lost tail", "silu_and_mul", "values-float32", after(last_column), "Mismatched elements"),
    ("one wrong tile", "matmul", "64x256x128", after(one_tile), "Blocks of .* have mismatches, first"),
    ("input written", "softmax", "values-float32", written_input, "wanted the input's memory unchanged"),
    ("written outside the view", "softmax", "padded", written_outside, "wanted the input's memory unchanged"),
    ("not deterministic", "softmax", "deterministic", after(noise), "wanted the same bits at every call"),
    (
        "swapped operands",
        "matmul",
        "130x70x65-options",
        lambda real, out, a, b, **options: real(out, a.flip(0), b, **options),
        "Tensor-likes are not close",
    ),
]


def wrapped(change):
    """Another result of the op's wrapper: change(result, first argument)."""

    def make(implementation):
        return lambda x, *others, **options: change(implementation(x, *others, **options), x)

    return make


def forbidden(*_, **__):
    raise RuntimeError("no kernel for this device")


RESULTS = [
    ("wrong dtype", "values-float32", wrapped(lambda out, _: out.double()), "dtype: wanted torch.float32"),
    ("wrong shape", "values-float32", wrapped(lambda out, _: out[:, None].contiguous()), "shape: wanted"),
    ("not dense", "5x257", wrapped(lambda out, _: out.t().contiguous().t()), "wanted a dense row-major result"),
    ("no tensor", "values-float32", wrapped(lambda out, _: (out,)), "result: wanted a tensor, got tuple"),
    ("the reference itself", "values-float32", lambda _: reference.softmax.softmax, "no kernel was launched"),
    ("an op that raises", "values-float32", lambda _: forbidden, "no kernel for this device"),
]


@pytest.fixture
def restored(monkeypatch):
    """Replaces an implementation for the test."""
    before = {op: dict(row) for op, row in registry._table.items()}
    yield lambda op, backend, implementation: registry.add(op, backend, implementation)
    registry._table.clear()
    registry._table.update(before)
    for op in before:
        for listener in registry._listeners:
            listener(op)


def failure_of(op, part):
    """The first failure among the op's cases whose id has `part`."""
    cases = [case for case in case_set.case_set(op).cases if part in case.id]
    assert cases, f"{op} has no case {part}"
    records = []
    for case in cases:
        try:
            case_set.run(case, torch.device(default_device()), OpComparison(lambda _, value: records.append(value)))
        except case_set.NotComparedError:
            continue
        except (AssertionError, RuntimeError) as error:
            return str(error)
    return f"nothing failed: {[record['verdict'] for record in records]}"


@pytest.fixture
def broken(monkeypatch):
    """Puts a launch below the wrappers."""
    library = utils.kernel_library()

    def use(launch):
        monkeypatch.setattr(utils, "kernel_library", lambda: Launches(library, launch))
        utils.forget_plans()

    yield use
    monkeypatch.undo()
    utils.forget_plans()


@pytest.mark.parametrize(("op", "part", "launch", "text"), [row[1:] for row in LAUNCHES], ids=[r[0] for r in LAUNCHES])
def test_a_broken_launch_is_caught(broken, op, part, launch, text):
    broken(launch)
    with pytest.raises(AssertionError, match=f"(?s){text}"):
        raise AssertionError(failure_of(op, part))


@pytest.mark.parametrize(("part", "make", "text"), [row[1:] for row in RESULTS], ids=[row[0] for row in RESULTS])
def test_a_broken_wrapper_is_caught(restored, part, make, text):
    restored("softmax", "cutile-rs", make(registry.find("softmax", "cutile-rs")))
    with pytest.raises(AssertionError, match=f"(?s){text}"):
        raise AssertionError(failure_of("softmax", part))


def test_nan_on_both_sides_is_caught(broken, monkeypatch):
    broken(after(one(float("nan"))))

    def nan_too(x, **_):
        result = torch.softmax(x.double(), -1)
        one(float("nan"))(result)
        return result

    monkeypatch.setitem(reference.ORACLES, "softmax", nan_too)
    assert "NaN in both" in failure_of("softmax", "values-float32")


def test_a_missing_op_is_caught(restored):
    cases = [case for case in case_set.case_set("softmax").cases if case.kind == "values"]
    registry._table["softmax"].pop("cutile-rs")
    with pytest.raises(AssertionError, match="backend 'cutile-rs' has no implementation to compare"):
        case_set.run(cases[0], torch.device(default_device()), OpComparison(lambda *_: None))


@pytest.mark.parametrize("op", ["softmax", "silu_and_mul", "matmul"])
def test_nothing_fails_without_a_fault(op):
    assert failure_of(op, "values-float16") == f"nothing failed: {self_verdicts(op)}"


def self_verdicts(op):
    return [PASS] * sum("values-float16" in case.id for case in case_set.case_set(op).cases)
