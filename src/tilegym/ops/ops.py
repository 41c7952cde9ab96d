"""The public ops: signature, documentation and defaults. Backends register the code (`tilegym.backend`).

Every op also takes `backend="..."`, which chooses the backend of that one call, and keywords of single backends.
"""

from __future__ import annotations

from typing import Any

import torch

from tilegym.backend import dispatch, get_current_backend


@dispatch("softmax")
def softmax(
    x: torch.Tensor, use_tma: bool = False, use_chunked: bool = False, use_multi_wave: bool = False, **kwargs: Any
) -> torch.Tensor:
    """Softmax over the last dimension, computed in float32.

    `out[..., j] = exp(x[..., j] - max(x)) / sum(exp(x - max(x)))`

    Args:
        x: [..., n], float32, float16 or bfloat16, any strides.
        use_tma: asks for loads through the tensor memory accelerator, where a backend has the choice.
        use_chunked: reads each row in chunks even where one tile would hold it.
        use_multi_wave: asks for one tile block a row, where a backend has the choice.
        **kwargs: `backend`; cutile-rs also takes `kernel_configs`, a mapping that overrides its configuration.

    Returns:
        A dense tensor of x's shape, dtype and device.

    Raises:
        TypeError: x is not a tensor.
        NotImplementedError: the backend does not take the dtype.
        ValueError: x has no dimension, lies on an unusable device, or is too large.

    Example:
        >>> softmax(torch.tensor([[0.0, 0.0]]), backend="pytorch")
        tensor([[0.5000, 0.5000]])

    Source:
        M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018, for rows longer than a tile.
    """
    raise _not_implemented("softmax")


@dispatch("silu_and_mul")
def silu_and_mul(input: torch.Tensor, out: torch.Tensor | None = None, **kwargs: Any) -> torch.Tensor:
    """SiLU of the first half of the last dimension, times the second half (SwiGLU's activation).

    `out[..., j] = silu(input[..., j]) * input[..., H + j]`, `silu(v) = v / (1 + exp(-v))`

    Args:
        input: [..., 2H], float32, float16 or bfloat16.
        out: [..., H] of the same dtype and device, written in place; it must not share memory with input.
        **kwargs: `backend`; cutile-rs also takes `kernel_configs`, a mapping that overrides its configuration.

    Returns:
        `out`, or a new dense tensor [..., H].

    Raises:
        TypeError: an argument is not a tensor.
        NotImplementedError: the backend does not take the dtype.
        ValueError: the last dimension is odd or missing, or `out` does not fit input.

    Example:
        >>> silu_and_mul(torch.tensor([[0.0, 1.0, 5.0, 2.0]]), backend="pytorch")
        tensor([[0.0000, 1.4621]])

    Source:
        N. Shazeer, "GLU Variants Improve Transformer", 2020.
    """
    raise _not_implemented("silu_and_mul")


@dispatch("matmul")
def matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    trans_a: bool = False,
    trans_b: bool = False,
    static_persistent: bool = True,
    use_tma: bool = True,
    **kwargs: Any,
) -> torch.Tensor:
    """Matrix product `A @ B` with float32 accumulation; float32 inputs are multiplied in TF32 by cutile-rs.

    Args:
        a: [m, k], or [k, m] with trans_a; float32, float16 or bfloat16, any strides.
        b: [k, n], or [n, k] with trans_b; dtype and device of a.
        trans_a: multiplies by the transpose of a.
        trans_b: multiplies by the transpose of b.
        static_persistent: one tile block per multiprocessor walks over the output tiles; else one block a tile.
        use_tma: asks for loads through the tensor memory accelerator, where a backend has the choice.
        **kwargs: `backend`; cutile-rs also takes `kernel_configs`, a mapping that overrides its configuration.

    Returns:
        A dense tensor [m, n] of a's dtype and device; zeros when k is 0.

    Raises:
        TypeError: an argument is not a tensor.
        NotImplementedError: the backend does not take the dtypes.
        ValueError: ranks, inner sizes or devices do not fit.

    Example:
        >>> matmul(torch.ones(2, 3), torch.ones(3, 2), backend="pytorch")
        tensor([[3., 3.],
                [3., 3.]])

    Source:
        P. Tillet, H. T. Kung, D. Cox, "Triton", MAPL 2019, for the order of tiles that keeps the L2 cache warm.
    """
    raise _not_implemented("matmul")


def _not_implemented(op: str) -> NotImplementedError:
    return NotImplementedError(f"{op} has no implementation for backend {get_current_backend()!r}")
