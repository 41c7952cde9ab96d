"""What ends a launch early: accesses outside of memory, failed assertions, Ctrl-C inside one endless tile block."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import numpy as np
import pytest
from tile_program import Builder, Program, Region, Tile, Token, Value, pointer

from tilegym_rs import KernelError, cpu

Write = Callable[[Builder, Value], None]
ADD = {"memory_ordering_semantics": 1, "memory_scope": 1, "mode": 3}


def launch(write: Write, memory: np.ndarray) -> None:
    program = Program()
    k = program.entry("kernel", [pointer("i32")])
    write(k, k.arguments[0])
    k.finish()
    cpu.load(program.encode()).launch("kernel", 1, [memory])


def atomic_past_the_end(k: Builder, memory: Value) -> None:
    places = k.addresses(memory, (16,))
    k.emit("atomic_rmw_tko", (places, k.integer(1, shape=(16,)), None, None), [Tile("i32", (16,)), Token()], ADD)


def misaligned_atomic(k: Builder, memory: Value) -> None:
    number = k.op("addi", k.op("ptr_to_int", memory, result=Tile("i64")), k.integer(2, "i64"), overflow=0)
    place = k.op("int_to_ptr", number, result=pointer("i32"))
    k.emit("atomic_rmw_tko", (place, k.integer(1), None, None), [Tile("i32"), Token()], ADD)


def past_own_memory(k: Builder, memory: Value) -> None:
    own = k.emit("alloca", (), [pointer("i32")], {"num_elem": 8, "alignment": 16})[0]
    k.store_all(own, k.integer(1, shape=(16,)))


def failed_assertion(k: Builder, memory: Value) -> None:
    below = k.op(
        "cmpi", k.iota(8), k.integer(5, shape=(8,)), result=Tile("i1", (8,)), comparison_predicate=2, signedness=1
    )
    k.emit("assert", (below,), [], {"message": "index too large"})


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (atomic_past_the_end, "atomic_rmw_tko.*element 8 of 8"),
        (misaligned_atomic, "wanted an address aligned to 4 bytes"),
        (past_own_memory, "store_ptr_tko.*'alloca' .32 bytes."),
        (failed_assertion, "assertion failed: index too large .element 5."),
    ],
)
def test_fault_is_reported(write: Write, text: str) -> None:
    with pytest.raises(KernelError, match=text):
        launch(write, np.zeros(8, np.int32))


def test_endless_tile_block_is_interrupted() -> None:
    def endless(k: Builder, memory: Value) -> None:
        k.emit("loop", ([],), [], {}, [Region([], lambda: k.emit("continue", ([],)))])

    interrupt = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        launch(endless, np.zeros(8, np.int32))
    interrupt.join()
