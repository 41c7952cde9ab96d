"""How float32 factors of a product are multiplied."""

from __future__ import annotations

from collections.abc import Callable

import torch

_torchs_choice: Callable[[], bool] = getattr(
    torch._C, "_get_cublas_allow_tf32", lambda: torch.backends.cuda.matmul.allow_tf32
)


def tf32(choice: bool | None) -> int:
    """1 where float32 factors may be rounded to TF32: the caller's choice, or torch's own flag."""
    return int(_torchs_choice() if choice is None else choice)


def tf32_settings(choice: bool | None, dtype: torch.dtype) -> tuple[Callable[[], object], ...]:
    """The settings of torch that `tf32` read, where the dtype makes them matter."""
    return (_torchs_choice,) if choice is None and dtype == torch.float32 else ()
