"""Every operation with every value of its attributes, its optional parts and its element types: one module each.

The lists are wider than what the dialect allows; disasm_parity counts only those that NVIDIA's tool accepts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from cuda.tile._bytecode import attribute as attr
from cuda.tile._bytecode import encodings as op
from cuda.tile._bytecode.type_base import PaddingValue, PtrAttr

from .kernel_builder import DYNAMIC, FLOATS, INTEGERS, Emit, Kernel

Variant = tuple[str, Emit]
BOOLS = (False, True)
SHAPE = (4, 8)


def operator(name: str) -> Any:
    return getattr(op, f"encode_{name}Op")


def float_variants() -> Iterator[Variant]:
    unary = ("AbsF", "Ceil", "Cos", "CosH", "Floor", "Log", "Log2", "NegF", "Sin", "SinH", "Tan")
    for name, element in itertools.product(unary, FLOATS):
        yield f"{name}-{element}", lambda k, n=name, e=element: operator(n)(k.code, k.tile(e, SHAPE), k.some(e))
    for name, element in itertools.product(("RemF", "FPowF", "Atan2"), FLOATS):
        yield (
            f"{name}-{element}",
            lambda k, n=name, e=element: operator(n)(k.code, k.tile(e, SHAPE), k.some(e), k.some(e)),
        )
    for name, mode, flush in itertools.product(("AddF", "SubF", "MulF", "DivF"), op.RoundingMode, BOOLS):
        yield (
            f"{name}-{mode.name}-{flush}",
            lambda k, n=name, m=mode, f=flush: operator(n)(
                k.code, k.tile("F32", SHAPE), k.some("F32"), k.some("F32"), m, f
            ),
        )
    for element in FLOATS:
        yield (
            f"AddF-{element}",
            lambda k, e=element: op.encode_AddFOp(
                k.code, k.tile(e, SHAPE), k.some(e), k.some(e), op.RoundingMode.NEAREST_EVEN, False
            ),
        )
    for mode, flush in itertools.product(op.RoundingMode, BOOLS):
        yield (
            f"Fma-{mode.name}-{flush}",
            lambda k, m=mode, f=flush: op.encode_FmaOp(k.code, k.tile("F32", SHAPE), *[k.some("F32")] * 3, m, f),
        )
        yield (
            f"Sqrt-{mode.name}-{flush}",
            lambda k, m=mode, f=flush: op.encode_SqrtOp(k.code, k.tile("F32", SHAPE), k.some("F32"), m, f),
        )
    for name, first, second in itertools.product(("MaxF", "MinF"), BOOLS, BOOLS):
        yield (
            f"{name}-{first}-{second}",
            lambda k, n=name, a=first, b=second: operator(n)(
                k.code, k.tile("F32", SHAPE), k.some("F32"), k.some("F32"), a, b
            ),
        )
    for name, flush in itertools.product(("Exp2", "Rsqrt"), BOOLS):
        yield (
            f"{name}-{flush}",
            lambda k, n=name, f=flush: operator(n)(k.code, k.tile("F32", SHAPE), k.some("F32"), f),
        )
    for name, mode in itertools.product(("Exp", "TanH"), op.RoundingMode):
        yield (
            f"{name}-{mode.name}",
            lambda k, n=name, m=mode: operator(n)(k.code, k.tile("F32", SHAPE), k.some("F32"), m),
        )
    for predicate, ordering in itertools.product(op.ComparisonPredicate, op.ComparisonOrdering):
        yield (
            f"CmpF-{predicate.name}-{ordering.name}",
            lambda k, p=predicate, o=ordering: op.encode_CmpFOp(
                k.code, k.tile("I1", SHAPE), k.some("F32"), k.some("F32"), p, o
            ),
        )


def integer_variants() -> Iterator[Variant]:
    for name, element in itertools.product(("AndI", "OrI", "XOrI", "MulhiI"), INTEGERS):
        yield (
            f"{name}-{element}",
            lambda k, n=name, e=element: operator(n)(k.code, k.tile(e, SHAPE), k.some(e), k.some(e)),
        )
    for element in INTEGERS:
        yield f"AbsI-{element}", lambda k, e=element: op.encode_AbsIOp(k.code, k.tile(e, SHAPE), k.some(e))
    names = ("AddI", "SubI", "MulI", "ShLI")
    for name, overflow, element in itertools.product(names, op.IntegerOverflow, INTEGERS):
        yield (
            f"{name}-{overflow.name}-{element}",
            lambda k, n=name, o=overflow, e=element: operator(n)(k.code, k.tile(e, SHAPE), k.some(e), k.some(e), o),
        )
    for overflow in op.IntegerOverflow:
        yield (
            f"NegI-{overflow.name}",
            lambda k, o=overflow: op.encode_NegIOp(k.code, k.tile("I32", SHAPE), k.some("I32"), o),
        )
        yield (
            f"TruncI-{overflow.name}",
            lambda k, o=overflow: op.encode_TruncIOp(k.code, k.tile("I8", SHAPE), k.some("I64"), o),
        )
    for name, sign in itertools.product(("MaxI", "MinI", "RemI", "ShRI"), op.Signedness):
        yield (
            f"{name}-{sign.name}",
            lambda k, n=name, s=sign: operator(n)(k.code, k.tile("I16", SHAPE), k.some("I16"), k.some("I16"), s),
        )
    for sign, mode in itertools.product(op.Signedness, op.RoundingMode):
        yield (
            f"DivI-{sign.name}-{mode.name}",
            lambda k, s=sign, m=mode: op.encode_DivIOp(
                k.code, k.tile("I32", SHAPE), k.some("I32"), k.some("I32"), s, m
            ),
        )
    for predicate, sign in itertools.product(op.ComparisonPredicate, op.Signedness):
        yield (
            f"CmpI-{predicate.name}-{sign.name}",
            lambda k, p=predicate, s=sign: op.encode_CmpIOp(
                k.code, k.tile("I1", SHAPE), k.some("I64"), k.some("I64"), p, s
            ),
        )


def conversion_variants() -> Iterator[Variant]:
    nearest, to_zero = op.RoundingMode.NEAREST_EVEN, op.RoundingMode.NEAREST_INT_TO_ZERO
    for source, target in itertools.permutations((*INTEGERS, *FLOATS), 2):
        yield (
            f"Bitcast-{source}-{target}",
            lambda k, s=source, t=target: op.encode_BitcastOp(k.code, k.tile(t, SHAPE), k.some(s)),
        )
    for (source, target), mode in itertools.product(itertools.permutations(FLOATS, 2), op.RoundingMode):
        if mode is nearest or (source, target) == ("F32", "F16"):
            yield (
                f"FToF-{source}-{target}-{mode.name}",
                lambda k, s=source, t=target, m=mode: op.encode_FToFOp(k.code, k.tile(t, SHAPE), k.some(s), m),
            )
    for source, target, sign in itertools.product(FLOATS, INTEGERS, op.Signedness):
        yield (
            f"FToI-{source}-{target}-{sign.name}",
            lambda k, s=source, t=target, g=sign: op.encode_FToIOp(
                k.code, k.tile(t, SHAPE), k.some(s), g, to_zero, False
            ),
        )
        yield (
            f"IToF-{target}-{source}-{sign.name}",
            lambda k, s=source, t=target, g=sign: op.encode_IToFOp(k.code, k.tile(s, SHAPE), k.some(t), g, nearest),
        )
    for source, target, sign in itertools.product(INTEGERS, INTEGERS, op.Signedness):
        yield (
            f"ExtI-{source}-{target}-{sign.name}",
            lambda k, s=source, t=target, g=sign: op.encode_ExtIOp(k.code, k.tile(t, SHAPE), k.some(s), g),
        )
    yield "PtrToInt", lambda k: op.encode_PtrToIntOp(k.code, k.tile("I64", []), k.pointer)
    yield "IntToPtr", lambda k: op.encode_IntToPtrOp(k.code, k.pointer_tile("BF16", []), k.some("I64", []))
    yield "PtrToPtr", lambda k: op.encode_PtrToPtrOp(k.code, k.pointer_tile("I8", []), k.pointer)
    for element in FLOATS:
        yield (
            f"Pack-{element}",
            lambda k, e=element: op.encode_PackOp(
                k.code, k.tile("I8", [len(FLOATS[e]) * (8 if e != "F4E2M1FN" else 4)]), k.some(e, [8])
            ),
        )
        yield (
            f"Unpack-{element}",
            lambda k, e=element: op.encode_UnpackOp(
                k.code, k.tile(e, [16 if e == "F4E2M1FN" else 8 // len(FLOATS[e])]), k.some("I8", [8])
            ),
        )


def shape_variants() -> Iterator[Variant]:
    for element in (*INTEGERS, *FLOATS):
        yield (
            f"Reshape-{element}",
            lambda k, e=element: op.encode_ReshapeOp(k.code, k.tile(e, [2, 2, 8]), k.some(e)),
        )
        yield (
            f"Cat-{element}",
            lambda k, e=element: op.encode_CatOp(k.code, k.tile(e, [8, 8]), k.some(e), k.some(e), 0),
        )
        yield (
            f"Select-{element}",
            lambda k, e=element: op.encode_SelectOp(k.code, k.tile(e, SHAPE), k.some("I1"), k.some(e), k.some(e)),
        )
        yield (
            f"Select-scalar-{element}",
            lambda k, e=element: op.encode_SelectOp(k.code, k.tile(e, []), k.flag, k.some(e, []), k.some(e, [])),
        )
        yield f"Iota-{element}", lambda k, e=element: op.encode_IotaOp(k.code, k.tile(e, [16]))
    for permutation in itertools.permutations(range(3)):
        shape = [(2, 4, 8)[i] for i in permutation]
        yield (
            f"Permute-{permutation}",
            lambda k, p=permutation, s=tuple(shape): op.encode_PermuteOp(
                k.code, k.tile("F16", s), k.some("F16", (2, 4, 8)), p
            ),
        )
    yield (
        "Broadcast",
        lambda k: op.encode_BroadcastOp(k.code, k.tile("F16", [4, 8]), k.some("F16", (1, 8))),
    )
    yield (
        "Extract",
        lambda k: op.encode_ExtractOp(k.code, k.tile("F16", [2, 8]), k.some("F16"), [k.count, k.count]),
    )
    yield "GetTileBlockId", lambda k: op.encode_GetTileBlockIdOp(k.code, k.i32, k.i32, k.i32)
    yield "GetNumTileBlocks", lambda k: op.encode_GetNumTileBlocksOp(k.code, k.i32, k.i32, k.i32)


class SameElements(attr.SameElements):
    """The predicate that cuTile Python declares and never writes."""

    def encode_tagged(self, string_table: Any, buf: bytearray) -> None:
        buf.extend(attr.AttributeTag.SameElements.value)
        buf.append(len(self.values))
        for value in self.values:
            buf.extend(value.to_bytes(8, "little", signed=True))


def assume_variants() -> Iterator[Variant]:
    for divisor in (1, 16, 2**31, 2**62, 2**63, 3):
        yield (
            f"DivBy-{divisor}",
            lambda k, d=divisor: op.encode_AssumeOp(k.code, k.i32, k.count, attr.DivBy(d)),
        )
    for every, along in itertools.product((0, 1, 4), (0, 1)):
        yield (
            f"DivBy-every-{every}-{along}",
            lambda k, e=every, a=along: op.encode_AssumeOp(
                k.code, k.tile("I32", SHAPE), k.some("I32"), attr.DivBy(8, every=e, along=a)
            ),
        )
    for values in ((1, 2), (4, 8), (2**40, 1)):
        yield (
            f"SameElements-{values}",
            lambda k, v=values: op.encode_AssumeOp(k.code, k.tile("I1", SHAPE), k.some("I1"), SameElements(v)),
        )
    bounds = (None, 0, -5, 2**31 - 1, -(2**31))
    for low, high in itertools.product(bounds, bounds):
        yield (
            f"Bounded-{low}-{high}",
            lambda k, a=low, b=high: op.encode_AssumeOp(k.code, k.i32, k.count, attr.Bounded(a, b)),
        )
    yield (
        "Bounded-i64",
        lambda k: op.encode_AssumeOp(k.code, k.tile("I64", []), k.some("I64", []), attr.Bounded(-(2**63), 2**63 - 1)),
    )
    yield (
        "DivBy-pointers",
        lambda k: op.encode_AssumeOp(k.code, k.pointer_tile("F32", []), k.pointer, attr.DivBy(16)),
    )


def matrix_variants() -> Iterator[Variant]:
    for source, target, fast in itertools.product(FLOATS, ("F16", "F32", "F64"), BOOLS):
        yield (
            f"MmaF-{source}-{target}-{fast}",
            lambda k, s=source, t=target, f=fast: op.encode_MmaFOp(
                k.code, k.tile(t, [8, 8]), k.some(s, (8, 16)), k.some(s, (16, 8)), k.some(t, (8, 8)), f
            ),
        )
    yield (
        "MmaF-batched",
        lambda k: op.encode_MmaFOp(
            k.code,
            k.tile("F32", [2, 8, 8]),
            k.some("F16", (2, 8, 16)),
            k.some("F16", (2, 16, 8)),
            k.some("F32", (2, 8, 8)),
            False,
        ),
    )
    for left, right in itertools.product(op.Signedness, op.Signedness):
        yield (
            f"MmaI-{left.name}-{right.name}",
            lambda k, a=left, b=right: op.encode_MmaIOp(
                k.code, k.tile("I32", [8, 8]), k.some("I8", (8, 16)), k.some("I8", (16, 8)), k.some("I32", (8, 8)), a, b
            ),
        )
    for source, scale, block in itertools.product(("F8E4M3FN", "F8E5M2", "F4E2M1FN"), FLOATS, (16, 32)):
        yield (
            f"MmaFScaled-{source}-{scale}-{block}",
            lambda k, s=source, c=scale, b=block: op.encode_MmaFScaledOp(
                k.code,
                k.tile("F32", [8, 8]),
                k.some(s, (8, 32)),
                k.some(s, (32, 8)),
                k.some("F32", (8, 8)),
                k.some(c, (8, 32 // b)),
                k.some(c, (32 // b, 8)),
            ),
        )


def hints(kind: int) -> Any:
    tables = {
        0: None,
        1: {"sm_90": attr.LoadStoreHints(latency=3)},
        2: {"sm_100": attr.LoadStoreHints(allow_tma=False), "sm_120": attr.LoadStoreHints(latency=10)},
        3: {"default": attr.LoadStoreHints(latency=1, allow_tma=False)},
        4: {},
    }
    table = tables[kind]
    return None if table is None else attr.make_load_store_hints(table)


def access_variants() -> Iterator[Variant]:
    orders, scopes = op.MemoryOrderingSemantics, (None, *op.MemoryScope)
    for order, scope in itertools.product(orders, scopes):
        label = f"{order.name}-{scope.name if scope else None}"
        yield f"LoadPtr-{label}", lambda k, o=order, s=scope: load_pointers(k, o, s, False, False, False, 0)
        yield f"StorePtr-{label}", lambda k, o=order, s=scope: store_pointers(k, o, s, False, False, 0)
        yield f"LoadView-{label}", lambda k, o=order, s=scope: load_view(k, o, s, False, 0)
        yield f"StoreView-{label}", lambda k, o=order, s=scope: store_view(k, o, s, False, 0)
    weak = op.MemoryOrderingSemantics.WEAK
    for mask, padding, token, kind in itertools.product(BOOLS, BOOLS, BOOLS, range(5)):
        label = f"{mask}-{padding}-{token}-{kind}"
        yield (
            f"LoadPtr-{label}",
            lambda k, m=mask, p=padding, t=token, h=kind: load_pointers(k, weak, None, m, p, t, h),
        )
        if not padding:
            yield f"StorePtr-{label}", lambda k, m=mask, t=token, h=kind: store_pointers(k, weak, None, m, t, h)
        if not mask and not padding:
            yield f"LoadView-{label}", lambda k, t=token, h=kind: load_view(k, weak, None, t, h)
            yield f"StoreView-{label}", lambda k, t=token, h=kind: store_view(k, weak, None, t, h)
    for element in (*INTEGERS, *FLOATS):
        yield (
            f"LoadPtr-{element}",
            lambda k, e=element: op.encode_LoadPtrTkoOp(
                k.code, k.tile(e, [8]), k.token_type, k.pointers(e, [8]), None, None, None, weak, None, None
            ),
        )


def load_pointers(k: Kernel, order: Any, scope: Any, mask: bool, padding: bool, token: bool, kind: int) -> None:
    op.encode_LoadPtrTkoOp(
        k.code,
        k.tile("F32", SHAPE),
        k.token_type,
        k.pointers("F32", SHAPE),
        k.some("I1") if mask else None,
        k.some("F32") if padding else None,
        k.token() if token else None,
        order,
        scope,
        hints(kind),
    )


def store_pointers(k: Kernel, order: Any, scope: Any, mask: bool, token: bool, kind: int) -> None:
    op.encode_StorePtrTkoOp(
        k.code,
        k.token_type,
        k.pointers("F32", SHAPE),
        k.some("F32"),
        k.some("I1") if mask else None,
        k.token() if token else None,
        order,
        scope,
        hints(kind),
    )


def partition(k: Kernel) -> Any:
    tensor = k.table.tensor_view(k.table.F32, [DYNAMIC, 64], [64, 1], PtrAttr.Missing)
    view = op.encode_MakeTensorViewOp(k.code, tensor, k.pointer, [k.count], [])
    tiles = k.table.partition_view([4, 8], tensor, [0, 1], PaddingValue.Zero)
    return op.encode_MakePartitionViewOp(k.code, tiles, view)


def load_view(k: Kernel, order: Any, scope: Any, token: bool, kind: int) -> None:
    op.encode_LoadViewTkoOp(
        k.code,
        k.tile("F32", SHAPE),
        k.token_type,
        partition(k),
        [k.count, k.count],
        k.token() if token else None,
        order,
        scope,
        hints(kind),
        [False, False],
    )


def store_view(k: Kernel, order: Any, scope: Any, token: bool, kind: int) -> None:
    op.encode_StoreViewTkoOp(
        k.code,
        k.token_type,
        k.some("F32"),
        partition(k),
        [k.count, k.count],
        k.token() if token else None,
        order,
        scope,
        hints(kind),
        [False, False],
    )


def atomic_variants() -> Iterator[Variant]:
    orders = op.MemoryOrderingSemantics
    for order, scope in itertools.product(orders, op.MemoryScope):
        yield (
            f"AtomicRMW-{order.name}-{scope.name}",
            lambda k, o=order, s=scope: op.encode_AtomicRMWTkoOp(
                k.code,
                k.tile("I32", SHAPE),
                k.token_type,
                k.pointers("I32", SHAPE),
                k.some("I32"),
                None,
                None,
                o,
                s,
                op.AtomicRMWMode.ADD,
            ),
        )
        yield (
            f"AtomicCAS-{order.name}-{scope.name}",
            lambda k, o=order, s=scope: op.encode_AtomicCASTkoOp(
                k.code,
                k.tile("I32", SHAPE),
                k.token_type,
                k.pointers("I32", SHAPE),
                k.some("I32"),
                k.some("I32"),
                None,
                None,
                o,
                s,
            ),
        )
        yield f"AtomicRed-{order.name}-{scope.name}", lambda k, o=order, s=scope: reduce_view(k, o, s, False)
    relaxed, device = op.MemoryOrderingSemantics.RELAXED, op.MemoryScope.DEVICE
    for mode, element in itertools.product(op.AtomicRMWMode, ("I32", "I64", "F16", "BF16", "F32", "F64")):
        yield (
            f"AtomicRMW-{mode.name}-{element}",
            lambda k, m=mode, e=element: op.encode_AtomicRMWTkoOp(
                k.code,
                k.tile(e, SHAPE),
                k.token_type,
                k.pointers(e, SHAPE),
                k.some(e),
                k.some("I1"),
                k.token(),
                relaxed,
                device,
                m,
            ),
        )
    for element in (*INTEGERS, *FLOATS):
        yield (
            f"AtomicCAS-{element}",
            lambda k, e=element: op.encode_AtomicCASTkoOp(
                k.code,
                k.tile(e, SHAPE),
                k.token_type,
                k.pointers(e, SHAPE),
                k.some(e),
                k.some(e),
                k.some("I1"),
                k.token(),
                relaxed,
                device,
            ),
        )
    yield "AtomicRed-token", lambda k: reduce_view(k, relaxed, device, True)


def reduce_view(k: Kernel, order: Any, scope: Any, token: bool) -> None:
    op.encode_AtomicRedViewTkoOp(
        k.code,
        k.token_type,
        partition(k),
        [k.count, k.count],
        k.some("F32"),
        k.token() if token else None,
        order,
        scope,
        op.AtomicRMWMode.ADDF,
        [False, False],
    )


def other_variants() -> Iterator[Variant]:
    for count in range(4):
        yield (
            f"JoinTokens-{count}",
            lambda k, n=count: op.encode_JoinTokensOp(k.code, k.token_type, [k.token() for _ in range(n)]),
        )
    for count, token in itertools.product(range(3), BOOLS):
        yield f"Print-{count}-{token}", lambda k, n=count, t=token: print_values(k, n, t)
    for text in ("", "all of it", 'quote " backslash \\ newline \n tab \t nul \0 umlaut ä \x7f'):
        yield f"Assert-{len(text)}", lambda k, t=text: op.encode_AssertOp(k.code, k.some("I1"), t)
    for elements, alignment, scope in itertools.product((1, 300), (1, 16, 128), BOOLS):
        yield (
            f"Alloca-{elements}-{alignment}-{scope}",
            lambda k, n=elements, a=alignment, g=scope: op.encode_AllocaOp(k.code, k.pointer_tile("F32", []), n, a, g),
        )
    for element in (*INTEGERS, *FLOATS, "I4"):
        for shape in ([], [2]):
            yield (
                f"Pointer-{element}-{len(shape)}",
                lambda k, e=element, s=shape: op.encode_PtrToPtrOp(k.code, k.pointer_tile(e, s), k.pointers("F32", s)),
            )


def print_values(k: Kernel, count: int, token: bool) -> None:
    values = [k.count, k.some("F32")][:count]
    text = ("none\n", "%i", "%i and %f")[count]
    token_type = k.token_type if k.minor >= 2 else None
    op.encode_PrintTkoOp(k.code, token_type, values, k.token() if token and k.minor >= 2 else None, text)


def variants() -> Iterator[Variant]:
    """(name, what it adds to a kernel) of every module."""
    yield from float_variants()
    yield from integer_variants()
    yield from conversion_variants()
    yield from shape_variants()
    yield from assume_variants()
    yield from matrix_variants()
    yield from access_variants()
    yield from atomic_variants()
    yield from other_variants()
