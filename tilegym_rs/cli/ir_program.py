"""The program behind `tilegym-rs ir dump`, which the command becomes where nothing else was asked for.

Reading, checking and printing a megabyte of bytecode takes less time than the modules of this package take to load, so
they are not loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

_FLAGS = ("-", "-g", "--print-debug-info", "--verify")


def become(words: Sequence[str]) -> None:
    """Becomes the program where the words of the command line are a dump that it knows; returns otherwise."""
    if tuple(words[:2]) != ("ir", "dump") or not all(word in _FLAGS or word[:1] != "-" for word in words[2:]):
        return
    # Installed into the folder of the command itself; `python -m tilegym_rs.cli` does not look for it.
    path = os.path.join(os.path.dirname(sys.argv[0]), "tilegym-ir")  # noqa: PTH118, PTH120
    if any(word not in _FLAGS[1:] for word in words[2:]) and os.access(path, os.X_OK):
        os.execv(path, [path, *words[1:]])
