"""Packed tiles and 4-bit types."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tile_program import Builder, Region, Tile, Value

from cpu_ops.formats import DTYPES, Array, rounded, samples, widened
from cpu_ops.kernel import (
    Build,
    Kernel,
    pack_nibbles,
    ramp,
    unpack_nibbles,
    zeros,
)


def packing_kernels() -> Iterator[Kernel]:
    for element in ("i1", "i16", "i32", "i64", "f16", "bf16", "f32", "tf32", "f64"):
        x = samples(element)[:64] if element != "i1" else ramp("i1", 64)
        packed = np.packbits(x, bitorder="little").view(np.int8) if element == "i1" else x.view(np.int8)

        def pack(k: Builder, a: Value, out: Value, count: int = packed.size) -> None:
            k.store_all(out, k.op("pack", k.load_all(a, 64), result=Tile("i8", (count,))))

        def unpack(k: Builder, a: Value, out: Value, count: int = packed.size, element: str = element) -> None:
            k.store_all(out, k.op("unpack", k.load_all(a, count), result=Tile(element, (64,))))

        yield Kernel(("pack",), element, pack, [(element, x), zeros("i8", packed.size)], {1: packed.copy()})
        yield Kernel(("unpack",), element, unpack, [("i8", packed.copy()), zeros(element, 64)], {1: x.copy()})
    for element in ("f16", "bf16"):
        noise = np.random.default_rng(5).integers(0, 256, 256, np.uint8).view(np.int8)
        noise[1::2] |= 0x7C  # NaN with all kinds of payloads

        def there_and_back(k: Builder, a: Value, out: Value, element: str = element) -> None:
            count = 256 // DTYPES[element].itemsize
            tile = k.op("unpack", k.load_all(a, 256), result=Tile(element, (count,)))
            k.store_all(out, k.op("pack", tile, result=Tile("i8", (256,))))

        yield Kernel(("unpack", "pack"), element, there_and_back, [("i8", noise), zeros("i8", 256)],
                     {1: noise.copy()}, "bits")  # fmt: skip
    data = np.arange(256, dtype=np.uint8).view(np.int8)
    nibbles = unpack_nibbles(data, "i4")
    fours = widened(unpack_nibbles(data, "f4E2M1FN"))

    def through(op: str, element: str, **marks: object) -> Build:
        def build(k: Builder, a: Value, out: Value) -> None:
            tile = k.op("unpack", k.load_all(a, 256), result=Tile(element, (512,)))
            k.store_all(out, k.op(op, tile, result=Tile(out.tile.element, (512,)), **marks))

        return build

    source = ("i8", data)
    for target in ("i8", "i16", "i32", "i64"):
        for sign, values in ((1, nibbles), (0, nibbles & 15)):
            yield Kernel(("exti", "unpack"), "i4", through("exti", "i4", signedness=sign), [source, zeros(target, 512)],
                         {1: values.astype(DTYPES[target])}, f"{sign}-to-{target}")  # fmt: skip
    for target in ("f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"):
        yield Kernel(("ftof", "unpack"), "f4E2M1FN", through("ftof", "f4E2M1FN", rounding_mode=0),
                     [source, zeros(target, 512)], {1: rounded(fours, target)}, f"to-{target}")  # fmt: skip

    def back(element: str, op: str, tile: str, **marks: object) -> Build:
        def build(k: Builder, a: Value, out: Value) -> None:
            x = k.op(op, k.load_all(a, 512), result=Tile(tile, (512,)), **marks)
            k.store_all(out, k.op("pack", x, result=Tile("i8", (256,))))

        return build

    for source_element in ("i8", "i16", "i32", "i64"):
        x = samples(source_element)[:512]
        packed = pack_nibbles((x & 15).astype(np.int8))
        yield Kernel(("trunci", "pack"), source_element, back(source_element, "trunci", "i4", overflow=0),
                     [(source_element, x), zeros("i8", 256)], {1: packed}, "to-i4")  # fmt: skip
    for source_element in ("f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"):
        x = np.resize(np.concatenate([samples("f32")[:100], np.linspace(-7, 7, 412, dtype=np.float32)]), 512)
        with np.errstate(all="ignore"):
            x = rounded(x.astype(np.float64), source_element)
        packed = pack_nibbles(rounded(widened(x), "f4E2M1FN"))
        yield Kernel(("ftof", "pack"), source_element, back(source_element, "ftof", "f4E2M1FN", rounding_mode=0),
                     [(source_element, x), zeros("i8", 256)], {1: packed}, "to-f4E2M1FN")  # fmt: skip

    def constant4(k: Builder, out: Value) -> None:
        codes = bytes(i % 16 for i in range(512))
        k.store_all(out, k.op("pack", k.constant(Tile("f4E2M1FN", (512,)), codes), result=Tile("i8", (256,))))

    codes = (np.arange(512) % 16).astype(np.uint8)
    yield Kernel(("constant",), "f4E2M1FN", constant4, [zeros("i8", 256)],
                 {0: (codes[0::2] | codes[1::2] << 4).view(np.int8)}, "dense")  # fmt: skip
    for element in ("i4", "f4E2M1FN"):
        yield from _layout4(element, data)


def _layout4(element: str, data: Array) -> Iterator[Kernel]:
    """4-bit tiles through what moves them: permute, broadcast, cat, extract, loops."""
    codes = np.stack([data.view(np.uint8) & 15, data.view(np.uint8) >> 4], -1).reshape(16, 32)

    def build(k: Builder, a: Value, out: Value) -> None:
        flat = k.op("unpack", k.load_all(a, 256), result=Tile(element, (512,)))
        tile = k.op("reshape", flat, result=Tile(element, (16, 32)))
        turned = k.op("permute", tile, result=Tile(element, (32, 16)), permutation=(1, 0))
        part = k.op("extract", turned, [k.integer(1), k.integer(0)], result=Tile(element, (16, 16)))
        whole = k.op("cat", part, k.op("permute", part, result=Tile(element, (16, 16)), permutation=(1, 0)),
                     result=Tile(element, (16, 32)), dim=1)  # fmt: skip

        def body(i: Value, tile: Value) -> None:
            k.emit("continue", ([whole],))

        bounds = [k.integer(v) for v in (0, 3, 1)]
        looped = k.emit("for", (*bounds, [tile]), [tile.type], {}, [Region([Tile("i32"), tile.type], body)])[0]
        k.store_all(out, k.op("pack", k.op("reshape", looped, result=Tile(element, (512,))), result=Tile("i8", (256,))))

    part = codes.T[16:]
    expected = np.concatenate([part, part.T], 1).reshape(-1)
    packed = (expected[0::2] | expected[1::2] << 4).view(np.int8)
    yield Kernel(("permute", "extract", "cat", "for", "continue"), element, build, [("i8", data), zeros("i8", 256)],
                 {1: packed})  # fmt: skip
