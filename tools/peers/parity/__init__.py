"""The corpus of tools/peers/disasm_parity."""

from __future__ import annotations

import functools
from pathlib import Path


@functools.cache
def tool(name: str) -> Path:
    """A program of the package nvidia-cuda-tileiras.

    Raises:
        FileNotFoundError: the package is not installed.
    """
    import nvidia

    for folder in nvidia.__path__:
        path = Path(folder) / "cu13" / "bin" / name
        if path.is_file():
            return path
    raise FileNotFoundError(f"{name}: wanted the package nvidia-cuda-tileiras, found none; pip install it")
