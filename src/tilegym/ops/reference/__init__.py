"""PyTorch implementations of the ops (backend "pytorch") and their float64 oracles.

A file `<op>.py` in this folder registers the op's implementation, and may define `<op>_f64`: the same in float64, which
takes the op's arguments and does not round its result to the inputs' dtype.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator

import torch

Oracle = Callable[..., torch.Tensor]


def _oracles() -> Iterator[tuple[str, Oracle]]:
    for found in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{found.name}")
        if hasattr(module, f"{found.name}_f64"):
            yield found.name, getattr(module, f"{found.name}_f64")


# op -> its float64 oracle
ORACLES: dict[str, Oracle] = dict(_oracles())

__all__ = ["ORACLES"]
