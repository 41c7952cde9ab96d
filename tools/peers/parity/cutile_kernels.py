"""Kernels exported by cuTile Python, which together emit the operations that its language reaches."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, ScalarConstraint, export_kernel

Size = ct.Constant[int]
VERSIONS = ("13.1", "13.2", "13.3")
FLOATS = (ct.float32, ct.float16, ct.bfloat16, ct.float64)
INTEGERS = (ct.int32, ct.int64, ct.int8, ct.int16, ct.uint8, ct.uint32)


def array(dtype: Any, rank: int, index: Any = ct.int32) -> ArrayConstraint:
    return ArrayConstraint(
        dtype, rank, index_dtype=index, stride_lower_bound_incl=0, alias_groups=[], may_alias_internally=False
    )


def unary(operation: Callable[..., Any]) -> Callable[..., None]:
    def kernel(x, y, size: Size):
        tile = ct.load(x, index=(ct.bid(0),), shape=(size,))
        ct.store(y, index=(ct.bid(0),), tile=operation(tile))

    return kernel


def binary(operation: Callable[..., Any]) -> Callable[..., None]:
    def kernel(x, y, z, size: Size):
        left = ct.load(x, index=(ct.bid(0),), shape=(size,))
        right = ct.load(y, index=(ct.bid(0),), shape=(size,))
        ct.store(z, index=(ct.bid(0),), tile=operation(left, right))

    return kernel


def compared(operation: Callable[..., Any]) -> Callable[..., None]:
    def kernel(x, y, z, size: Size):
        left = ct.load(x, index=(ct.bid(0),), shape=(size,))
        right = ct.load(y, index=(ct.bid(0),), shape=(size,))
        ct.store(z, index=(ct.bid(0),), tile=ct.where(operation(left, right), left, right))

    return kernel


def folded(operation: Callable[..., Any]) -> Callable[..., None]:
    def kernel(x, y, rows: Size, columns: Size):
        tile = ct.load(x, index=(ct.bid(0), 0), shape=(rows, columns))
        ct.store(y, index=(ct.bid(0), 0), tile=ct.astype(operation(tile, axis=1, keepdims=True), y.dtype))

    return kernel


def cast(dtype: Any) -> Callable[..., None]:
    def kernel(x, y, size: Size):
        tile = ct.load(x, index=(ct.bid(0),), shape=(size,))
        ct.store(y, index=(ct.bid(0),), tile=ct.astype(tile, dtype))

    return kernel


def matrix_product(x, y, z, m: Size, n: Size, k: Size):
    total = ct.full((m, n), 0, dtype=ct.float32)
    for step in range(ct.num_tiles(x, axis=1, shape=(m, k))):
        left = ct.load(x, index=(ct.bid(0), step), shape=(m, k), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(y, index=(step, ct.bid(1)), shape=(k, n), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(left, right, total)
    ct.store(z, index=(ct.bid(0), ct.bid(1)), tile=ct.astype(total, z.dtype))


def layer_norm(x, weight, bias, y, epsilon, columns: Size):
    row = ct.bid(0)
    tile = ct.astype(ct.load(x, index=(row, 0), shape=(1, columns)), ct.float32)
    mean = ct.sum(tile, axis=1, keepdims=True) / columns
    centred = tile - mean
    scale = ct.rsqrt(ct.sum(centred * centred, axis=1, keepdims=True) / columns + epsilon)
    gain = ct.load(weight, index=(0,), shape=(columns,))
    shift = ct.load(bias, index=(0,), shape=(columns,))
    ct.store(y, index=(row, 0), tile=ct.astype(centred * scale * gain + shift, y.dtype))


def attention(q, k, v, out, scale, rows: Size, columns: Size, width: Size):
    queries = ct.load(q, index=(ct.bid(0), 0), shape=(rows, width))
    largest = ct.full((rows, 1), -1.0e30, dtype=ct.float32)
    weight = ct.full((rows, 1), 0.0, dtype=ct.float32)
    total = ct.full((rows, width), 0.0, dtype=ct.float32)
    for step in range(ct.cdiv(k.shape[0], columns)):
        keys = ct.load(k, index=(0, step), shape=(width, columns), order=(1, 0))
        scores = ct.mma(queries, keys, ct.full((rows, columns), 0.0, dtype=ct.float32)) * scale
        newest = ct.maximum(largest, ct.max(scores, axis=1, keepdims=True))
        powers = ct.exp2(scores - newest, flush_to_zero=True)
        decay = ct.exp2(largest - newest)
        weight = weight * decay + ct.sum(powers, axis=1, keepdims=True)
        values = ct.load(v, index=(step, 0), shape=(columns, width), latency=4)
        total = ct.mma(ct.astype(powers, v.dtype), values, total * decay)
        largest = newest
    ct.store(out, index=(ct.bid(0), 0), tile=ct.astype(total / weight, out.dtype), allow_tma=False)


def shapes(x, y, rows: Size, columns: Size):
    tile = ct.load(x, index=(ct.bid(0), 0), shape=(rows, columns))
    turned = ct.transpose(tile)
    flat = ct.reshape(turned, (rows * columns,))
    half = ct.extract(tile, index=(0, 1), shape=(rows, columns // 2))
    both = ct.cat((half, half), 1)
    wide = ct.broadcast_to(ct.expand_dims(ct.arange(columns, dtype=ct.int32), 0), (rows, columns))
    picked = ct.permute(ct.reshape(flat, (rows, columns)), (0, 1))
    ct.store(y, index=(ct.bid(0), 0), tile=both + picked + ct.astype(wide, x.dtype) + ct.ones((rows, columns), x.dtype))


def gather_scatter(x, indices, y, size: Size):
    places = ct.load(indices, index=(ct.bid(0),), shape=(size,))
    values = ct.gather(x, places, mask=places > 3, padding_value=0)
    ct.scatter(y, places, values * 2, mask=places < 1000)
    ct.scatter(y, places, values, check_bounds=False)


def atomics(x, counts, size: Size):
    places = ct.bid(0) * size + ct.arange(size, dtype=ct.int32)
    ct.atomic_add(x, places, 1.0, memory_order=ct.MemoryOrder.RELAXED, memory_scope=ct.MemoryScope.SYS)
    ct.atomic_add(counts, places, 1)
    ct.atomic_max(counts, places, 2)
    ct.atomic_min(counts, places, 2)
    ct.atomic_and(counts, places, 3)
    ct.atomic_or(counts, places, 4)
    ct.atomic_xor(counts, places, 5)
    ct.atomic_xchg(counts, places, 6, memory_order=ct.MemoryOrder.ACQUIRE)
    ct.atomic_cas(counts, places, 7, 8, memory_order=ct.MemoryOrder.RELEASE, memory_scope=ct.MemoryScope.BLOCK)


def control(x, y, count, size: Size):
    tile = ct.load(x, index=(ct.bid(0),), shape=(size,))
    for outer in range(count):
        for inner in range(outer, count, 2):
            if inner > 3:
                tile = tile + 1.0
            elif inner == 2:
                tile = tile * 2.0
            else:
                continue
        step = 0
        while step < outer:
            step = step + 1
            if step == 5:
                break
            tile = tile - 1.0
    if ct.bid(0) == ct.num_blocks(0) - 1:
        ct.store(y, index=(ct.bid(0),), tile=tile)
        return
    ct.store(y, index=(ct.bid(0) + 1,), tile=tile)


def helpers(x, y, size: Size):
    ct.store(y, index=(ct.bid(0),), tile=helped(ct.load(x, index=(ct.bid(0),), shape=(size,)), 2))


def helped(tile, factor):
    return helped_again(tile) * factor


def helped_again(tile):
    return tile + 1


def printing(x, size: Size):
    tile = ct.load(x, index=(ct.bid(0),), shape=(size,))
    ct.printf("block %i: %f\n", ct.bid(0), tile)
    ct.assert_(tile > 0, 'all above zero: "quoted"')  # noqa: PT009


def custom_reduction(x, y, rows: Size, columns: Size):
    tile = ct.load(x, index=(ct.bid(0), 0), shape=(rows, columns))
    largest = ct.reduce(tile, axis=1, func=lambda a, b: ct.maximum(a, b), identity=-1.0e30, keepdims=True)
    ct.store(y, index=(ct.bid(0), 0), tile=largest)


def long_indices(x, y, size: Size):
    tile = ct.load(x, index=(ct.bid(0),), shape=(size,), padding_mode=ct.PaddingMode.NAN)
    ct.store(y, index=(ct.bid(0),), tile=tile)


def scaled_product(x, y, xs, ys, z, m: Size, n: Size, k: Size):
    left = ct.load(x, index=(0, 0), shape=(m, k))
    right = ct.load(y, index=(0, 0), shape=(k, n))
    scales = ct.load(xs, index=(0, 0), shape=(m, k // 32)), ct.load(ys, index=(0, 0), shape=(k // 32, n))
    total = ct.mma_scaled(left, scales[0], right, scales[1], ct.full((m, n), 0.0, dtype=ct.float32))
    ct.store(z, index=(0, 0), tile=total)


def packed_bytes(x, y, size: Size):
    tile = ct.load(x, index=(ct.bid(0),), shape=(size,))
    ct.store(y, index=(ct.bid(0),), tile=ct.unpack_from_bytes(ct.pack_to_bytes(tile), y.dtype))


Case = tuple[str, Callable[..., None], tuple[Any, ...]]


def elementwise_cases() -> Iterator[Case]:
    names = (
        "exp",
        "exp2",
        "log",
        "log2",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "sqrt",
        "rsqrt",
        "floor",
        "ceil",
    )
    for name in (*names, "abs", "negative"):
        for dtype in FLOATS[:3]:
            yield f"{name}-{dtype}", unary(getattr(ct, name)), (array(dtype, 1), array(dtype, 1), 64)
    for name in ("abs", "negative", "bitwise_not"):
        for dtype in INTEGERS:
            yield f"{name}-{dtype}", unary(getattr(ct, name)), (array(dtype, 1), array(dtype, 1), 64)
    names = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "maximum", "minimum", "atan2")
    for name in names:
        for dtype in (ct.float32, ct.float16, ct.int32, ct.uint32):
            yield f"{name}-{dtype}", binary(getattr(ct, name)), (*[array(dtype, 1)] * 3, 64)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_lshift", "bitwise_rshift", "cdiv"):
        for dtype in (ct.int32, ct.uint8, ct.int64):
            yield f"{name}-{dtype}", binary(getattr(ct, name)), (*[array(dtype, 1)] * 3, 64)
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        for dtype in (ct.float32, ct.int32, ct.uint32):
            yield f"{name}-{dtype}", compared(getattr(ct, name)), (*[array(dtype, 1)] * 3, 64)
    types = (*FLOATS, *INTEGERS, ct.float8_e4m3fn, ct.float8_e5m2, ct.float8_e8m0fnu, ct.tfloat32, ct.float4_e2m1fn)
    for source in types:
        for target in types:
            yield f"cast-{source}-{target}", cast(target), (array(source, 1), array(target, 1), 64)


def other_cases() -> Iterator[Case]:
    for name in ("sum", "prod", "max", "min", "argmax", "argmin"):
        for dtype in (ct.float32, ct.float16, ct.int32):
            yield f"{name}-{dtype}", folded(getattr(ct, name)), (array(dtype, 2), array(dtype, 2), 4, 64)
    for dtype in (ct.float16, ct.bfloat16, ct.float32, ct.tfloat32, ct.float8_e4m3fn, ct.float8_e5m2):
        yield f"mma-{dtype}", matrix_product, (array(dtype, 2), array(dtype, 2), array(ct.float32, 2), 64, 64, 32)
    half, single = array(ct.float16, 2), array(ct.float32, 2)
    row = array(ct.float32, 1)
    number, ratio = ScalarConstraint(ct.int32), ScalarConstraint(ct.float32)
    yield "layer-norm", layer_norm, (half, row, row, half, ratio, 1024)
    yield "attention", attention, (half, half, half, half, ratio, 64, 64, 64)
    yield "shapes", shapes, (single, single, 8, 16)
    yield "gather-scatter", gather_scatter, (row, array(ct.int32, 1), row, 64)
    yield "atomics", atomics, (row, array(ct.int32, 1), 64)
    yield "control", control, (row, row, number, 64)
    yield "helpers", helpers, (row, row, 64)
    yield "printing", printing, (row, 64)
    yield "custom-reduction", custom_reduction, (single, single, 4, 64)
    yield "long-indices", long_indices, (array(ct.float32, 1, ct.int64), array(ct.float32, 1, ct.int64), 64)
    eight, scale = array(ct.float8_e4m3fn, 2), array(ct.float8_e8m0fnu, 2)
    yield "scaled-product", scaled_product, (eight, eight, scale, scale, single, 64, 64, 64)
    yield "packed-bytes", packed_bytes, (row, row, 64)


def export(name: str, function: Callable[..., None], parameters: tuple[Any, ...], version: str) -> bytes:
    signature = KernelSignature(list(parameters), CallingConvention.cutile_python_v1(), symbol=name.replace("-", "_"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.tileirbc"
        export_kernel(
            ct.kernel(function),
            [signature],
            path,
            gpu_code="sm_100",
            output_format="tileir_bytecode",
            bytecode_version=version,
        )
        return path.read_bytes()


def modules(verbose: bool = False) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of every kernel in every version that has what it needs; elementwise ones in the newest only."""
    refused = 0
    newest = [(case, VERSIONS[-1:]) for case in elementwise_cases()]
    for (name, function, parameters), versions in (*newest, *((case, VERSIONS) for case in other_cases())):
        for version in versions:
            try:
                bytecode = export(name, function, parameters, version)
            except ct.TileError as error:
                refused += 1
                if verbose:
                    print(f"{name} in {version}: {str(error).splitlines()[0]}", file=sys.stderr)
                continue
            yield f"cutile-{name}-{version}", bytecode
    print(f"{refused} exports refused by cuTile Python", file=sys.stderr)
