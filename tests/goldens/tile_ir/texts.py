"""Writes the hand-made modules among the goldens, and beside every NAME.tileirbc the text of NVIDIA's disassembler.

NAME.txt is the output of `tileirdisasm -g`. Run: python tests/goldens/tile_ir/texts.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[2] / "tools" / "peers"))

from parity import modules, tool  # noqa: E402
from parity.kernel_builder import FLOATS, Kernel, module  # noqa: E402


def edge_constants(k: Kernel) -> None:
    """Borders of every float format."""
    for element in FLOATS:
        listed = modules.edges(element) if element in modules.LAYOUTS else list(range(0, 256, 15))
        if element == "F4E2M1FN":
            listed = list(range(16))
        shape = [2] if element == "F4E2M1FN" else []
        for pattern in listed:
            k.constant(element, shape, modules.little(pattern, element))


HAND_MADE = {
    "hand_made_constants": lambda: module(edge_constants),
    "hand_made_constant_shapes": lambda: module(modules.constant_shapes),
    "hand_made_names": lambda: module(modules.name_conflicts),
    "hand_made_control_flow": lambda: module(modules.control_flow),
    "hand_made_views": lambda: module(modules.views, 1),
    "hand_made_indices": lambda: module(modules.mixed_indices),
    "hand_made_symbols": modules.odd_names,
    "hand_made_globals": modules.only_globals,
    "hand_made_debug_info": modules.debug_info,
    "hand_made_empty": lambda: modules.empty(3),
}


def main() -> None:
    for name, make in HAND_MADE.items():
        (FOLDER / f"{name}.tileirbc").write_bytes(make())
    disassembler = tool("tileirdisasm")
    for path in sorted(FOLDER.glob("*.tileirbc")):
        text = subprocess.run([disassembler, "-g", path], check=True, capture_output=True).stdout
        path.with_suffix(".txt").write_bytes(text)
        print(path.stem, len(text), "bytes of text")


if __name__ == "__main__":
    main()
