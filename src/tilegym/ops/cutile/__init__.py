"""Kernels in cuTile Python, backend "cutile": a second producer of Tile IR for the ops, and their second reference.

A file `<op>_kernel.py` in this folder is the op's kernel. Checks, layouts and configurations are those of the op's
cutile-rs wrapper; only what is launched differs. cuTile Python (PyPI cuda-tile) is imported at the first call.
"""

from __future__ import annotations

import pkgutil

import tilegym.ops.cutile_rs  # noqa: F401  registers the wrappers
from tilegym.ops.cutile.backend import register

__all__ = sorted(
    module.name.removesuffix("_kernel") for module in pkgutil.iter_modules(__path__) if module.name.endswith("_kernel")
)

for _op in __all__:
    register(_op)
