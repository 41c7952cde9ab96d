"""The table of ops from records and peer runs: every outcome is counted under its own name."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tilegym_rs.validation import record_file
from tilegym_rs.validation.records import FAIL, PASS, Record

TOOL = Path(__file__).resolve().parents[2] / "tools" / "op_table.py"
PEER = """<testsuites><testsuite time="12.5">
<testcase classname="tests.ops.test_softmax.Test_Softmax" name="a"/>
<testcase classname="tests.ops.test_softmax" name="b">
<skipped message="too large for the CPU device: estimated 9 s"/></testcase>
<testcase classname="tests.ops.test_softmax" name="c"><skipped message="no such thing"/></testcase>
<testcase classname="tests.ops.test_bmm" name="d">
<properties><property name="scaled" value="m 9 -> 1"/></properties></testcase>
<testcase classname="tests.ops.test_bmm" name="e"><failure/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    def made(*arguments):
        output = tmp_path / "ops.md"
        monkeypatch.setattr("sys.argv", ["op_table.py", "--output", str(output), *map(str, arguments)])
        with pytest.raises(SystemExit):
            runpy.run_path(str(TOOL), run_name="__main__")
        return output.read_text()

    return made


def test_outcomes_are_counted_apart(page, tmp_path):
    (tmp_path / "peer.xml").write_text(PEER)
    text = page("--peer", tmp_path / "peer.xml", "--machine", "two cores")
    assert "| softmax | not run | not run | not run | not run | 1 | 0 | 1 | 1 |" in text
    assert "| bmm | not run | not run | not run | not run | 0, 1 FAILED | 1 | 0 | 0 |" in text
    assert "Time of the peer's tests: 12 s." in text
    assert "Machine: two cores." in text


def test_records_tell_dtypes_layouts_and_gradients(page, tmp_path):
    path = tmp_path / "ops.jsonl"
    rows = [
        Record("softmax", "cutile-rs", "float16", "4x8", "CPU device", PASS, layout="padded"),
        Record("softmax", "cutile-rs", "float32", "4x8", "CPU device", FAIL),
        Record("softmax", "cutile-rs", "float32", "4x8", "CPU device", PASS, case="gradients: gradient of x"),
        Record("softmax", "pytorch", "bfloat16", "4x8", "CPU device", PASS),
    ]
    for number, row in enumerate(rows):
        record_file.append(path, "test", number, row.to_plain())
    text = page("--records", path)
    assert "| softmax | 3, 1 FAILED | float16, float32 | packed, padded | x | not run |" in text
