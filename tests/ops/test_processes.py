"""Ops in processes that fork or are interrupted; each test has a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

# The child compares lists: torch's own parallel loops hang after a fork.
FORK = """
import math, os, sys, torch
from tilegym import ops
x, y = torch.randn(64, 300), torch.randn(3, 7)
call = lambda t: ops.softmax(t, backend="cutile-rs").flatten().tolist()
before, cold = call(x), torch.softmax(y, -1).flatten().tolist()
child = os.fork()
if child == 0:
    right = call(x) == before and all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(call(y), cold, strict=True))
    os._exit(0 if right else 1)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status) or call(x) != before)
"""

# One tile block would take minutes over so many columns, which are all one number in memory.
INTERRUPT = """
import sys, torch
from tilegym import ops
a, b = torch.ones(1, 1).expand(64, 2**30), torch.ones(1, 1).expand(2**30, 64)
small = torch.ones(4, 4)
ops.matmul(small, small, backend="cutile-rs")
try:
    print("started", flush=True)
    ops.matmul(a, b, backend="cutile-rs")
except KeyboardInterrupt:
    print(ops.matmul(small, small, backend="cutile-rs")[0, 0].item(), flush=True)
"""


def test_a_forked_child_gets_the_parents_values(tmp_path):
    outcome = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK], cwd=tmp_path, check=False, timeout=120, capture_output=True
    )
    assert outcome.returncode == 0, outcome.stderr.decode()


def test_ctrl_c_ends_a_long_kernel_and_the_next_call_works(tmp_path):
    command = [sys.executable, "-c", INTERRUPT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(0.5)  # into the kernel; earlier, the interrupt would show nothing of it
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    assert (process.returncode, output) == (0, "4.0\n"), errors
