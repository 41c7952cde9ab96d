"""The ops, and the backends that implement them. Importing it registers every implementation; it builds nothing."""

from __future__ import annotations

from tilegym.ops import cutile, cutile_rs, ops, reference
from tilegym.ops.ops import *  # noqa: F403

__all__ = ["cutile", "cutile_rs", "reference"]
__all__ += ops.__all__
