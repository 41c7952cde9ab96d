"""The faults of tools/mutations: op, what is wrong, a pattern for the message that must name it, and the edits.

An edit is (file below src/tilegym/ops, text, what becomes of its first occurrence).
"""

from __future__ import annotations

import dataclasses

VALUES = r"Tensor-likes are not close!"
NO_LAUNCH = r"no kernel was launched"
NAN_IN_BOTH = r"NaN in both"
NOT_REGISTERED = r"wanted an implementation registered for cutile-rs, got none"


@dataclasses.dataclass(frozen=True)
class Fault:
    """One way to break the library."""

    op: str
    what: str
    message: str
    edits: tuple[tuple[str, str, str], ...]


def kernel(op: str, what: str, old: str, new: str, message: str = VALUES) -> Fault:
    """A fault in an op's kernel.rs."""
    return Fault(op, what, message, ((f"cutile_rs/{op}_kernel/kernel.rs", old, new),))


def launcher(op: str, what: str, old: str, new: str, message: str = VALUES) -> Fault:
    """A fault in an op's ffi.rs."""
    return Fault(op, what, message, ((f"cutile_rs/{op}_kernel/ffi.rs", old, new),))


FAULTS = (
    kernel("softmax", "wrong constant", "constant(1.0f32, const_shape![1])", "constant(1.001f32, const_shape![1])"),
    kernel("softmax", "zero padding in the maximum and the sum", "padding::NegInf", "padding::Zero"),
    kernel("softmax", "largest power in place of their sum", "reduce_sum(powers, 1i32)", "reduce_max(powers, 1i32)"),
    kernel(
        "softmax",
        "running sum not scaled to the new maximum",
        "running_sum * exp(running_max - new_max) + chunk_sum",
        "running_sum + chunk_sum",
    ),
    kernel("softmax", "last chunk left out of the sum", "in 0i32..chunks {", "in 0i32..chunks - 1i32 {"),
    kernel("silu_and_mul", "wrong sign", "exp(negf(gate))", "exp(gate)"),
    kernel("silu_and_mul", "wrong offset of the second half", "gate_row.offset(hidden)", "gate_row.offset(1i32)"),
    kernel("silu_and_mul", "wrong row stride of the output", "offset_tile(row * out_step)", "offset_tile(row)"),
    kernel(
        "silu_and_mul",
        "one column past the row",
        "lt_tile(columns, end)",
        "le_tile(columns, end)",
        f"{VALUES}|ILLEGAL_ADDRESS|unchanged",
    ),
    kernel("swiglu", "sum in place of the product", "convert_tile(widened * up)", "convert_tile(widened + up)"),
    kernel("swiglu", "wrong operand", "gate / (one + exp(negf(gate)))", "up / (one + exp(negf(gate)))"),
    kernel("matmul", "first tile of k left out", "for tile_k in 0i32..tiles_k", "for tile_k in 1i32..tiles_k"),
    kernel("matmul", "tile of b at swapped indices", "&b_part, [tile_k, tile_n]", "&b_part, [tile_n, tile_k]"),
    kernel(
        "matmul", "every row of tiles is the first of its group", "group_start + in_group % group_rows", "group_start"
    ),
    kernel("matmul", "always the first tile of a", "&a_part, [tile_m, tile_k]", "&a_part, [tile_m, 0i32]"),
    kernel(
        "matmul",
        "first tile left out by the persistent schedule",
        "let first: i32 = get_tile_block_id().0;",
        "let first: i32 = get_tile_block_id().0 + 1i32;",
    ),
    kernel("bmm", "always the first batch", "let batch: i32 = tile / batch_tiles;", "let batch: i32 = 0i32;"),
    kernel("bmm", "a of the first batch", "&a_part, [batch, tile_m, tile_k]", "&a_part, [0i32, tile_m, tile_k]"),
    kernel("attention_sink", "a query does not see its own key", "le_tile(key_of, row_of)", "lt_tile(key_of, row_of)"),
    kernel(
        "attention_sink",
        "window one key too wide",
        "lt_tile(row_of - key_of, reach_of)",
        "le_tile(row_of - key_of, reach_of)",
    ),
    kernel("attention_sink", "wrong constant", "constant(1.442_695_f32", "constant(1.0f32"),
    kernel("attention_sink", "wrong head of k and v", "block.1 / groups", "block.1 % groups"),
    kernel(
        "attention_sink",
        "accumulator not rescaled",
        "acc = acc * shrink.broadcast",
        "acc = acc + acc - acc; let _unused: Tile<f32, { [TILE_M, TILE_D] }> = shrink.broadcast",
    ),
    launcher("silu_and_mul", "wrong stride", "call.row_stride(&inp)?", "call.row_stride(&out)?"),
    launcher("softmax", "success without a launch", "if x.is_empty() {", "if x.extent(1) > 0 {", NO_LAUNCH),
    launcher(
        "swiglu",
        "swallowed error",
        "        call.launch(",
        '        if call.expect_positive("block_size", -1).is_err() {\n'
        "            return Ok(());\n        }\n        call.launch(",
        NO_LAUNCH,
    ),
    launcher(
        "matmul",
        "swapped operands of the result",
        'Arg("c", c), Arg("a", a), Arg("b", b)',
        'Arg("c", c), Arg("a", b), Arg("b", a)',
    ),
    Fault(
        "swiglu",
        "missing op: no wrapper",
        NOT_REGISTERED,
        (
            ("cutile_rs/__init__.py", "silu_and_mul, softmax, swiglu", "silu_and_mul, softmax"),
            ("cutile_rs/__init__.py", '"softmax", "swiglu"]', '"softmax"]'),
        ),
    ),
    Fault(
        "swiglu",
        "missing op: no kernel in the library",
        r"swiglu",
        (
            (
                "cutile_rs/cutile_kernels/src/lib.rs",
                "    mod swiglu {",
                "    // mod swiglu {",
            ),
        ),
    ),
    Fault(
        "softmax",
        "NaN on both sides",
        NAN_IN_BOTH,
        (
            (
                "cutile_rs/softmax_kernel/kernel.rs",
                "constant(1.0f32, const_shape![1])",
                "constant(f32::NAN, const_shape![1])",
            ),
            (
                "reference/softmax.py",
                "torch.softmax(x.double(), dim=-1)",
                'torch.softmax(x.double(), dim=-1) * float("nan")',
            ),
        ),
    ),
    Fault(
        "softmax",
        "the reference in place of the kernel",
        NO_LAUNCH,
        (
            (
                "cutile_rs/softmax.py",
                "    x2 = rows(x)\n",
                "    return torch.softmax(x, -1).contiguous()\n    x2 = rows(x)\n",
            ),
        ),
    ),
)
