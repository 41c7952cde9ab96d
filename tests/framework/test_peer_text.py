"""The text reader of tools/peers: what it writes is what NVIDIA's disassembler prints again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

nvidia = pytest.importorskip("nvidia", reason="nvidia-cuda-tileiras is not installed: no disassembler to judge by")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "peers"))

import ir_text  # noqa: E402
from ir_format import parse_format  # noqa: E402
from ir_types import NotInBytecode, Scanner  # noqa: E402

FORMATS = {
    name: parse_format(Scanner(text))
    for name, text in {
        "addi": "$lhs `,` $rhs (`overflow` `` $overflow^)? attr-dict `:` custom<CudaTileType>(type($result))",
        "constant": "custom<DenseTypedElementsAttr>($value, type($result)) attr-dict",
        "cmpi": "custom<ComparisonPredicate>($comparison_predicate) $lhs `,` $rhs `,` custom<Signedness>($signedness) "
        "attr-dict `:` custom<CudaTileType>(type($lhs)) `->` custom<CudaTileType>(type($result))",
        "if": "$condition (`->` `(` custom<CudaTileType>(type($results))^ `)`)? custom<IfOpRegion>($thenRegion) "
        "(`else` custom<IfOpRegion>($elseRegion)^)? attr-dict",
        "yield": "attr-dict ($operands^ `:` custom<CudaTileType>(type($operands)))?",
    }.items()
}

TEXTS = {
    "an operation with a clause": (
        "%0 = constant <i32: 0> : tile<4xi32> %1 = addi %0, %0 overflow<no_wrap> : tile<4xi32>",
        "addi %cst_0_i32, %cst_0_i32 overflow<no_wrap> : tile<4xi32>",
    ),
    "enums and signedness": (
        "%0 = constant <i8: 0> : tile<i8> %1 = cmpi less_than %0, %0, unsigned : tile<i8> -> tile<i1>",
        "cmpi less_than %cst_0_i8, %cst_0_i8, unsigned : tile<i8> -> tile<i1>",
    ),
    "regions": (
        "%c = constant <i1: true> : tile<i1> %0 = constant <f32: 0.0> : tile<f32>"
        "%1 = if %c -> (tile<f32>) { yield %0 : tile<f32> } else { yield %0 : tile<f32> }",
        "if %false -> (tile<f32>) {",
    ),
    "values of any type": (
        "module @m { testing$func @k(%v: !cuda_tile.partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>) {"
        "%i = constant <i32: 0> : tile<i32>"
        "%t, %k = load_view_tko weak %v[%i] : partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>, tile<i32> "
        "-> tile<4xf32>, token } }",
        "load_view_tko weak %pview[%cst_0_i32",
    ),
}


def disassembled(data: bytes, folder: Path) -> str:
    path = folder / "case.tileirbc"
    path.write_bytes(data)
    tool = Path(next(iter(nvidia.__path__))) / "cu13" / "bin" / "tileirdisasm"
    return subprocess.run([tool, path], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", TEXTS)
def test_text_comes_back(name: str, tmp_path: Path) -> None:
    text, wanted = TEXTS[name]
    assert wanted in disassembled(ir_text.Reader(text, FORMATS).read(), tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "%0 = constant <i8: 300> : tile<i8>",
        "%0 = constant <i32: [1, 2, 3]> : tile<4xi32>",
        "%0 = constant <bf19: 1> : tile<bf19>",
        "%0 = frobnicate : tile<i32>",
        "%1 = addi %0, %0 : tile<i32>",
    ],
)
def test_what_only_text_gets_wrong_is_named(text: str) -> None:
    with pytest.raises(NotInBytecode):
        ir_text.Reader(text, FORMATS).read()
