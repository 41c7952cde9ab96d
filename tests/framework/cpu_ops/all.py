"""All cases."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from cpu_ops.atomics import atomic_kernels
from cpu_ops.case import Case
from cpu_ops.combining import combining_kernels
from cpu_ops.control import control_kernels
from cpu_ops.conversions import conversion_cases, select_cases
from cpu_ops.floats import float_cases
from cpu_ops.integers import integer_cases
from cpu_ops.kernel import Kernel
from cpu_ops.layout import layout_kernels
from cpu_ops.memory import memory_kernels
from cpu_ops.packed_views import packed_view_kernels
from cpu_ops.packing import packing_kernels
from cpu_ops.products import product_kernels
from cpu_ops.views import view_kernels


def elementwise_cases() -> Iterator[Case]:
    return chain(integer_cases(), float_cases(), conversion_cases(), select_cases())


def structural_kernels() -> list[Kernel]:
    kernels = (layout_kernels, memory_kernels, view_kernels, packed_view_kernels, combining_kernels, product_kernels)
    with np.errstate(all="ignore"):
        return [kernel for make in (*kernels, packing_kernels, atomic_kernels, control_kernels) for kernel in make()]
