"""Modules for what single operations do not show: values of every format, names, views, regions, locations."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from cuda.tile._bytecode import attribute as attr
from cuda.tile._bytecode import encodings as op
from cuda.tile._bytecode.debug_info import DebugAttrId
from cuda.tile._bytecode.type import SimpleType
from cuda.tile._bytecode.type_base import PaddingValue, PtrAttr
from cuda.tile._bytecode.version import BytecodeVersion
from cuda.tile._bytecode.writer import write_bytecode

from .kernel_builder import DYNAMIC, FLOATS, INTEGERS, VERSIONS, Kernel, module

WIDTHS = {name: len(data) for name, data in FLOATS.items()} | {"I8": 1, "I16": 2, "I32": 4, "I64": 8}
Named = tuple[str, bytes]

# Bits of the largest exponent's first pattern, of the fraction's width and of the whole, for edges of the format.
LAYOUTS = {"F16": (5, 10), "BF16": (8, 7), "F32": (8, 23), "TF32": (8, 10), "F64": (11, 52)}


def edges(element: str) -> list[int]:
    """Bit patterns at the borders of a float format: zeros, subnormal and normal limits, one, infinities, NaN."""
    exponent, fraction = LAYOUTS[element]
    top = ((1 << exponent) - 1) << fraction
    one = ((1 << (exponent - 1)) - 1) << fraction
    positive = [
        0,
        1,
        2,
        (1 << fraction) - 1,
        1 << fraction,
        one - 1,
        one,
        one + 1,
        top - 1,
        top,
        top + 1,
        top | 1 << (fraction - 1),
    ]
    negative = [bits | 1 << (exponent + fraction) for bits in positive]
    return positive + negative


def patterns(element: str, count: int, seed: int) -> list[int]:
    """Patterns to be printed: all of a small format, else the edges, short decimals, powers of ten and random ones."""
    bits = {"F4E2M1FN": 4}.get(element, 8 * WIDTHS[element])
    if bits <= 8:
        return list(range(1 << bits))
    chosen = edges(element)
    if element in ("F32", "F64"):
        code, size = ("<f", 4) if element == "F32" else ("<d", 8)
        limit = 38 if element == "F32" else 300
        numbers = [
            s * m * 10.0**e for e in range(-limit, limit, 7) for m in (1, 3, 0.1, 1.234567, 9.9999995) for s in (1, -1)
        ]
        numbers += [float(n) for n in (123456, 1234567, 12345678, 16777217, 2**31, 2**53 + 1, 0.1, 1 / 3, 1e21, 5e-324)]
        chosen += [int.from_bytes(struct.pack(code, x), "little") for x in numbers if abs(x) < 3e38 or size == 8]
    source = random.Random(f"{element} {seed}")
    width = sum(LAYOUTS[element]) + 1
    return chosen + [source.getrandbits(width) for _ in range(count)]


def little(pattern: int, element: str) -> bytes:
    return pattern.to_bytes(WIDTHS[element], "little")


def constants(element: str, listed: Sequence[int]) -> bytes:
    """Each pattern as a scalar, and all of them in tiles of 64."""

    def emit(k: Kernel) -> None:
        for pattern in listed:
            shape = [2] if element == "F4E2M1FN" else []
            k.constant(element, shape, little(pattern, element))
        for start in range(0, len(listed) - len(listed) % 64, 64):
            k.constant(element, [2, 32], b"".join(little(p, element) for p in listed[start : start + 64]))

    return module(emit)


def constant_modules(count: int) -> Iterator[Named]:
    for element in FLOATS:
        listed = patterns(element, count, 1)
        for part, start in enumerate(range(0, len(listed), 256)):
            yield f"constants-{element}-{part}", constants(element, listed[start : start + 256])
    for element, bits in INTEGERS.items():
        if bits > 1:
            edge = [0, 1, 2, 1 << (bits - 1), (1 << (bits - 1)) - 1, (1 << bits) - 1, (1 << bits) - 7]
            yield f"constants-{element}", constants(element, edge)
    yield "constants-shapes", module(constant_shapes)


def constant_shapes(k: Kernel) -> None:
    numbers = struct.pack("<256i", *range(256))
    for shape in ([1], [2], [1, 1], [2, 1], [1, 4], [2, 2, 2], [4, 4, 2, 2], [64], [2, 2, 2, 2, 2, 2]):
        count = 1
        for extent in shape:
            count *= extent
        k.constant("I32", shape, numbers[: 4 * count])
        k.constant("I32", shape, numbers[4:8] * count)
    for count in (64, 128, 256):
        k.constant("I32", [count], numbers[: 4 * count])
        k.constant("F64", [count // 2], numbers[: 4 * count])
    for data in (b"\x00", b"\xff", b"\x01", b"\xa5"):
        for count in (1, 2, 4, 8, 16):
            k.constant("I1", [count], data if count < 16 else data * 2)
    k.constant("I1", [16, 16], bytes(range(32)))
    k.constant("I1", [64], b"\x0f" * 8)


def name_conflicts(k: Kernel) -> None:
    """Same hints in nested and neighbouring regions, chains of assumptions, results that share a name."""
    value = k.some("I32", [])
    for _ in range(3):
        k.some("F32", [])
        value = op.encode_AssumeOp(k.code, k.i32, value, attr.DivBy(4))
    for depth in (1, 2, 3):
        nested_loops(k, depth)
    operands = [k.some("I32", [8]), k.some("F32", [8])]
    identities = [attr.Integer(k.table.I32, 32, 0), attr.Float(0.0, SimpleType.F32, k.table)]
    scalars = [k.i32, k.tile("F32", [])]
    for encode in (op.encode_ReduceOp, scan):
        results = scalars if encode is op.encode_ReduceOp else [k.tile("I32", [8]), k.tile("F32", [8])]
        nest = encode(k.code, results, operands, 0, identities)
        with nest.new_block([t for t in scalars for _ in range(2)]) as arguments:
            k.some("I32", [])
            op.encode_YieldOp(k.code, [arguments[0], arguments[2]])
        sums = nest.done()
        op.encode_AssumeOp(k.code, results[0], sums[0], attr.DivBy(2))
    tokens = op.encode_LoadPtrTkoOp(
        k.code, k.i32, k.token_type, k.integers, None, None, None, op.MemoryOrderingSemantics.WEAK, None, None
    )
    op.encode_AssumeOp(k.code, k.i32, tokens[0], attr.Bounded(0, None))
    chosen = op.encode_SelectOp(k.code, k.i32, k.flag, k.count, tokens[0])
    op.encode_AssumeOp(k.code, k.i32, chosen, attr.Bounded(0, None))


def scan(code: Any, results: Any, operands: Any, dim: int, identities: Any) -> Any:
    return op.encode_ScanOp(code, results, operands, dim, False, identities)


def nested_loops(k: Kernel, depth: int) -> None:
    """`for` in `for`, each with a condition, a constant and a carried value."""
    nest = op.encode_ForOp(k.code, [k.i32, k.i32], k.count, k.count, k.count, [k.count, k.count], False)
    with nest.new_block([k.i32] * 3) as (index, first, second):
        k.some("F32", [])
        total = op.encode_AddIOp(k.code, k.i32, index, first, op.IntegerOverflow.NONE)
        if depth > 1:
            nested_loops(k, depth - 1)
        branch = op.encode_IfOp(k.code, [k.i32], k.flag)
        for value in (total, second):
            with branch.new_block([]):
                k.some("F32", [])
                op.encode_YieldOp(k.code, [value])
        (chosen,) = branch.done()
        op.encode_AssumeOp(k.code, k.i32, chosen, attr.DivBy(4))
        op.encode_ContinueOp(k.code, [chosen, total])
    results = nest.done()
    op.encode_AssumeOp(k.code, k.i32, results[1], attr.DivBy(4))


def control_flow(k: Kernel) -> None:
    """Loops and conditions with and without values, results and terminators that go without saying."""
    control_flow_without_return(k)
    branch = op.encode_IfOp(k.code, [], k.flag)
    for _ in range(2):
        with branch.new_block([]):
            op.encode_ReturnOp(k.code, [])
    branch.done()


def control_flow_without_return(k: Kernel) -> None:
    for carried, results, ending in itertools.product(range(3), range(3), ("break", "if")):
        nest = op.encode_LoopOp(k.code, [k.i32] * results, [k.count] * carried)
        with nest.new_block([k.i32] * carried) as arguments:
            if ending == "if":
                branch = op.encode_IfOp(k.code, [], k.flag)
                with branch.new_block([]):
                    op.encode_BreakOp(k.code, [k.count] * results)
                no_else(k, branch)
                op.encode_ContinueOp(k.code, list(arguments))
            else:
                op.encode_BreakOp(k.code, [k.count] * results)
        nest.done()
    for carried, unsigned in itertools.product(range(3), (False, k.minor >= 2)):
        nest = op.encode_ForOp(k.code, [k.i32] * carried, k.count, k.count, k.count, [k.count] * carried, unsigned)
        with nest.new_block([k.i32] * (carried + 1)) as arguments:
            op.encode_ContinueOp(k.code, list(arguments[1:]))
        nest.done()
    for results, has_else in ((0, False), (0, True), (1, True), (2, True)):
        branch = op.encode_IfOp(k.code, [k.i32] * results, k.flag)
        for _ in range(1 + has_else):
            with branch.new_block([]):
                op.encode_YieldOp(k.code, [k.count] * results)
        if has_else:
            branch.done()
        else:
            no_else(k, branch)


def no_else(k: Kernel, branch: Any) -> None:
    k.code.buf.append(0)
    branch._num_blocks -= 1
    branch.done()


def random_regions(seed: int) -> bytes:
    """A kernel whose regions nest at random, with values taken from every level that is in scope."""
    source = random.Random(seed)

    def block(k: Kernel, values: list[Any], depth: int) -> None:
        for _ in range(source.randint(1, 6)):
            choice = source.randrange(8)
            if choice < 3 or depth == 4:
                values.append(statement(k, values))
            elif choice < 5:
                nest = op.encode_ForOp(k.code, [k.i32], *[source.choice(values) for _ in range(3)], [values[-1]], False)
                with nest.new_block([k.i32] * 2) as arguments:
                    inner = [*values, *arguments]
                    block(k, inner, depth + 1)
                    op.encode_ContinueOp(k.code, [inner[-1]])
                values.extend(nest.done())
            elif choice < 7:
                branch = op.encode_IfOp(k.code, [k.i32, k.i32], k.flag)
                for _ in range(2):
                    with branch.new_block([]):
                        inner = list(values)
                        block(k, inner, depth + 1)
                        op.encode_YieldOp(k.code, [inner[-1], inner[0]])
                values.extend(branch.done())
            else:
                nest = op.encode_LoopOp(k.code, [k.i32], [source.choice(values)])
                with nest.new_block([k.i32]) as arguments:
                    inner = [*values, *arguments]
                    block(k, inner, depth + 1)
                    op.encode_BreakOp(k.code, [inner[-1]])
                values.extend(nest.done())

    def statement(k: Kernel, values: list[Any]) -> Any:
        choice = source.randrange(4)
        if choice == 0:
            return k.constant("I32", [], source.randrange(4).to_bytes(4, "little"))
        if choice == 1:
            return op.encode_AssumeOp(k.code, k.i32, source.choice(values), attr.DivBy(4))
        if choice == 2:
            wide = op.encode_ReshapeOp(k.code, k.tile("I32", [1]), source.choice(values))
            return op.encode_ReshapeOp(k.code, k.i32, wide)
        return op.encode_AddIOp(k.code, k.i32, source.choice(values), source.choice(values), op.IntegerOverflow.NONE)

    return module(lambda k: block(k, [k.count], 0))


def views(k: Kernel) -> None:
    """Tensor views of every rank and mix of static and dynamic extents, and every view above them."""
    paddings = (PaddingValue.Missing, PaddingValue.Zero, PaddingValue.NegZero, PaddingValue.Nan, PaddingValue.PosInf)
    extents = {1: ([DYNAMIC], [7]), 2: ([DYNAMIC, 64], [5, DYNAMIC]), 3: ([DYNAMIC] * 3, [2, DYNAMIC, 9])}
    for rank, shapes in extents.items():
        for number, shape in enumerate(shapes):
            strides = [DYNAMIC] * (rank - 1) + [1] if number == 0 else [3 * (i + 1) for i in range(rank)]
            tensor = k.table.tensor_view(k.table.F32, shape, strides, PtrAttr.Missing)
            dynamic = [[k.count] * sum(n == DYNAMIC for n in numbers) for numbers in (shape, strides)]
            view = op.encode_MakeTensorViewOp(k.code, tensor, k.pointer, *dynamic)
            op.encode_GetTensorShapeOp(k.code, [k.i32] * rank, view)
            for padding, order in itertools.product(paddings, itertools.permutations(range(rank))):
                grid_views(k, view, tensor, rank, padding, list(order))
    scalar = k.table.tensor_view(k.table.F32, [], [], PtrAttr.Missing)
    op.encode_MakeTensorViewOp(k.code, scalar, k.pointer, [], [])
    wide = k.table.tensor_view(k.table.I32, [DYNAMIC], [DYNAMIC], PtrAttr.Missing)
    long = k.some("I64", [])
    op.encode_MakeTensorViewOp(k.code, wide, k.integers, [long], [long])
    strided = k.table.tensor_view(k.table.I32, [4], [DYNAMIC], PtrAttr.Missing)
    op.encode_MakeTensorViewOp(k.code, strided, k.integers, [], [long])


def grid_views(k: Kernel, view: Any, tensor: Any, rank: int, padding: Any, order: list[int]) -> None:
    shape = [4, 8, 2][:rank]
    partition = k.table.partition_view(shape, tensor, order, padding)
    tiles = op.encode_MakePartitionViewOp(k.code, partition, view)
    op.encode_GetIndexSpaceShapeOp(k.code, [k.i32] * rank, tiles)
    if k.minor < 3:
        return
    strided = k.table.strided_view(shape, [1, 16, 3][:rank], tensor, order, padding)
    op.encode_GetIndexSpaceShapeOp(k.code, [k.i32] * rank, op.encode_MakeStridedViewOp(k.code, strided, view))
    sparse = k.table.gather_scatter_view(shape, tensor, order[0], padding)
    op.encode_MakeGatherScatterViewOp(k.code, sparse, view)


def mixed_indices(k: Kernel) -> None:
    """Index lists of one type and of several."""
    tensor = k.table.tensor_view(k.table.F32, [DYNAMIC, DYNAMIC], [64, 1], PtrAttr.Missing)
    view = op.encode_MakeTensorViewOp(k.code, tensor, k.pointer, [k.count, k.count], [])
    sparse = k.table.gather_scatter_view([8, 4], tensor, 0, PaddingValue.Zero)
    gather = op.encode_MakeGatherScatterViewOp(k.code, sparse, view)
    weak = op.MemoryOrderingSemantics.WEAK
    tile, _ = op.encode_LoadViewTkoOp(
        k.code,
        k.tile("F32", [8, 4]),
        k.token_type,
        gather,
        [k.some("I32", [8]), k.count],
        None,
        weak,
        None,
        None,
        [False] * 2,
    )
    op.encode_StoreViewTkoOp(
        k.code, k.token_type, tile, gather, [k.some("I32", [8]), k.count], k.token(), weak, None, None, [False] * 2
    )


def globals_(writer: Any) -> None:
    """Globals of every kind that the version has."""
    table, section = writer.type_table, writer.global_section
    newest = writer.version >= BytecodeVersion.V_13_3
    elements = [e for e in (*INTEGERS, *FLOATS) if newest or e not in ("F8E8M0FNU", "F4E2M1FN")]
    for number, element in enumerate(elements):
        tile = table.tile(table.simple(SimpleType[element]), [4])
        width = WIDTHS.get(element, 1)
        data = b"\x05" if element in ("I1", "F4E2M1FN") else bytes(range(1, 1 + 4 * width))
        alignment = (0, 1, 16, 128)[number % 4]
        arguments = (tile, data, alignment)
        if newest:
            visibility = op.SymbolVisibility.Private if number % 2 else op.SymbolVisibility.Public
            section.define_global(f"g{number}", *arguments, bool(number & 2), visibility)
        else:
            section.define_global(f"g{number}", *arguments)


def odd_names(minor: int = 3) -> bytes:
    """Symbols that need quotes, several kernels, and hints of every kind."""
    buffer = bytearray()
    names = ("plain", "_under", "a.b$c", "1digit", "sp ace", 'quo"te', "back\\slash", "tab\t", "ä", "a-b")
    hints = (
        {},
        {"sm_90": attr.EntryHints(occupancy=4)},
        {"sm_120": attr.EntryHints(num_cta_in_cga=2), "sm_100": attr.EntryHints(num_cta_in_cga=4, occupancy=1)},
        {"default": attr.EntryHints(occupancy=32)},
        {"sm_100": attr.EntryHints()},
    )
    with write_bytecode(len(names), buffer, VERSIONS[minor]) as writer:
        i32 = writer.type_table.tile(writer.type_table.I32, [])
        for number, name in enumerate(names):
            parameters = [i32] * (number % 3)
            table = hints[number % len(hints)]
            with writer.function(name, parameters, [], True, table, DebugAttrId(0)) as (code, _):
                op.encode_ReturnOp(code, [])
    return bytes(buffer)


def debug_info() -> bytes:
    """Two kernels with locations of every kind; equal entries under different indices."""
    buffer = bytearray()
    with write_bytecode(2, buffer, VERSIONS[3]) as writer:
        types, debug = writer.type_table, writer.debug_attr_table
        i32 = types.tile(types.I32, [])
        file, other = debug.file('quo"te\n.py', "back\\slash"), debug.file("other.py", "")
        unit = debug.compile_unit(file)
        for name, scope_line in (("first", 0), ("second", 7)):
            scope = debug.subprogram(file, 3, f"{name} name", name, unit, scope_line)
            block = debug.lexical_block(scope, other, 5, 0)
            inner = debug.lexical_block(block, file, 7, 8)
            plain = debug.loc(scope, "other.py", 1, 2)
            deep = debug.loc(inner, "other.py", 1, 2)
            call = debug.call_site(deep, plain)
            chain = debug.call_site(plain, call)
            again = debug.call_site(call, DebugAttrId(0))
            with writer.function(name, [i32, i32], [], True, {}, plain) as (code, (value, _)):
                for location in (
                    plain,
                    deep,
                    call,
                    chain,
                    again,
                    DebugAttrId(0),
                    debug.loc(block, "z.py", 2**32 - 1, 0),
                ):
                    code.cur_debug_attr = location
                    op.encode_AddIOp(code, i32, value, value, op.IntegerOverflow.NONE)
                hidden_terminator(code, types, i32, value, call, deep)
                op.encode_ReturnOp(code, [])
    return bytes(buffer)


def hidden_terminator(code: Any, types: Any, i32: Any, value: Any, first: Any, second: Any) -> None:
    """A loop whose terminator is not printed, at a location of its own."""
    nest = op.encode_ForOp(code, [], value, value, value, [], False)
    with nest.new_block([i32]):
        code.cur_debug_attr = first
        op.encode_ConstantOp(code, types.tile(types.I1, [4]), b"\x05")
        code.cur_debug_attr = second
        op.encode_ContinueOp(code, [])
    nest.done()


def empty(minor: int) -> bytes:
    buffer = bytearray()
    with write_bytecode(0, buffer, VERSIONS[minor]):
        pass
    return bytes(buffer)


def only_globals() -> bytes:
    buffer = bytearray()
    with write_bytecode(0, buffer, VERSIONS[3]) as writer:
        globals_(writer)
    return bytes(buffer)


def modules(random_count: int = 40) -> Iterator[Named]:
    """(name, bytes) of every module."""
    yield from constant_modules(400)
    for minor in VERSIONS:
        yield f"names-13-{minor}", module(name_conflicts, minor)
        yield f"control-13-{minor}", module(control_flow, minor)
        yield f"views-13-{minor}", module(views, minor)
        yield f"globals-13-{minor}", module(lambda k: None, minor, globals_)
        yield f"odd-names-13-{minor}", odd_names(minor)
        yield f"empty-13-{minor}", empty(minor)
    yield "mixed-indices", module(mixed_indices)
    yield "only-globals", only_globals()
    yield "debug-info", debug_info()
    for seed in range(random_count):
        yield f"random-{seed}", random_regions(seed)
