"""The kernels in cuTile Python: values, layouts, what they share with the Rust kernels' wrappers, errors."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import tilegym
from tilegym.backend import availability, selector
from tilegym_rs.validation import layouts

pytest.importorskip("cuda.tile", reason="cuTile Python (PyPI cuda-tile) compiles the kernels")
pytestmark = pytest.mark.usefixtures("seeded")

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
TILES = {"kernel_configs": {"bm": 32, "bn": 32, "bk": 16}}
HEADS = [(2, 9, 2, 3, 40), (2, 30, 2, 40), (2, 30, 2, 40), (6,)]

# name -> (op, shapes, options); the second pair of numbers of a product takes several tiles.
CALLS = {
    "softmax": ("softmax", [(2, 3, 257)], {}),
    "softmax-chunked": ("softmax", [(3, 1500)], {"use_chunked": True}),
    "silu_and_mul": ("silu_and_mul", [(2, 3, 514)], {}),
    "swiglu": ("swiglu", [(2, 3, 257), (2, 3, 257)], {}),
    "matmul": ("matmul", [(70, 50), (50, 90)], TILES),
    "matmul-block_a_tile": ("matmul", [(70, 50), (50, 90)], {"static_persistent": False, **TILES}),
    "matmul-transposed": ("matmul", [(50, 70), (90, 50)], {"trans_a": True, "trans_b": True, **TILES}),
    "bmm": ("bmm", [(3, 70, 50), (3, 50, 90)], TILES),
    "bmm-block_a_tile": ("bmm", [(3, 70, 50), (3, 50, 90)], {"static_persistent": False, **TILES}),
    "bmm-transposed": ("bmm", [(3, 50, 70), (3, 90, 50)], {"transpose_a": True, "transpose_b": True, **TILES}),
    "attention_sink": ("attention_sink", HEADS, {"start_q": 4, "sm_scale": 0.2}),
    "attention_sink-window": ("attention_sink", HEADS, {"start_q": 21, "sliding_window": 5}),
    "attention_sink-position_in_memory": ("attention_sink", HEADS, {"start_q": torch.tensor([7])}),
}


def tensors(name, dtype, device):
    op, shapes, _ = CALLS[name]
    scale = shapes[0][-1] ** -0.5 if op in ("matmul", "bmm") else 1
    return [(torch.randn(shape, device=device) * scale**0.5).to(dtype) for shape in shapes]


def launches():
    import tilegym_rs

    return tilegym_rs.library().counters().launches


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_values(compare_op, device, name, dtype):
    op, _, options = CALLS[name]
    before = launches()
    compare_op(op, *tensors(name, dtype, device), backend="cutile", **options)
    assert launches() == before  # of the Rust kernels


@pytest.mark.parametrize("layout", layouts.MATRICES)
@pytest.mark.parametrize("op", ["softmax", "silu_and_mul", "swiglu", "matmul"])
def test_any_layout(compare_op, device, op, layout):
    x, memory = layouts.MATRICES[layout](40, 40, torch.float16, device)
    before, other = memory.clone(), torch.randn(40, 40, device=device).half()
    compare_op(op, *((x, other) if op in ("swiglu", "matmul") else (x,)), backend="cutile")
    assert torch.equal(memory, before)


def test_permuted_heads(compare_op, device):
    query, key, value, sinks = tensors("attention_sink", torch.float16, device)
    key, value = (t.permute(0, 2, 1, 3).contiguous().permute(0, 2, 1, 3) for t in (key, value))
    compare_op("attention_sink", query.mT.contiguous().mT, key, value, sinks, backend="cutile")


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_out_is_written_in_place(device, layout):
    memory = torch.zeros(20, 20, device=device)
    out = memory[:5, 4:13] if layout == "rows" else memory[4:13, :5].t()
    x = torch.randn(5, 18, device=device)
    assert tilegym.ops.silu_and_mul(x, out=out, backend="cutile") is out
    torch.testing.assert_close(out, tilegym.ops.silu_and_mul(x, backend="pytorch"))
    assert memory.count_nonzero() == out.numel()


@pytest.mark.parametrize("op", ["softmax", "swiglu", "matmul"])
def test_no_elements(device, op):
    x = torch.empty(0, 0, device=device)
    out = getattr(tilegym.ops, op)(*([x] if op == "softmax" else [x, x]), backend="cutile")
    assert out.shape == (0, 0)


def test_strides_beyond_32_bits(compare_op):
    x = torch.randn(1, 60).as_strided((1, 60), (2**40, 1))
    compare_op("softmax", x, backend="cutile")


def test_tf32_is_a_choice(device):
    a, b = torch.full((16, 16), 1 + 2**-12, device=device), torch.eye(16, device=device)
    found = [tilegym.ops.matmul(a, b, allow_tf32=choice, backend="cutile")[0, 0].item() for choice in (True, False)]
    assert found == [1.0, 1 + 2**-12]


def test_a_signature_is_compiled_once(monkeypatch):
    from tilegym.ops.cutile import launcher

    compiled = []
    bytecode = launcher.bytecode
    monkeypatch.setattr(launcher, "bytecode", lambda *arguments: compiled.append(1) or bytecode(*arguments))
    monkeypatch.setattr(launcher, "_modules", {})
    for rows, columns in ((3, 20), (4, 30), (1, 17)):
        tilegym.ops.softmax(torch.randn(rows, columns), backend="cutile")
    assert len(compiled) == 1
    tilegym.ops.softmax(torch.randn(3, 20).half(), backend="cutile")
    assert len(compiled) == 2


def test_hints_reach_the_module():
    from tilegym.ops.cutile.export import bytecode, parameter_of
    from tilegym.ops.cutile.softmax_kernel import softmax
    from tilegym_rs import tile_ir

    x = torch.empty(2, 8)
    call = softmax(x, x, block_size=8, num_cta_in_cga=2, occupancy=4)
    parameters = tuple(map(parameter_of, call.arguments.values()))
    module = tile_ir.load(bytecode("softmax", call.hinted, "entry", "sm_100", parameters, call.constants))
    assert module.facts().entry_hints == {"num_cta_in_cga": 2, "occupancy": 4}


@pytest.fixture
def chosen(monkeypatch):
    """No backend has been chosen; which one is, is forgotten."""
    monkeypatch.setattr(selector, "_process_wide", None)


def used(monkeypatch, call):
    """The grids of what is launched by cuTile's side."""
    from tilegym.ops.cutile import launcher

    grids = []
    monkeypatch.setattr(launcher, "launch", lambda op, call: grids.append((op, call.grid)))
    call(torch.randn(7, 4))
    return grids


def test_set_backend(monkeypatch, chosen):
    tilegym.set_backend("cutile")
    assert used(monkeypatch, tilegym.ops.softmax) == [("softmax", (7,))]


def test_use_backend(monkeypatch, chosen):
    with tilegym.use_backend("cutile"):
        assert used(monkeypatch, tilegym.ops.softmax) == [("softmax", (7,))]
    assert used(monkeypatch, tilegym.ops.softmax) == []


def test_environment(monkeypatch, chosen):
    monkeypatch.setenv("CUTILE_TUTORIALS_BACKEND", "cutile")
    assert used(monkeypatch, tilegym.ops.softmax) == [("softmax", (7,))]


@pytest.mark.parametrize("reason", ["absent", "hidden"])
def test_not_available(monkeypatch, chosen, reason):
    if reason == "hidden":
        monkeypatch.setenv("TILEGYM_DISABLE_CUTILE", "1")
    else:
        installed = availability._installed
        monkeypatch.setattr(availability, "_installed", lambda name: name != "cuda.tile" and installed(name))
    remedy = "unset TILEGYM_DISABLE_CUTILE" if reason == "hidden" else "pip install cuda-tile"
    with pytest.raises(ImportError, match=f"softmax needs the backend 'cutile'.*{remedy}"):
        tilegym.ops.softmax(torch.randn(3, 4), backend="cutile")
    with pytest.raises(ValueError, match=f"'cutile' is not available here: {remedy}"):
        tilegym.set_backend("cutile")


def test_ops_are_imported_without_cutile_python():
    program = """
import sys
sys.modules["cuda.tile"] = None
import torch, tilegym
print(tilegym.ops.softmax(torch.zeros(1, 4), backend="pytorch").tolist(), tilegym.is_backend_available("cutile"))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "[[0.25, 0.25, 0.25, 0.25]] False\n", run.stderr


def test_a_gradient_is_refused():
    x = torch.randn(3, 4, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"softmax: .*no backward.*no_grad.*backend='cutile-rs'"):
        tilegym.ops.softmax(x, backend="cutile")
    with torch.no_grad():
        assert not tilegym.ops.softmax(x, backend="cutile").requires_grad


def test_autocast_lowers_products():
    a = torch.randn(4, 4)
    with torch.autocast("cpu", torch.bfloat16):
        assert tilegym.ops.matmul(a, a, backend="cutile").dtype == torch.bfloat16


def test_wrong_input_is_refused_by_name():
    with pytest.raises(NotImplementedError, match=r"softmax: x: wanted float32, float16 or bfloat16, got torch.int32"):
        tilegym.ops.softmax(torch.zeros(2, 2, dtype=torch.int32), backend="cutile")
    with pytest.raises(
        ValueError, match=r"softmax: wanted tensors with extents of at most 2147483647, got .*2147483648"
    ):
        tilegym.ops.softmax(torch.zeros(()).expand(2**31, 1), backend="cutile")


def test_what_cannot_be_compiled_is_told(monkeypatch):
    from tilegym.ops.cutile import export, launcher

    def refuse(*_, **__):
        raise TypeError("no such tile")

    monkeypatch.setattr(export.compilation, "export_kernel", refuse)
    monkeypatch.setattr(launcher, "_modules", {})
    with pytest.raises(RuntimeError, match="softmax: cuTile Python cannot compile softmax_single_tile_kernel: no such"):
        tilegym.ops.softmax(torch.zeros(2, 4), backend="cutile")
