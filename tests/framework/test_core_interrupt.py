"""Ctrl-C while an op runs on the CPU device, in a process of its own."""

import functools
import signal
import subprocess
import sys

import pytest

# `wait` prints "started" and then runs until its launch is cancelled, at most ten seconds.
PROGRAM = """
import asyncio, ctypes, signal, sys, threading, time
from tilegym_rs import _core
library = _core.KernelLibrary(*sys.argv[1:])
{before}
try:
    library.wait()
except KeyboardInterrupt as error:
    print("interrupted", flush=True)
{after}
"""


@pytest.fixture
def interrupt(fake_kernels, fake_driver, tmp_path):
    """Runs the program, sends SIGINT once an op has started, and returns what it wrote after that."""
    return functools.partial(run_and_interrupt, [str(fake_kernels), str(fake_driver)], tmp_path)


def run_and_interrupt(libraries, folder, before="", after="", launches=1):
    program = PROGRAM.format(before=before, after=after)
    command = [sys.executable, "-c", program, *libraries]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder) as process:
        assert [process.stdout.readline() for _ in range(launches)] == ["started\n"] * launches
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return output.split()


def test_ctrl_c_ends_a_launch(interrupt):
    assert interrupt() == ["interrupted"]


def test_the_next_call_works(interrupt):
    assert interrupt(after="library.fail(0); print('again')") == ["interrupted", "again"]


def test_ctrl_c_ends_a_launch_after_others_have_set_the_handler(interrupt):
    before = (
        "library.fail(0); asyncio.run(asyncio.sleep(0)); signal.signal(signal.SIGINT, signal.default_int_handler); "
    )
    assert interrupt(before=before + "time.sleep(0.02)") == ["interrupted"]


def test_a_handler_that_does_not_raise_is_called_and_the_launch_is_still_reported(interrupt):
    before = "signal.signal(signal.SIGINT, lambda *_: print('handled', flush=True))"
    assert interrupt(before=before) == ["handled", "interrupted"]


def test_an_exception_of_the_users_handler_comes_through(interrupt):
    before = "def stop(*_): raise SystemExit(print('stopped', flush=True))\nsignal.signal(signal.SIGINT, stop)"
    assert interrupt(before=before) == ["stopped"]


def test_ctrl_c_between_calls_does_not_cancel_the_next_one(interrupt):
    after = """
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    pass
library.fail(0)
print("uncancelled")
"""
    assert interrupt(after=after) == ["interrupted", "uncancelled"]


def test_launches_of_other_threads_go_on(interrupt):
    before = "worker = threading.Thread(target=library.fail, args=(0,)); worker.run = library.wait; worker.start()"
    after = """
time.sleep(0.2)
print("running" if worker.is_alive() else "cancelled too")
threading.excepthook = lambda failure: print(failure.exc_type.__name__)
ctypes.c_int.in_dll(ctypes.CDLL(sys.argv[2]), "fake_cancelled").value = 1
worker.join()
"""
    assert interrupt(before, after, launches=2) == ["interrupted", "running", "KeyboardInterrupt"]
