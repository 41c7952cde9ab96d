"""The activation that silu_and_mul and swiglu share."""

from __future__ import annotations

from typing import Any

import cuda.tile as ct


def gated(gate: Any, up: Any, dtype: Any) -> Any:
    """silu(gate) * up of two tiles, the activation rounded to `dtype` first, as separate silu and mul would."""
    wide = ct.astype(gate, ct.float32)
    activation = ct.astype(wide / (1.0 + ct.exp(-wide)), dtype)
    return ct.astype(ct.astype(activation, ct.float32) * ct.astype(up, ct.float32), dtype)
