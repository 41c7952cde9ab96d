"""docs/cpu-device.md says what the cases of test_cpu_ops.py show."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_page_is_up_to_date():
    tool = ROOT / "tools" / "cpu_device_table.py"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
