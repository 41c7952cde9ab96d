"""The order of imports, and processes that fork: each in a process of its own, on the CPU device."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import tilegym

pytestmark = pytest.mark.skipif(
    not tilegym.is_backend_available("cutile-rs"), reason="the kernel library is not there and cannot be built"
)

RUN = """
def run():
    import math
    import torch
    import tilegym
    x = torch.arange(12.0).reshape(3, 4)
    rows = tilegym.ops.softmax(x, backend="cutile-rs").tolist()
    # Not torch.softmax: torch's own threads hang in a process that forked after they ran.
    powers = [math.exp(i) for i in range(4)]
    assert all(abs(got - p / sum(powers)) < 1e-6 for row in rows for got, p in zip(row, powers)), rows

def forked(child):
    import os
    process = os.fork()
    if process == 0:
        try:
            child()
            os._exit(0)
        except BaseException as error:
            print(type(error).__name__, error, flush=True)
            os._exit(1)
    status = os.waitpid(process, 0)[1]
    assert status == 0, status
"""


def python(code: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"TILEGYM_RS_DEVICE": "cpu", "CUTILE_RS_AUTOBUILD": "1"}
    script = RUN + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, env=environment, check=False
    )


@pytest.mark.parametrize(
    "code",
    [
        "import tilegym_rs; tilegym_rs.library(); import torch; forked(run); run()",
        "import torch, tilegym, tilegym_rs; forked(run); run(); forked(run); forked(lambda: forked(run)); run()",
    ],
    ids=["extension before torch, loaded before the fork", "torch before extension, run before the fork"],
)
def test_ops_are_right_before_and_after_a_fork(code: str) -> None:
    done = python(code)
    assert done.returncode == 0, done.stdout + done.stderr
