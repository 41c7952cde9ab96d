"""Runs tests that ask for torch's "cuda" device on the CPU device: the switch `--cuda-on-cpu` of our pytest plugin.

Tensors asked for on "cuda" are made on the CPU, torch.cuda answers as a GPU of the target would, and timings are wall
clock. What a tensor says about itself stays true (`is_cuda` is False). Torch is patched before any conftest is imported
and restored at the end. Cases too large for a CPU are skipped with the estimate as the reason, or with
`--cuda-on-cpu-scaled` run at a smaller size and counted as "scaled". Without the switch only this file is imported.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tilegym_rs.cuda_on_cpu.patches import Patches

_SWITCH = "--cuda-on-cpu"
# What public benchmark helpers read when they are imported: one of 256 MB flushed a repetition of a small op into most
# of a minute, and the time of a backward pass on a CPU tells nobody anything.
_QUICK_BENCHMARKS = {"WARMUP": "0", "REP": "0", "MIN_REP": "2", "INITIAL_REP": "1", "MODE": "forward"}


def add_options(group: pytest.OptionGroup) -> None:
    """Adds the switch and its limits."""
    group.addoption(
        _SWITCH,
        action="store_true",
        default=False,
        help='run tests that ask for torch\'s "cuda" device on the CPU device, on a machine without a GPU',
    )
    group.addoption(
        "--cuda-on-cpu-seconds",
        type=float,
        metavar="SECONDS",
        default=80.0,
        help="with --cuda-on-cpu: skip cases estimated to take longer (default 80)",
    )
    group.addoption(
        "--cuda-on-cpu-scaled",
        action="store_true",
        default=False,
        help='with --cuda-on-cpu: run the cases that are too large at a smaller size and count them as "scaled"',
    )


def activate(early_config: pytest.Config) -> None:
    """Turns the mapping on where the switch asks for it, before a conftest may ask for a GPU.

    Raises:
        pytest.UsageError: there is a GPU.
    """
    if not early_config.known_args_namespace.cuda_on_cpu:
        return
    _refuse_a_gpu()
    early_config.add_cleanup(enable().restore)
    environment = pytest.MonkeyPatch()
    early_config.add_cleanup(environment.undo)
    for name, value in _QUICK_BENCHMARKS.items():
        environment.setenv(name, os.environ.get(name, value))
    from tilegym_rs.cuda_on_cpu.sizes import Sizes

    early_config.pluginmanager.register(Sizes(), "tilegym-rs-cuda-on-cpu")


def _refuse_a_gpu() -> None:
    import torch

    if torch.cuda.is_available():
        raise pytest.UsageError(
            f"{_SWITCH}: wanted a machine without a GPU, got {torch.cuda.get_device_name()}: leave the switch out to "
            'test on it, or hide it with CUDA_VISIBLE_DEVICES=""'
        )


def enable() -> Patches:
    """Maps "cuda" to the CPU in this process until `restore()` of the result is called."""
    from tilegym_rs.cuda_on_cpu import cuda_module, factories, timing
    from tilegym_rs.cuda_on_cpu.patches import Patches

    patches = Patches()
    for part in (factories, cuda_module, timing):
        part.apply(patches)
    return patches
