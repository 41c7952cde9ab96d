"""Loops, branches, tokens and memory that the kernel brings along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from tile_program import Builder, Program, Region, Tile, Token, Value, pointer

from cpu_ops.formats import DTYPES, Array
from cpu_ops.kernel import (
    Build,
    Kernel,
    dense,
    ramp,
    zeros,
)


def control_kernels() -> Iterator[Kernel]:
    yield from _counted_loops()
    yield from _open_loops()
    yield from _branches()
    yield from _own_memory()
    yield from _grid()


def counted(k: Builder, bounds: Sequence[Value], initial: Sequence[Value], body: Build, **marks: object) -> list[Value]:
    types = [v.type for v in initial]
    return k.emit("for", (*bounds, initial), types, marks, [Region([bounds[0].type, *types], body)])


def _counted_loops() -> Iterator[Kernel]:
    for element, low, high, step, unsigned in (
        ("i32", 0, 10, 1, False), ("i32", -5, 6, 3, False), ("i32", 5, 5, 1, False), ("i64", 0, 7, 2, False),
        ("i8", 100, 127, 20, False), ("i16", -3, 4, 1, False), ("i32", 2**31 - 3, 2**31 - 1, 5, False),
        ("i32", 2**32 - 5, 2**32 - 1, 3, True), ("i32", 2**31 - 2, 2**31 + 2, 1, True), ("i8", 250, 255, 2, True),
    ):  # fmt: skip
        turns = list(range(low, high, step))
        width = DTYPES[element].itemsize * 8
        wrapped = [(t + 2 ** (width - 1)) % 2**width - 2 ** (width - 1) for t in turns]

        def build(k: Builder, out: Value, e: str = element, b: tuple[int, int, int] = (low, high, step),
                  u: bool = unsigned) -> None:  # fmt: skip
            def body(i: Value, count: Value) -> None:
                wide = k.op("exti", i, result=Tile("i64"), signedness=1) if e != "i64" else i
                k.store(k.op("offset", out, count), wide)
                k.emit("continue", ([k.op("addi", count, k.integer(1), overflow=0)],))

            counted(k, [k.integer(v, e) for v in b], [k.integer(0)], body, **({"unsigned_cmp": True} if u else {}))

        expected = np.zeros(16, np.int64)
        expected[: len(turns)] = wrapped
        variant = f"{low}-{high}-{step}" + ("-unsigned" if unsigned else "")
        yield Kernel(("for", "continue"), element, build, [zeros("i64", 16)], {0: expected}, variant, oracle="range")

    x = ramp("f32", 8 * 256)

    def carried(k: Builder, a: Value, out: Value, unmoved: bool) -> None:
        """Pointer and index tiles that move on from turn to turn, beside a sum."""
        tile = Tile("f32", (256,))

        def body(i: Value, places: Value, index: Value, total: Value) -> None:
            value = k.load(places, k.op("cmpi", index, k.integer(1900, shape=(256,)), result=Tile("i1", (256,)),
                                        comparison_predicate=2, signedness=1))  # fmt: skip
            step = k.splat(k.integer(256), 256)
            if unmoved:
                step = k.op("muli", k.load_all(k.op("ptr_to_ptr", out, result=pointer("i32")), 256),
                            k.integer(0, shape=(256,)), overflow=0)  # fmt: skip
                step = k.op("addi", step, k.integer(256, shape=(256,)), overflow=0)
            moved = k.op("offset", places, step)
            k.emit("continue", ([moved, k.op("addi", index, step, overflow=0),
                                 k.op("addf", total, value, rounding_mode=0)],))  # fmt: skip

        start = [k.addresses(a, (256,)), k.iota(256), k.constant(tile, b"\0\0\0\0")]
        total = counted(k, [k.integer(v) for v in (0, 8, 1)], start, body)[2]
        k.store_all(out, total)

    sums = np.where(np.arange(2048) < 1900, x, 0).reshape(8, 256).sum(0).astype(np.float32)
    for unmoved in (False, True):
        yield Kernel(("for", "continue", "offset"), "f32", lambda k, a, o, u=unmoved: carried(k, a, o, u),
                     [("f32", x), zeros("f32", 256)], {1: sums},
                     "pointers-by-tile" if unmoved else "pointers")  # fmt: skip

    def swapped(k: Builder, a: Value, out: Value) -> None:
        def body(i: Value, p: Value, q: Value) -> None:
            k.emit("continue", ([q, k.op("addf", p, q, rounding_mode=0)],))

        p, q = k.load_all(a, 256), k.load_all(k.op("offset", a, k.integer(256)), 256)
        p, q = counted(k, [k.integer(v) for v in (0, 5, 1)], [p, q], body)
        k.store_all(out, p)
        k.store_all(k.op("offset", out, k.integer(256)), q)

    p, q = x[:256], x[256:512]
    for _ in range(5):
        p, q = q, p + q
    yield Kernel(("for", "continue"), "f32", swapped, [("f32", x), zeros("f32", 512)], {1: np.concatenate([p, q])},
                 "swapped")  # fmt: skip


def _open_loops() -> Iterator[Kernel]:
    def collatz(k: Builder, a: Value, out: Value) -> None:
        """Steps to 1, with a turn that ends early and a way out of the middle."""
        i32, bit = Tile("i32"), Tile("i1")

        def body(n: Value, steps: Value) -> None:
            one = k.op("cmpi", n, k.integer(1), result=bit, comparison_predicate=0, signedness=1)
            k.emit("if", (one,), [], {}, [Region([], lambda: k.emit("break", ([steps],))), None])
            more = k.op("addi", steps, k.integer(1), overflow=0)
            odd = k.op("cmpi", k.op("andi", n, k.integer(1)), k.integer(1), result=bit, comparison_predicate=0,
                       signedness=1)  # fmt: skip

            def up() -> None:
                triple = k.op("addi", k.op("muli", n, k.integer(3), overflow=0), k.integer(1), overflow=0)
                k.emit("continue", ([triple, more],))

            k.emit("if", (odd,), [], {}, [Region([], up), None])
            k.emit("continue", ([k.op("divi", n, k.integer(2), signedness=1, rounding=1), more],))

        start = [k.load(a), k.integer(0)]
        steps = k.emit("loop", (start,), [i32], {}, [Region([i32, i32], body)])[0]
        k.store(out, steps)

    for n, steps in ((27, 111), (1, 0), (97, 118)):
        arrays = [("i32", np.array([n], np.int32)), zeros("i32", 1)]
        yield Kernel(("loop", "break", "continue", "if"), "i32", collatz, arrays, {1: np.array([steps], np.int32)},
                     f"from{n}", oracle="Collatz sequence")  # fmt: skip


def _branches() -> Iterator[Kernel]:
    x = ramp("f32", 512)

    def build(k: Builder, a: Value, flag: Value, out: Value) -> None:
        tile = Tile("f32", (256,))
        condition = k.op("cmpi", k.load(flag), k.integer(0), result=Tile("i1"), comparison_predicate=1, signedness=1)
        left, right = k.load_all(a, 256), k.load_all(k.op("offset", a, k.integer(256)), 256)

        def yields(*values: Value) -> None:
            k.emit("yield", (values,))

        both = k.emit("if", (condition,), [tile, Tile("i32")], {}, [
            Region([], lambda: yields(k.op("addf", left, right, rounding_mode=0), k.integer(7))),
            Region([], lambda: yields(k.op("subf", left, right, rounding_mode=0), k.integer(9)))])  # fmt: skip
        k.store_all(out, both[0])
        k.store(
            k.op("offset", out, k.integer(256)),
            k.op("itof", both[1], result=Tile("f32"), signedness=1, rounding_mode=0),
        )

    for flag in (0, 1):
        total = x[:256] + x[256:] if flag else x[:256] - x[256:]
        expected = np.append(total, np.float32(7 if flag else 9))
        arrays = [("f32", x), ("i32", np.array([flag], np.int32)), zeros("f32", 257)]
        yield Kernel(("if", "yield"), "f32", build, arrays, {2: expected}, "then" if flag else "else")

    def returns(k: Builder, flag: Value, out: Value) -> None:
        condition = k.op("cmpi", k.load(flag), k.integer(0), result=Tile("i1"), comparison_predicate=1, signedness=1)
        k.emit("if", (condition,), [], {}, [Region([], lambda: k.emit("return")), None])
        k.store(out, k.integer(1))

    for flag in (0, 1):
        yield Kernel(("return", "if"), "i32", returns, [("i32", np.array([flag], np.int32)), zeros("i32", 1)],
                     {1: np.array([1 - flag], np.int32)}, str(flag))  # fmt: skip


def _own_memory() -> Iterator[Kernel]:
    x = ramp("f32", 256)

    def alloca(k: Builder, a: Value, out: Value, shared: bool) -> None:
        marks = {"num_elem": 300, "alignment": 256, **({"global": True} if shared else {})}
        own = k.emit("alloca", (), [pointer("f32")], marks)[0]
        block = k.emit("get_tile_block_id", (), [Tile("i32")] * 3)[0]
        k.store_all(own, k.op("mulf", k.load_all(a, 256), k.splat(
            k.op("itof", block, result=Tile("f32"), signedness=1, rounding_mode=0), 256), rounding_mode=0))  # fmt: skip
        k.store_all(k.op("offset", out, k.op("muli", block, k.integer(256), overflow=0)), k.load_all(own, 256))
        address = k.op("ptr_to_int", own, result=Tile("i64"))
        low = k.op("andi", address, k.integer(255, "i64"))
        at = k.op("ptr_to_ptr", k.op("offset", out, k.integer(8 * 256)), result=pointer("i64"))
        k.store(k.op("offset", at, block), low)

    expected = np.concatenate([*[x * i for i in range(8)], np.zeros(16, np.float32)])
    for shared in (False, True):
        yield Kernel(("alloca",), "f32", lambda k, a, o, s=shared: alloca(k, a, o, s),
                     [("f32", x), zeros("f32", 8 * 256 + 16)], {1: expected}, "global" if shared else "",
                     grid=(8,))  # fmt: skip

    for element in ("f32", "i8", "i64", "bf16", "i1", "f64"):
        values = ramp(element, 16)

        def prepare(p: Program, e: str = element, v: Array = values) -> None:
            p.add_global("table", Tile(e, (16,)), dense(e, v), 64)

        def build(k: Builder, out: Value, e: str = element) -> None:
            table = k.emit("get_global", (), [pointer(e)], {"name": "table"})[0]
            k.store_all(out, k.load_all(table, 16))

        yield Kernel(("get_global", "global"), element, build, [zeros(element, 16)], {0: values}, prepare=prepare)

    def tokens(k: Builder, a: Value, out: Value) -> None:
        first = k.emit("make_token", (), [Token()])[0]
        places, tile = k.addresses(out, (16,)), k.load_all(a, 16)
        stored = k.emit(
            "store_ptr_tko", (places, tile, None, first), [Token()], {"memory_ordering_semantics": 3, "memory_scope": 1}
        )[0]
        joined = k.emit("join_tokens", ([first, stored],), [Token()])[0]
        again, loaded = k.emit("load_ptr_tko", (places, None, None, joined), [tile.type, Token()],
                               {"memory_ordering_semantics": 2, "memory_scope": 1})  # fmt: skip
        k.emit("store_ptr_tko", (places, k.op("addf", again, again, rounding_mode=0), None, loaded), [Token()],
               {"memory_ordering_semantics": 0})  # fmt: skip

    yield Kernel(
        ("make_token", "join_tokens"), "f32", tokens, [("f32", x[:16].copy()), zeros("f32", 16)], {1: 2 * x[:16]}
    )

    def assumed(k: Builder, a: Value, out: Value) -> None:
        aligned = k.op("assume", a, predicate=b"\x08\x10\x00")
        k.store_all(out, k.load_all(aligned, 16))

    yield Kernel(("assume",), "f32", assumed, [("f32", x[:16].copy()), zeros("f32", 16)], {1: x[:16].copy()})

    def asserted(k: Builder, out: Value) -> None:
        k.emit("assert", (k.splat(k.integer(1, "i1"), 8),), [], {"message": "never"})
        k.emit("print_tko", ([], None), [Token()], {"str": ""})
        k.store(out, k.integer(1))

    yield Kernel(("assert", "print_tko"), "i32", asserted, [zeros("i32", 1)], {0: np.ones(1, np.int32)})


def _grid() -> Iterator[Kernel]:
    def build(k: Builder, out: Value) -> None:
        ids = k.emit("get_tile_block_id", (), [Tile("i32")] * 3)
        counts = k.emit("get_num_tile_blocks", (), [Tile("i32")] * 3)
        place = ids[2]
        for d in (1, 0):
            place = k.op("addi", k.op("muli", place, counts[d], overflow=0), ids[d], overflow=0)
        code = ids[0]
        for d in (1, 2):
            code = k.op("addi", k.op("muli", code, k.integer(10), overflow=0), ids[d], overflow=0)
        k.store(k.op("offset", out, place), code)

    z, y, x = np.meshgrid(np.arange(2), np.arange(3), np.arange(5), indexing="ij")
    expected = (x * 100 + y * 10 + z).astype(np.int32)
    yield Kernel(("get_tile_block_id", "get_num_tile_blocks"), "i32", build, [zeros("i32", 30)],
                 {0: expected.reshape(-1)}, grid=(5, 3, 2))  # fmt: skip
