"""Random tile programs and what numpy makes of them: chains of operations whose parts no test of one operation joins.

A program loads a few arrays, applies operations to values it has, and stores every value it made. Floats are rounded
once from float64 (`cpu_ops.formats`), so all results are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from cpu_ops.combining import combined
from cpu_ops.formats import DTYPES, WIDTHS, Array, is_float, rounded, samples, widened
from cpu_ops.kernel import bits_of, load_view, store_view, view_of
from tile_program import Program, Region, Tile, Token, Value, pointer

FLOATS = ("f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2")
ARITHMETIC = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64")
COUNT = 256
SHAPES = ((256,), (4, 64), (64, 4), (2, 8, 16), (16, 1, 16), (2, 2, 4, 16))


@dataclass
class Known:
    """A value of the program and what it holds."""

    value: Value
    array: Array

    @property
    def element(self) -> str:
        return self.value.tile.element


@dataclass
class RandomProgram:
    """`arrays` are the arguments: inputs as they are, outputs of zeros; `expected` the outputs by argument."""

    seed: int
    length: int = 14
    arrays: list[Array] = field(default_factory=list)
    expected: dict[int, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._elements: list[str] = []
        self._plan: list[tuple[str, Array]] = []
        self.bytecode = self._write()

    def _pick(self, options: object) -> object:
        return options[int(self._rng.integers(len(options)))]  # type: ignore[index, arg-type]

    def _write(self) -> bytes:
        """Two passes, since an entry names its parameters before its operations."""
        state = self._rng.bit_generator.state
        self._outputs: list[Value] = []
        for outputs in (0, None):
            self._rng.bit_generator.state = state
            self.arrays, self.expected, self._known = [], {}, []
            program = Program()
            types = self._elements if outputs is None else []
            self._k = program.entry("kernel", [pointer(e) for e in types] or [pointer("i8")] * 512)
            self._elements = []
            self._fill()
            self._k.finish()
        return program.encode()

    def _argument(self, element: str, array: Array) -> Value:
        self._elements.append(element)
        self.arrays.append(array)
        argument = self._k.arguments[len(self.arrays) - 1]
        return Value(argument.number, pointer(element))

    def _fill(self) -> None:
        for element in (self._pick(ARITHMETIC), self._pick(ARITHMETIC), self._pick(INTEGERS), "i1"):
            self._input(str(element))
        for _ in range(self.length):
            move = self._pick(_MOVES)
            move(self)  # type: ignore[operator]
        for known in self._known:
            array = known.array
            index = len(self.arrays)
            out = self._argument(known.element, np.zeros(array.shape, array.dtype))
            self.expected[index] = array
            if array.shape:
                self._k.store_all(out, known.value)
            else:
                self._k.store(out, known.value)

    def _input(self, element: str) -> None:
        shape = tuple(self._pick(SHAPES))  # type: ignore[arg-type]
        if element == "i1":
            values = self._rng.integers(0, 2, COUNT).astype(bool)
        else:
            values = self._rng.choice(samples(element)[20:], COUNT).astype(DTYPES[element])
        values = values.reshape(shape)
        self._add(self._k.load_all(self._argument(element, values), *shape), values)

    def _add(self, value: Value, array: Array) -> None:
        self._known.append(Known(value, np.ascontiguousarray(array).reshape(value.tile.shape)))

    def _one(self, *elements: str, rank: int = 0) -> Known | None:
        fitting = [k for k in self._known if k.element in elements and len(k.array.shape) >= rank]
        return fitting[int(self._rng.integers(len(fitting)))] if fitting else None

    def _alike(self, known: Known) -> Known:
        """Another value of the same type, or the same one."""
        fitting = [k for k in self._known if k.value.tile == known.value.tile]
        return fitting[int(self._rng.integers(len(fitting)))]

    # Moves: each adds a value, or does nothing where no operand fits.

    def float_arithmetic(self) -> None:
        if (a := self._one(*ARITHMETIC)) is None:
            return
        b = self._alike(a)
        op, function = self._pick((("addf", np.add), ("subf", np.subtract), ("mulf", np.multiply)))  # type: ignore[misc]
        x, y = widened(a.array), widened(b.array)
        out = function(x, y) if a.element == "f64" else rounded(function(x, y), a.element)
        self._add(self._k.op(op, a.value, b.value, rounding_mode=0), out)

    def integer_arithmetic(self) -> None:
        if (a := self._one(*INTEGERS)) is None:
            return
        b = self._alike(a)
        table: tuple[tuple[str, Callable[..., Array], dict[str, object]], ...] = (
            ("addi", np.add, {"overflow": 0}), ("muli", np.multiply, {"overflow": 0}), ("xori", np.bitwise_xor, {}),
            ("maxi", np.maximum, {"signedness": 1}), ("andi", np.bitwise_and, {}),
        )  # fmt: skip
        op, function, marks = self._pick(table)  # type: ignore[misc]
        self._add(self._k.op(op, a.value, b.value, **marks), function(a.array, b.array).astype(a.array.dtype))

    def convert(self) -> None:
        if (a := self._one(*FLOATS)) is None:
            return
        target = str(self._pick([e for e in FLOATS if e != a.element]))
        out = widened(a.array) if target == "f64" else rounded(widened(a.array), target)
        self._add(self._k.op("ftof", a.value, result=a.value.tile.like(target), rounding_mode=0), out)

    def to_float(self) -> None:
        if (a := self._one("i8", "i16", "i32")) is None:
            return
        target = str(self._pick(ARITHMETIC))
        out = rounded(a.array.astype(np.float64), target)
        marks = {"signedness": 1, "rounding_mode": 0}
        self._add(self._k.op("itof", a.value, result=a.value.tile.like(target), **marks), out)

    def width(self) -> None:
        if (a := self._one(*INTEGERS)) is None:
            return
        target = str(self._pick([e for e in INTEGERS if e != a.element]))
        wider = WIDTHS[target] > WIDTHS[a.element]
        op, marks = ("exti", {"signedness": 1}) if wider else ("trunci", {"overflow": 0})
        self._add(self._k.op(op, a.value, result=a.value.tile.like(target), **marks), a.array.astype(DTYPES[target]))

    def bitcast(self) -> None:
        pairs = {"f16": "i16", "bf16": "i16", "f32": "i32", "f64": "i64", "f8E4M3FN": "i8", "f8E5M2": "i8"}
        if (a := self._one(*pairs, *INTEGERS)) is None:
            return
        back = {"i16": "bf16", "i32": "f32", "i64": "f64", "i8": "f8E5M2"}
        target = pairs.get(a.element) or back[a.element]
        if not is_float(a.element) and np.isnan(widened(a.array.view(DTYPES[target]))).any():
            return  # the bits of a NaN are not kept by arithmetic
        if is_float(a.element) and np.isnan(widened(a.array)).any():
            return
        self._add(self._k.op("bitcast", a.value, result=a.value.tile.like(target)), a.array.view(DTYPES[target]))

    def compare(self) -> None:
        if (a := self._one(*ARITHMETIC, *INTEGERS)) is None:
            return
        b = self._alike(a)
        bit = a.value.tile.like("i1")
        if is_float(a.element):
            marks = {"comparison_predicate": 2, "comparison_ordering": 1}
            out = widened(a.array) < widened(b.array)
        else:
            marks, out = {"comparison_predicate": 2, "signedness": 1}, a.array < b.array
        self._add(self._k.op("cmpf" if is_float(a.element) else "cmpi", a.value, b.value, result=bit, **marks), out)

    def select(self) -> None:
        if (a := self._one(*ARITHMETIC, *INTEGERS, "f8E4M3FN")) is None:
            return
        b = self._alike(a)
        masks = [k for k in self._known if k.element == "i1" and k.array.shape == a.array.shape]
        if masks:
            m = masks[int(self._rng.integers(len(masks)))]
            value = self._k.op("select", m.value, a.value, b.value, result=a.value.type)
            self._add(value, np.where(m.array, a.array, b.array))

    def reshape(self) -> None:
        if (a := self._one(*FLOATS, *INTEGERS, "i1", rank=1)) is None or a.array.size != COUNT:
            return
        shape = tuple(self._pick(SHAPES))  # type: ignore[arg-type]
        self._add(self._k.op("reshape", a.value, result=a.value.tile.shaped(*shape)), a.array.reshape(shape))

    def permute(self) -> None:
        if (a := self._one(*FLOATS, *INTEGERS, "i1", rank=2)) is None:
            return
        order = tuple(int(i) for i in self._rng.permutation(a.array.ndim))
        out = a.array.transpose(order)
        self._add(self._k.op("permute", a.value, result=a.value.tile.shaped(*out.shape), permutation=order), out)

    def reduce(self) -> None:
        if (a := self._one(*INTEGERS, "f32", "f16", rank=1)) is None:
            return
        dim = int(self._rng.integers(a.array.ndim))
        rest = a.array.shape[:dim] + a.array.shape[dim + 1 :]
        op, marks, start, function = "addi", {"overflow": 0}, 0.0, np.add
        if is_float(a.element):
            if np.isnan(widened(a.array)).any():
                return
            op, marks, start, function = "maxf", {"propagate_nan": True}, -np.inf, np.maximum  # type: ignore[assignment]
            if (a.array == 0).any():
                return  # which zero wins shows
        identity = bits_of(start, a.element)
        value = combined(self._k, "reduce", a.value, Tile(a.element, rest), op, identity, marks, dim=dim)
        self._add(value, np.asarray(function.reduce(a.array, dim)).astype(a.array.dtype))

    def scan(self) -> None:
        if (a := self._one(*INTEGERS, rank=1)) is None:
            return
        dim = int(self._rng.integers(a.array.ndim))
        value = combined(self._k, "scan", a.value, a.value.tile, "addi", 0, {"overflow": 0}, dim=dim, reverse=0)
        self._add(value, np.add.accumulate(a.array, dim, dtype=a.array.dtype))

    def broadcast(self) -> None:
        """A row or a single value spread over a tile."""
        small = [k for k in self._known if 1 <= k.array.size < COUNT and k.element != "i1"]
        if not small:
            return
        a = small[int(self._rng.integers(len(small)))]
        flat = a.array.reshape(-1)
        count = COUNT // flat.size
        row = self._k.op("reshape", a.value, result=a.value.tile.shaped(1, flat.size))
        value = self._k.op("broadcast", row, result=a.value.tile.shaped(count, flat.size))
        self._add(value, np.broadcast_to(flat, (count, flat.size)))

    def halves(self) -> None:
        """The halves of a tile, swapped."""
        if (a := self._one(*FLOATS, *INTEGERS, "i1", rank=1)) is None:
            return
        dim = int(np.argmax(a.array.shape))
        half = list(a.array.shape)
        half[dim] //= 2
        tile = a.value.tile.shaped(*half)
        parts = []
        for i in (1, 0):
            index = [self._k.integer(i if d == dim else 0) for d in range(a.array.ndim)]
            parts.append(self._k.emit("extract", (a.value, index), [tile])[0])
        low, high = np.split(a.array, 2, dim)
        self._add(self._k.op("cat", *parts, result=a.value.tile, dim=dim), np.concatenate([high, low], dim))

    def memory(self) -> None:
        """Through memory, by pointers or a view, under a mask or with padding."""
        if (a := self._one(*FLOATS, *INTEGERS, rank=1)) is None:
            return
        k = self._k
        room = self._argument(a.element, np.zeros(a.array.shape, a.array.dtype))
        self.expected[len(self.arrays) - 1] = a.array
        if a.array.ndim == 2 and self._rng.integers(2):
            view = view_of(k, room, a.array.shape, a.array.shape)
            store_view(k, a.value, view, k.integer(0), k.integer(0))
            short = view_of(k, room, (a.array.shape[0] - 1, a.array.shape[1]), a.array.shape, padding="zero")
            out = a.array.copy()
            out[-1:] = np.zeros((), a.array.dtype)
            self._add(load_view(k, short, k.integer(0), k.integer(0)), out)
            return
        k.store_all(room, a.value)
        self._add(k.load_all(room, *a.array.shape), a.array)

    def exchange(self) -> None:
        """Atomically into memory."""
        if (a := self._one("i32", "i64", "f32", "f64", rank=1)) is None:
            return
        k = self._k
        room = self._argument(a.element, np.zeros(a.array.shape, a.array.dtype))
        self.expected[len(self.arrays) - 1] = a.array
        marks = {"memory_ordering_semantics": 1, "memory_scope": 1, "mode": 9}
        operands = (k.addresses(room, a.array.shape), a.value, None, None)
        old = k.emit("atomic_rmw_tko", operands, [a.value.tile, Token()], marks)[0]
        self._add(old, np.zeros(a.array.shape, a.array.dtype))

    def loop(self) -> None:
        """A value carried through a loop: a + b, three times."""
        if (a := self._one(*INTEGERS)) is None:
            return
        b = self._alike(a)

        def body(_: Value, so_far: Value) -> None:
            self._k.emit("continue", ([self._k.op("addi", so_far, b.value, overflow=0)],))

        bounds = [self._k.integer(v) for v in (0, 3, 1)]
        region = Region([Tile("i32"), a.value.tile], body)
        value = self._k.emit("for", (*bounds, [a.value]), [a.value.tile], {}, [region])[0]
        with np.errstate(all="ignore"):
            self._add(value, (a.array + b.array + b.array + b.array).astype(a.array.dtype))

    def branch(self) -> None:
        if (a := self._one(*FLOATS, *INTEGERS)) is None:
            return
        b = self._alike(a)
        taken = bool(self._rng.integers(2))

        def yields(value: Value) -> Callable[[], None]:
            return lambda: self._k.emit("yield", ([value],)) and None

        regions = [Region([], yields(a.value)), Region([], yields(b.value))]
        value = self._k.emit("if", (self._k.integer(int(taken), "i1"),), [a.value.tile], {}, regions)[0]
        self._add(value, a.array if taken else b.array)


_MOVES: tuple[Callable[[RandomProgram], None], ...] = (
    *[RandomProgram.float_arithmetic] * 3, *[RandomProgram.integer_arithmetic] * 2, *[RandomProgram.convert] * 3,
    RandomProgram.to_float, RandomProgram.width, RandomProgram.bitcast, RandomProgram.compare, RandomProgram.select,
    RandomProgram.reshape, RandomProgram.permute, RandomProgram.reduce, RandomProgram.scan, RandomProgram.broadcast,
    RandomProgram.halves, RandomProgram.memory, RandomProgram.exchange, RandomProgram.loop, RandomProgram.branch,
)  # fmt: skip
