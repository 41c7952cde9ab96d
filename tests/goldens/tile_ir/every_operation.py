"""Writes every_operation_13_<minor>.tileirbc: a kernel that holds each operation of that bytecode version.

The bytes come from cuTile Python's own writer, and NVIDIA's disassembler must accept them, so what the C++ reader is
compared with does not depend on our table. Run: python tests/goldens/tile_ir/every_operation.py
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nvidia
from cuda.tile._bytecode import attribute as attr
from cuda.tile._bytecode import encodings as op
from cuda.tile._bytecode.debug_info import DebugAttrId
from cuda.tile._bytecode.type import SimpleType
from cuda.tile._bytecode.type_base import PaddingValue, PtrAttr
from cuda.tile._bytecode.version import BytecodeVersion
from cuda.tile._bytecode.writer import write_bytecode

FOLDER = Path(__file__).parent
VERSIONS = (BytecodeVersion.V_13_1, BytecodeVersion.V_13_2, BytecodeVersion.V_13_3)
WEAK = op.MemoryOrderingSemantics.WEAK
RELAXED = op.MemoryOrderingSemantics.RELAXED
DEVICE = op.MemoryScope.DEVICE
NEAREST = op.RoundingMode.NEAREST_EVEN
NO_WRAP = op.IntegerOverflow.NW
SIGNED = op.Signedness.Signed
UNSIGNED = op.Signedness.Unsigned


class SameElements(attr.SameElements):
    """The predicate that cuTile Python declares and never writes."""

    def encode_tagged(self, string_table: Any, buf: bytearray) -> None:
        buf.extend(attr.AttributeTag.SameElements.value)
        buf.append(len(self.values))
        for value in self.values:
            buf.extend(value.to_bytes(8, "little", signed=True))


class Kernel:
    """One function under construction: types, constants and the values that several operations use."""

    def __init__(self, writer: Any, builder: Any, parameters: Sequence[Any]) -> None:
        self.minor = writer.version.minor()
        self.table = writer.type_table
        self.code = builder
        self.pointer, self.count = parameters
        self.token_type = self.table.Token
        self.i32 = self.tile("I32", [])
        self.f = self.constant("F32", [8, 8], struct.pack("<f", 1.5))
        self.i = self.constant("I32", [8, 8], struct.pack("<i", 3))
        self.b = self.constant("I1", [8, 8], b"\xff")
        self.zero = self.constant("I32", [], struct.pack("<i", 0))
        self.token = op.encode_MakeTokenOp(self.code, self.token_type)

    def tile(self, element: str, shape: Sequence[int]) -> Any:
        return self.table.tile(self.table.simple(SimpleType[element]), shape)

    def pointer_tile(self, element: str, shape: Sequence[int]) -> Any:
        pointer = self.table.pointer(self.table.simple(SimpleType[element]), PtrAttr.Missing)
        return self.table.tile(pointer, shape)

    def constant(self, element: str, shape: Sequence[int], data: bytes) -> Any:
        return op.encode_ConstantOp(self.code, self.tile(element, shape), data)


def arithmetic(k: Kernel) -> None:
    c, f, i = k.code, k.f, k.i
    tf, ti, tb = k.tile("F32", [8, 8]), k.tile("I32", [8, 8]), k.tile("I1", [8, 8])
    op.encode_AbsFOp(c, tf, f)
    op.encode_AbsIOp(c, ti, i)
    op.encode_AddFOp(c, tf, f, f, NEAREST, True)
    op.encode_SubFOp(c, tf, f, f, op.RoundingMode.ZERO, False)
    op.encode_MulFOp(c, tf, f, f, op.RoundingMode.NEGATIVE_INF, False)
    op.encode_DivFOp(c, tf, f, f, op.RoundingMode.APPROX, True)
    op.encode_FmaOp(c, tf, f, f, f, op.RoundingMode.POSITIVE_INF, False)
    op.encode_RemFOp(c, tf, f, f)
    op.encode_FPowFOp(c, tf, f, f)
    op.encode_MaxFOp(c, tf, f, f, True, False)
    op.encode_MinFOp(c, tf, f, f, False, True)
    op.encode_SqrtOp(c, tf, f, op.RoundingMode.APPROX, False)
    op.encode_RsqrtOp(c, tf, f, True)
    op.encode_Exp2Op(c, tf, f, True)
    op.encode_ExpOp(c, tf, f, op.RoundingMode.APPROX if k.minor >= 3 else op.RoundingMode.FULL)
    op.encode_TanHOp(c, tf, f, op.RoundingMode.APPROX if k.minor >= 2 else op.RoundingMode.FULL)
    for unary in (op.encode_CeilOp, op.encode_FloorOp, op.encode_CosOp, op.encode_CosHOp, op.encode_SinOp):
        unary(c, tf, f)
    for unary in (op.encode_SinHOp, op.encode_TanOp, op.encode_LogOp, op.encode_Log2Op, op.encode_NegFOp):
        unary(c, tf, f)
    op.encode_CmpFOp(c, tb, f, f, op.ComparisonPredicate.GREATER_THAN, op.ComparisonOrdering.UNORDERED)
    op.encode_AddIOp(c, ti, i, i, NO_WRAP)
    op.encode_SubIOp(c, ti, i, i, op.IntegerOverflow.NSW)
    op.encode_MulIOp(c, ti, i, i, op.IntegerOverflow.NUW)
    op.encode_ShLIOp(c, ti, i, i, op.IntegerOverflow.NONE)
    op.encode_ShRIOp(c, ti, i, i, UNSIGNED)
    op.encode_DivIOp(c, ti, i, i, SIGNED, op.RoundingMode.POSITIVE_INF)
    op.encode_RemIOp(c, ti, i, i, SIGNED)
    op.encode_MaxIOp(c, ti, i, i, UNSIGNED)
    op.encode_MinIOp(c, ti, i, i, SIGNED)
    op.encode_MulhiIOp(c, ti, i, i)
    for binary in (op.encode_AndIOp, op.encode_OrIOp, op.encode_XOrIOp):
        binary(c, ti, i, i)
    op.encode_NegIOp(c, ti, i, op.IntegerOverflow.NSW if k.minor >= 2 else op.IntegerOverflow.NONE)
    op.encode_CmpIOp(c, tb, i, i, op.ComparisonPredicate.LESS_THAN_OR_EQUAL, UNSIGNED)
    op.encode_SelectOp(c, tf, k.b, f, f)


def conversions(k: Kernel) -> None:
    c = k.code
    op.encode_BitcastOp(c, k.tile("I32", [8, 8]), k.f)
    op.encode_ExtIOp(c, k.tile("I64", [8, 8]), k.i, UNSIGNED)
    op.encode_TruncIOp(c, k.tile("I8", [8, 8]), k.i, op.IntegerOverflow.NUW)
    op.encode_FToFOp(c, k.tile("F16", [8, 8]), k.f, NEAREST)
    op.encode_FToIOp(c, k.tile("I32", [8, 8]), k.f, SIGNED, op.RoundingMode.NEAREST_INT_TO_ZERO, False)
    op.encode_IToFOp(c, k.tile("F32", [8, 8]), k.i, UNSIGNED, NEAREST)
    address = op.encode_PtrToIntOp(c, k.tile("I64", []), k.pointer)
    op.encode_IntToPtrOp(c, k.pointer_tile("F32", []), address)
    op.encode_PtrToPtrOp(c, k.pointer_tile("I32", []), k.pointer)


def shapes(k: Kernel) -> None:
    c = k.code
    op.encode_IotaOp(c, k.tile("I32", [16]))
    row = op.encode_ReshapeOp(c, k.tile("F32", [1, 64]), k.f)
    op.encode_BroadcastOp(c, k.tile("F32", [4, 64]), row)
    op.encode_CatOp(c, k.tile("F32", [8, 16]), k.f, k.f, 1)
    op.encode_ExtractOp(c, k.tile("F32", [4, 8]), k.f, [k.zero, k.zero])
    op.encode_PermuteOp(c, k.tile("F32", [8, 8]), k.f, [1, 0])
    bits = k.constant("I1", [8], b"\xa5")
    op.encode_AssumeOp(c, k.tile("I1", [8]), bits, SameElements([4]))
    op.encode_AssumeOp(c, k.i32, k.count, attr.DivBy(16))
    op.encode_AssumeOp(c, k.tile("I32", [8, 8]), k.i, attr.DivBy(4, every=2, along=1))
    op.encode_AssumeOp(c, k.i32, k.count, attr.Bounded(-1, 4096))
    op.encode_GetTileBlockIdOp(c, k.i32, k.i32, k.i32)
    op.encode_GetNumTileBlocksOp(c, k.i32, k.i32, k.i32)


def matrices(k: Kernel) -> None:
    c = k.code
    half = k.constant("F16", [8, 8], b"\x00\x3c")
    tensor = k.constant("TF32", [8, 8], b"\x00\xfc\x01")
    byte = k.constant("I8", [8, 8], b"\xff")
    op.encode_MmaFOp(c, k.tile("F32", [8, 8]), half, half, k.f, False)
    op.encode_MmaFOp(c, k.tile("F32", [8, 8]), tensor, tensor, k.f, False)
    op.encode_MmaIOp(c, k.tile("I32", [8, 8]), byte, byte, k.i, SIGNED, UNSIGNED)


def memory(k: Kernel) -> None:
    c, token = k.code, k.token_type
    pointers = op.encode_BroadcastOp(
        c, k.pointer_tile("F32", [64]), op.encode_ReshapeOp(c, k.pointer_tile("F32", [1]), k.pointer)
    )
    pointers = op.encode_OffsetOp(c, k.pointer_tile("F32", [64]), pointers, op.encode_IotaOp(c, k.tile("I32", [64])))
    mask = k.constant("I1", [64], b"\xff")
    values = k.constant("F32", [64], struct.pack("<f", 2.0))
    tile = k.tile("F32", [64])
    latency = attr.make_load_store_hints({"sm_90": attr.LoadStoreHints(latency=3)})
    op.encode_LoadPtrTkoOp(c, tile, token, pointers, None, None, None, WEAK, None, None)
    op.encode_LoadPtrTkoOp(c, tile, token, pointers, mask, values, k.token, RELAXED, DEVICE, latency)
    op.encode_StorePtrTkoOp(c, token, pointers, values, None, None, WEAK, None, None)
    op.encode_StorePtrTkoOp(c, token, pointers, values, mask, k.token, RELAXED, op.MemoryScope.SYS, latency)
    op.encode_AtomicRMWTkoOp(c, tile, token, pointers, values, None, k.token, RELAXED, DEVICE, op.AtomicRMWMode.ADDF)
    numbers = op.encode_PtrToPtrOp(c, k.pointer_tile("I32", [64]), pointers)
    integers = k.constant("I32", [64], struct.pack("<i", 7))
    acquire_release = op.MemoryOrderingSemantics.ACQ_REL
    op.encode_AtomicCASTkoOp(
        c, k.tile("I32", [64]), token, numbers, integers, integers, mask, None, acquire_release, op.MemoryScope.SYS
    )
    op.encode_JoinTokensOp(c, token, [k.token, k.token])
    op.encode_GetGlobalOp(c, k.pointer_tile("I32", []), "table")
    op.encode_AssertOp(c, k.b, "all of it")
    if k.minor >= 2:
        op.encode_PrintTkoOp(c, token, [k.count, k.zero], k.token, "%i of %i")
    else:
        op.encode_PrintTkoOp(c, None, [k.count, k.zero], None, "%i of %i")


def views(k: Kernel) -> Any:
    c, dynamic = k.code, -(2**63)
    tensor = k.table.tensor_view(k.table.F32, [dynamic, 64], [dynamic, 1], PtrAttr.Missing)
    view = op.encode_MakeTensorViewOp(c, tensor, k.pointer, [k.count], [k.count])
    op.encode_GetTensorShapeOp(c, [k.i32, k.i32], view)
    partition = k.table.partition_view([8, 16], tensor, [1, 0], PaddingValue.NegInf)
    tiles = op.encode_MakePartitionViewOp(c, partition, view)
    op.encode_GetIndexSpaceShapeOp(c, [k.i32, k.i32], tiles)
    tile, token = k.tile("F32", [8, 16]), k.token_type
    bounds = [False, False]
    plain = k.table.partition_view([8, 16], tensor, [0, 1], PaddingValue.Missing)
    plain_tiles = op.encode_MakePartitionViewOp(c, plain, view)
    loaded, _ = op.encode_LoadViewTkoOp(c, tile, token, plain_tiles, [k.zero, k.zero], None, WEAK, None, None, bounds)
    no_tma = attr.make_load_store_hints({"sm_100": attr.LoadStoreHints(allow_tma=False)})
    op.encode_LoadViewTkoOp(c, tile, token, tiles, [k.zero, k.zero], k.token, RELAXED, DEVICE, no_tma, bounds)
    op.encode_StoreViewTkoOp(c, token, loaded, tiles, [k.zero, k.zero], None, WEAK, None, None, bounds)
    op.encode_StoreViewTkoOp(c, token, loaded, plain_tiles, [k.zero, k.zero], k.token, RELAXED, DEVICE, no_tma, bounds)
    return view, tensor, tiles, loaded


def control_flow(k: Kernel) -> None:
    c, scalar = k.code, k.tile("F32", [])
    start = k.constant("F32", [], struct.pack("<f", 0.0))
    truth = k.constant("I1", [], b"\x01")
    nest = op.encode_ForOp(c, [scalar], k.zero, k.count, k.count, [start], k.minor >= 2)
    with nest.new_block([k.i32, scalar]) as (_, carried):
        choice = op.encode_IfOp(c, [scalar], truth)
        with choice.new_block([]):
            op.encode_YieldOp(c, [start])
        with choice.new_block([]):
            op.encode_YieldOp(c, [carried])
        (chosen,) = choice.done()
        op.encode_ContinueOp(c, [chosen])
    nest.done()
    nest = op.encode_LoopOp(c, [scalar], [start])
    with nest.new_block([scalar]) as (carried,):
        op.encode_BreakOp(c, [carried])
    nest.done()
    # The first identity has a sign, the second more bits than a byte.
    identities = [attr.Float(-2.0, SimpleType.F32, k.table), attr.Integer(k.table.I32, 32, -1)]
    results = [k.tile("F32", [8]), k.tile("I32", [8])]
    nest = op.encode_ReduceOp(c, results, [k.f, k.i], 1, identities)
    with nest.new_block([scalar, scalar, k.i32, k.i32]) as (left, right, low, high):
        total = op.encode_AddFOp(c, scalar, left, right, NEAREST, False)
        largest = op.encode_MaxIOp(c, k.i32, low, high, SIGNED)
        op.encode_YieldOp(c, [total, largest])
    nest.done()
    nest = op.encode_ScanOp(c, [k.tile("F32", [8, 8])], [k.f], 0, True, identities[:1])
    with nest.new_block([scalar, scalar]) as (left, right):
        op.encode_YieldOp(c, [op.encode_MulFOp(c, scalar, left, right, NEAREST, False)])
    nest.done()


def newer(k: Kernel, view: Any, tensor: Any, tiles: Any, loaded: Any) -> None:
    """Operations that 13.2 and 13.3 added."""
    c = k.code
    if k.minor >= 2:
        op.encode_Atan2Op(c, k.tile("F32", [8, 8]), k.f, k.f)
    if k.minor < 3:
        return
    strided = k.table.strided_view([8, 16], [4, 16], tensor, [0, 1], PaddingValue.Nan)
    op.encode_MakeStridedViewOp(c, strided, view)
    sparse = k.table.gather_scatter_view([8, 16], tensor, 0, PaddingValue.Zero)
    op.encode_MakeGatherScatterViewOp(c, sparse, view)
    op.encode_AtomicRedViewTkoOp(
        c,
        k.token_type,
        tiles,
        [k.zero, k.zero],
        loaded,
        k.token,
        RELAXED,
        DEVICE,
        op.AtomicRMWMode.ADDF,
        [False, False],
    )
    packed = op.encode_PackOp(c, k.tile("I8", [32]), k.constant("F32", [8], struct.pack("<f", 1.0)))
    op.encode_UnpackOp(c, k.tile("F32", [8]), packed)
    op.encode_AllocaOp(c, k.pointer_tile("F32", []), 300, 128, False)
    quarter = k.constant("F8E4M3FN", [8, 32], b"\x38")
    turned = k.constant("F8E4M3FN", [32, 8], b"\x38")
    op.encode_MmaFOp(c, k.tile("F32", [8, 8]), quarter, turned, k.f, True)
    scale = k.constant("F8E8M0FNU", [8, 1], b"\x7f")
    turned_scale = k.constant("F8E8M0FNU", [1, 8], b"\x7f")
    op.encode_MmaFScaledOp(c, k.tile("F32", [8, 8]), quarter, turned, k.f, scale, turned_scale)


def build(version: BytecodeVersion) -> bytes:
    buffer = bytearray()
    with write_bytecode(1, buffer, version) as writer:
        table = writer.type_table
        pointer = table.tile(table.pointer(table.F32, PtrAttr.Missing), [])
        integers = table.tile(table.I32, [4])
        data = struct.pack("<4i", 2, 3, 5, -7)
        if version >= BytecodeVersion.V_13_3:
            writer.global_section.define_global("table", integers, data, 16, True, op.SymbolVisibility.Private)
        else:
            writer.global_section.define_global("table", integers, data, 16)
        hints = {"sm_90": attr.EntryHints(num_cta_in_cga=2, occupancy=4)}
        parameters = [pointer, table.tile(table.I32, [])]
        with writer.function("every_operation", parameters, [], True, hints, DebugAttrId(0)) as function:
            kernel = Kernel(writer, function.code_builder, function.parameters)
            for part in (arithmetic, conversions, shapes, matrices, memory, control_flow):
                part(kernel)
            newer(kernel, *views(kernel))
            op.encode_ReturnOp(function.code_builder, [])
    return bytes(buffer)


def disassemble(path: Path) -> str:
    tool = Path(nvidia.__path__[0]) / "cu13" / "bin" / "tileirdisasm"
    return subprocess.run([tool, path], check=True, capture_output=True, text=True).stdout


def main() -> None:
    for version in VERSIONS:
        path = FOLDER / f"every_operation_{version.as_string().replace('.', '_')}.tileirbc"
        path.write_bytes(build(version))
        print(path.name, path.stat().st_size, "bytes,", disassemble(path).count("\n"), "lines")


if __name__ == "__main__":
    main()
