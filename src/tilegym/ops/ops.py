"""The public ops: signature, documentation and defaults. Backends register the code (`tilegym.backend`).

Every op also takes `backend="..."`, which chooses the backend of that one call, and keywords of single backends.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from tilegym.backend import dispatch, get_current_backend
from tilegym.backend.selector import check_known


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


@dispatch("swiglu")
def swiglu(a: torch.Tensor, b: torch.Tensor, **kwargs: Any) -> torch.Tensor:
    """SiLU of one tensor times another: `silu(a) * b`, `silu(v) = v / (1 + exp(-v))`.

    Args:
        a: [...], the gate; float32, float16 or bfloat16.
        b: shape, dtype and device of a.
        **kwargs: `backend`; cutile-rs also takes `kernel_configs`, a mapping that overrides its configuration.

    Returns:
        A dense tensor of a's shape, dtype and device.

    Raises:
        TypeError: an argument is not a tensor.
        NotImplementedError: the backend does not take the dtypes.
        ValueError: shapes or devices differ.

    Example:
        >>> swiglu(torch.tensor([0.0, 1.0]), torch.tensor([5.0, 2.0]), backend="pytorch")
        tensor([0.0000, 1.4621])

    Source:
        N. Shazeer, "GLU Variants Improve Transformer", 2020.
    """
    raise _not_implemented("swiglu")


def get_swiglu(backend: str | None = None) -> Callable[..., torch.Tensor]:
    """swiglu bound to `backend`, or to the backend current now: a callable that takes (a, b).

    Raises:
        ValueError: the backend is unknown.
    """
    return functools.partial(swiglu, backend=check_known(backend or get_current_backend()))


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
    """Matrix product `A @ B` with float32 accumulation.

    Args:
        a: [m, k], or [k, m] with trans_a; float32, float16 or bfloat16, any strides.
        b: [k, n], or [n, k] with trans_b; dtype and device of a.
        trans_a: multiplies by the transpose of a.
        trans_b: multiplies by the transpose of b.
        static_persistent: one tile block per multiprocessor walks over the output tiles; else one block a tile.
        use_tma: asks for loads through the tensor memory accelerator, where a backend has the choice.
        **kwargs: `backend`; cutile-rs also takes `kernel_configs`, a mapping that overrides its configuration, and
            `allow_tf32`, which lets float32 inputs be rounded to TF32 (default: torch's own flag,
            `torch.backends.cuda.matmul.allow_tf32`).

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


@dispatch("bmm")
def bmm(
    a: torch.Tensor,
    b: torch.Tensor,
    transpose_a: bool = False,
    transpose_b: bool = False,
    static_persistent: bool = True,
    **kwargs: Any,
) -> torch.Tensor:
    """Matrix products of a batch, `A[q] @ B[q]`, with float32 accumulation.

    Args:
        a: [q, m, k], or [q, k, m] with transpose_a; float32, float16 or bfloat16, any strides.
        b: [q, k, n], or [q, n, k] with transpose_b; dtype and device of a.
        transpose_a: multiplies by the transposes of a.
        transpose_b: multiplies by the transposes of b.
        static_persistent: one tile block per multiprocessor walks over the output tiles; else one block a tile.
        **kwargs: `backend`; cutile-rs also takes `kernel_configs` and `allow_tf32`, as matmul does.

    Returns:
        A dense tensor [q, m, n] of a's dtype and device; zeros when k is 0.

    Raises:
        TypeError: an argument is not a tensor.
        NotImplementedError: the backend does not take the dtypes.
        ValueError: ranks, batches, inner sizes or devices do not fit.

    Example:
        >>> bmm(torch.ones(1, 2, 3), torch.ones(1, 3, 2), backend="pytorch")
        tensor([[[3., 3.],
                 [3., 3.]]])
    """
    raise _not_implemented("bmm")


@dispatch("attention_sink")
def attention_sink(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    sm_scale: float = 0.125,
    sliding_window: int | None = None,
    start_q: torch.Tensor | int = 0,
    **kwargs: Any,
) -> torch.Tensor:
    """Causal attention over grouped heads whose softmax has one more logit a head, the sink, which carries no value.

    `out[b, i, h, g] = sum_j exp(s_ij) value[b, j, h] / (sum_j exp(s_ij) + exp(sinks[h, g]))`,
    `s_ij = sm_scale * query[b, i, h, g] . key[b, j, h]`, over the keys `j <= start_q + i`, and
    `j > start_q + i - sliding_window` with a window.

    Args:
        query: [batch, queries, heads, groups, d], float32, float16 or bfloat16, any strides.
        key: [batch, keys, heads, d], dtype and device of query.
        value: [batch, keys, heads, d], dtype and device of query.
        sinks: [heads * groups], dtype and device of query.
        sm_scale: factor of the products before the softmax.
        sliding_window: keys that a query sees, itself included; None or 0: all before it.
        start_q: position of the first query among the keys: an integer, or an integer tensor of one element on query's
            device, which is read there without waiting.
        **kwargs: `backend`; cutile-rs also takes `kernel_configs` and `allow_tf32`, as matmul does.

    Returns:
        A dense tensor [batch, queries, heads * groups * d] of query's dtype and device. A query that sees no key gives
        zeros.

    Raises:
        TypeError: an argument is not a tensor, or start_q neither an integer nor a tensor.
        NotImplementedError: the backend does not take the dtypes.
        ValueError: shapes or devices do not fit, or sliding_window is negative.

    Source:
        G. Xiao et al., "Efficient Streaming Language Models with Attention Sinks", 2023; T. Dao, "FlashAttention-2",
        2023, for the one pass over the keys.
    """
    raise _not_implemented("attention_sink")


def _not_implemented(op: str) -> NotImplementedError:
    return NotImplementedError(f"{op} has no implementation for backend {get_current_backend()!r}")


# What is defined here: a stub needs no further line.
__all__ = [name for name, value in list(globals().items()) if getattr(value, "__module__", None) == __name__]
__all__ = [name for name in __all__ if not name.startswith("_")]
