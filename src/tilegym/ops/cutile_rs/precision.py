"""How float32 factors of a product are multiplied."""

from __future__ import annotations

import torch


def tf32(choice: bool | None) -> int:
    """1 where float32 factors may be rounded to TF32: the caller's choice, or torch's own flag."""
    return int(torch.backends.cuda.matmul.allow_tf32 if choice is None else choice)
