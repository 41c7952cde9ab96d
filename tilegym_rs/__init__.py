"""The framework below tilegym: loads the kernel library, builds it at first use, and compares ops with references.

Importing it loads neither torch nor the extension; that happens at the first call.
"""

from __future__ import annotations

from tilegym_rs import cache, cpu
from tilegym_rs.errors import BuildError, KernelError
from tilegym_rs.hot_reload import reload, watch
from tilegym_rs.library import (
    counters,
    cpu_target,
    last_error,
    library,
    library_available,
    sm_count,
)

__version__ = "0.1.0"

__all__ = [
    "BuildError",
    "KernelError",
    "__version__",
    "cache",
    "counters",
    "cpu",
    "cpu_target",
    "last_error",
    "library",
    "library_available",
    "reload",
    "sm_count",
    "watch",
]
