"""tilegym_rs.tile_ir and `tilegym-rs ir`. Texts are those of NVIDIA's disassembler, beside the goldens."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tilegym_rs import tile_ir
from tilegym_rs.cli import main
from tilegym_rs.ir_report import as_markdown
from tilegym_rs.ir_rules import Verdict, compare

GOLDENS = Path(__file__).parents[1] / "goldens" / "tile_ir"
MATMUL = GOLDENS / "cutile_non_persistent_matmul_f32.tileirbc"
SOFTMAX = GOLDENS / "cutile_python_row_softmax_13_3.tileirbc"
LOOPS = GOLDENS / "cutile_python_loops_and_branches_13_3.tileirbc"
SILU = GOLDENS / "cutile_silu_and_mul_f16.tileirbc"

INSTALLED = [shutil.which("tilegym-rs", path=str(Path(sys.executable).parent))]

Capture = pytest.CaptureFixture[bytes]


def golden_text(path: Path) -> str:
    return path.with_suffix(".txt").read_text(encoding="utf-8")


def plain(text: str) -> str:
    """The text without -g."""
    lines = [re.sub(r" loc\(#loc\d*\)$", "", line) for line in text.splitlines() if not line.startswith("#")]
    return "".join(f"{line}\n" for line in lines)


def with_bytes(path: Path, target: Path, old: bytes, new: bytes) -> Path:
    """A copy of a module with the first `old` replaced."""
    data = path.read_bytes()
    assert old in data
    target.write_bytes(data.replace(old, new, 1))
    return target


def unknown_operation(folder: Path) -> Path:
    """The softmax with its `exp` (code 0x17) given a code that no version has."""
    text = SOFTMAX.read_bytes()
    at = text.index(b"\x17", 12)
    changed = folder / "unknown.tileirbc"
    while True:
        changed.write_bytes(text[:at] + b"\x7e" + text[at + 1 :])
        try:
            if tile_ir.load(changed, keep_unknown=True).unknown_operations:
                return changed
        except ValueError:
            pass
        at = text.index(b"\x17", at + 1)


@pytest.mark.parametrize("path", sorted(GOLDENS.glob("*.tileirbc")), ids=lambda path: path.stem)
def test_text_is_the_disassemblers(path: Path) -> None:
    module = tile_ir.load(path)
    assert tile_ir.text(module, locations=True) == golden_text(path)
    assert tile_ir.text(module) == plain(golden_text(path))
    assert tile_ir.load(module.bytecode()).text(locations=True) == golden_text(path)


def test_dump_prints_the_text_and_nothing_else(capfdbinary: Capture) -> None:
    assert main(["ir", "dump", str(MATMUL)]) == 0
    captured = capfdbinary.readouterr()
    assert captured.out.decode() == plain(golden_text(MATMUL))
    assert captured.err == b""
    assert main(["ir", "dump", "-g", str(MATMUL)]) == 0
    assert capfdbinary.readouterr().out.decode() == golden_text(MATMUL)


def test_dump_shows_an_unknown_operation_and_goes_on(tmp_path: Path, capfdbinary: Capture) -> None:
    path = unknown_operation(tmp_path)
    assert main(["ir", "dump", str(path), str(MATMUL)]) == 1
    captured = capfdbinary.readouterr()
    assert re.search(rb"\n  unknown operation 126 at byte \d+: 7e [0-9a-f ]+\n}\n", captured.out)
    assert captured.out.decode().endswith(plain(golden_text(MATMUL)))
    assert b"operation code: wanted a known one, got 126" in captured.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:9] + b"\x06" + data[10:], "bytecode version: wanted 13.1 to 13.3, got 13.6"),
        (lambda data: data[: len(data) // 2], "at byte"),
        (lambda data: b"", "magic number"),
        (lambda data: b"cuda_tile.module @kernels {}", "magic number"),
    ],
    ids=["future version", "truncated", "empty", "text"],
)
def test_bad_file_is_an_error_with_its_place(change, message, tmp_path: Path, capfdbinary: Capture) -> None:
    path = tmp_path / "bad.tileirbc"
    path.write_bytes(change(MATMUL.read_bytes()))
    with pytest.raises(ValueError, match=re.escape(message)):
        tile_ir.load(path)
    assert main(["ir", "dump", str(path)]) == 1
    captured = capfdbinary.readouterr()
    assert captured.out == b""
    assert str(path).encode() in captured.err


# The command becomes a program of its own where that is installed beside it; elsewhere Python does the same.
COMMANDS = [[sys.executable, "-m", "tilegym_rs.cli"], *([path] for path in INSTALLED if path)]


def run(command: list[str], *words: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*command, "ir", *map(str, words)], input=stdin, capture_output=True)


@pytest.mark.parametrize("command", COMMANDS, ids=["python", "installed"][: len(COMMANDS)])
def test_dump_goes_on_behind_files_that_are_none(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    invalid = with_bytes(SILU, tmp_path / "invalid", b"silu_and_mul_kernel_entry", b"silu_and_mul_kernel_entr\xff")
    done = run(
        command,
        "dump",
        "-g",
        tmp_path,
        tmp_path / "empty",
        tmp_path / "nothing",
        invalid,
        "-",
        stdin=MATMUL.read_bytes(),
    )
    assert done.returncode == 1
    assert done.stdout.endswith(golden_text(MATMUL).encode())
    assert b"silu_and_mul_kernel_entr\\FF" in done.stdout
    messages = done.stderr.decode().splitlines()
    wanted = ("cannot read it: Is a directory; give", "got no bytes at byte 0; give", "cannot open it: No such file")
    assert len(messages) == 3
    assert all(
        re.match(rf"tilegym-rs: {tmp_path}.*: tile_ir: .*{re.escape(text)}", line)
        for text, line in zip(wanted, messages, strict=True)
    )


@pytest.mark.parametrize("command", COMMANDS, ids=["python", "installed"][: len(COMMANDS)])
def test_dump_verifies_before_it_prints(command: list[str], tmp_path: Path) -> None:
    done = run(command, "dump", "--verify", SILU)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, plain(golden_text(SILU)), b"")
    broken = tmp_path / "broken.tileirbc"
    broken.write_bytes(broken_module())
    done = run(command, "dump", "--verify", broken)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b": tile_ir: " in done.stderr


def broken_module() -> bytes:
    """A golden with one byte changed so that it reads, but breaks a rule."""
    data = SILU.read_bytes()
    for at in range(12, len(data)):
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        try:
            if tile_ir.load(changed).verify():
                return changed
        except ValueError:
            continue
    raise AssertionError("no such byte")


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["diff", "--report", "/nowhere/report.md", SILU, SILU], 1, "/nowhere/report.md"),
        (["stats", "--argument", "999999999999=3", SILU], 2, "wanted a position below"),
        (["stats", "--argument", "0=99999999999999999999", SILU], 2, "and 64 bits"),
        (["stats", "--grid", "1,99999999999999999999", SILU], 2, "from 1 to 2147483647"),
    ],
    ids=lambda value: value[1] if isinstance(value, list) else "",
)
def test_bad_words_end_with_a_message(words: list[object], status: int, message: str) -> None:
    done = run(COMMANDS[0], *words)
    assert (done.returncode, done.stdout) == (status, b"")
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_reader_that_leaves_ends_the_command_quietly() -> None:
    command = [*COMMANDS[0], "ir", "dump", *[str(LOOPS)] * 50]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_names_that_are_no_text_are_compared_and_printed(tmp_path: Path) -> None:
    path = with_bytes(SILU, tmp_path / "odd.tileirbc", b"latency", b"latenc\xf5")
    module = tile_ir.load(path)
    assert [name for name in module.facts().access_hints if name.startswith("latenc")] == ["latenc\udcf5"]
    for words in (["diff", SILU, path], ["diff", "--json", path, SILU], ["stats", path], ["verify", "--hints", path]):
        done = run(COMMANDS[0], *words)
        assert b"codec" not in done.stderr
        assert done.stdout != b""
    odd = with_bytes(SILU, tmp_path / "entry.tileirbc", b"silu_and_mul_kernel_entry", b"silu_and_mul_kernel_entr\xff")
    assert b"silu_and_mul_kernel_entr\xff" in run(COMMANDS[0], "verify", odd).stdout
    assert b"silu_and_mul_kernel_entr" in run(COMMANDS[0], "stats", "--entry", "nothing", odd).stderr


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nothing\.tileirbc: cannot open it"):
        tile_ir.load(tmp_path / "nothing.tileirbc")


def test_verify_accepts_what_the_compiler_accepts(capfdbinary: Capture) -> None:
    assert tile_ir.verify(tile_ir.load(MATMUL)) == []
    assert main(["ir", "verify", str(MATMUL), str(SOFTMAX)]) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert [line.split(": ")[1].split(",")[0] for line in lines] == ["valid", "valid"]


def test_verify_refuses_a_module_with_unknown_operations(tmp_path: Path) -> None:
    module = tile_ir.load(unknown_operation(tmp_path), keep_unknown=True)
    with pytest.raises(ValueError, match="unknown operations"):
        module.verify()
    assert main(["ir", "verify", str(tmp_path / "unknown.tileirbc")]) == 1


@pytest.mark.parametrize("path", sorted(GOLDENS.glob("*.tileirbc")), ids=lambda path: path.stem)
def test_a_module_does_not_differ_from_itself(path: Path) -> None:
    module, again = tile_ir.load(path), tile_ir.load(path.read_bytes())
    assert tile_ir.diff(module, again) == []
    assert compare(module, again).verdict is Verdict.PASS


def test_diff_says_that_there_is_none(capfdbinary: Capture) -> None:
    assert main(["ir", "diff", str(SILU), str(SILU)]) == 0
    assert capfdbinary.readouterr().out.decode() == "no differences\nVERDICT: PASS\n"


def test_diff_names_the_changed_operation_only(tmp_path: Path) -> None:
    # absf is code 0, ceil 0x0d; in every_operation the result and operand follow.
    path = GOLDENS / "every_operation_13_3.tileirbc"
    module = tile_ir.load(path)
    data = path.read_bytes()
    for at in range(12, len(data)):
        if data[at] != 0x0D:
            continue
        try:
            other = tile_ir.load(data[:at] + b"\x27" + data[at + 1 :])
        except ValueError:
            continue
        changes = tile_ir.diff(module, other)
        if changes:
            break
    assert [(change.kind, change.subject) for change in changes] == [("removed", "ceil"), ("added", "floor")]
    assert changes[0].place == "every_operation / ceil #0"


def test_rules_tell_the_verdict(tmp_path: Path, capfdbinary: Capture) -> None:
    report = tmp_path / "diff_report.md"
    assert main(["ir", "diff", "--json", "--report", str(report), str(SOFTMAX), str(LOOPS)]) == 1
    found = json.loads(capfdbinary.readouterr().out)
    assert found["verdict"] == "FAIL_FIXABLE"
    assert {"item": "exp", "severity": "CRITICAL", "reference": "1", "generated": "0"} in found["findings"]
    text = report.read_text()
    for section in ("Step 1", "op count", "Checklist", "Root cause", "Impact", "VERDICT: FAIL_FIXABLE", "Action items"):
        assert section in text
    assert text == as_markdown(compare(tile_ir.load(SOFTMAX), tile_ir.load(LOOPS)), "loops_and_branches")


def test_differences_that_no_rule_minds_pass(capfdbinary: Capture) -> None:
    older = GOLDENS / "cutile_python_row_softmax_13_1.tileirbc"
    assert main(["ir", "diff", str(older), str(SOFTMAX)]) == 0
    assert capfdbinary.readouterr().out.decode().splitlines() == [
        "changed: module: version: 13.1 -> 13.3",
        "changed: row_softmax: optimization_hints: <sm_90 = {}> -> <default = {}>",
        "VERDICT: PASS",
    ]


@pytest.mark.parametrize(("kernel", "status"), [("row_softmax", 0), ("attention", 1)])
def test_validate_wants_the_kernels_name(kernel: str, status: int) -> None:
    assert main(["ir", "validate", str(SOFTMAX), kernel]) == status


def test_stats_of_a_softmax() -> None:
    rows, columns = 128, 256
    counted = tile_ir.stats(tile_ir.load(SOFTMAX), grid=(rows,))
    assert counted.notes == []
    assert counted.bytes_read == counted.bytes_written == 4 * rows * columns
    # Of each row: n - 1 in the maximum and in the sum, one each an element for the difference, exp and the quotient.
    assert counted.flops == {"f32": rows * (3 * columns + 2 * (columns - 1))}
    assert counted.executed["load_view_tko"] == rows


def test_stats_follow_loops(capfdbinary: Capture) -> None:
    # The loop adds once a turn until its counter is the parameter, and leaves at 7 after the addition.
    for turns, additions in ((5, 5), (20, 8)):
        counted = tile_ir.stats(tile_ir.load(LOOPS), grid=(1,), arguments=[None] * 6 + [turns])
        assert counted.notes == []
        assert counted.executed["addf"] == additions
    unknown = tile_ir.stats(tile_ir.load(LOOPS))
    assert any("not known from the launch" in note for note in unknown.notes)
    assert main(["ir", "stats", "--json", "--grid", "4", "--argument", "6=5", str(LOOPS)]) == 0
    assert json.loads(capfdbinary.readouterr().out)["executed"]["addf"] == 4 * 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": (0,)}, "grid: wanted extents of at least 1, got 0"),
        ({"grid": (1, 1, 1, 1)}, "grid: wanted 1 to 3 extents, got 4"),
        ({"entry": "other"}, "entry: wanted one of row_softmax, got 'other'"),
        ({"arguments": [1] * 99}, "arguments: wanted at most"),
    ],
)
def test_stats_refuse_a_launch_that_is_none(options, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        tile_ir.stats(tile_ir.load(SOFTMAX), **options)
