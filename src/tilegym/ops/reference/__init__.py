"""PyTorch implementations of the ops (backend "pytorch") and their float64 oracles."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tilegym.ops.reference.attention_sink import attention_sink, attention_sink_f64
from tilegym.ops.reference.bmm import bmm, bmm_f64
from tilegym.ops.reference.matmul import matmul, matmul_f64
from tilegym.ops.reference.silu_and_mul import silu_and_mul, silu_and_mul_f64
from tilegym.ops.reference.softmax import softmax, softmax_f64
from tilegym.ops.reference.swiglu import swiglu, swiglu_f64

# op -> the same function in float64, which takes the op's arguments. The result is not rounded to the inputs' dtype.
ORACLES: dict[str, Callable[..., torch.Tensor]] = {
    "attention_sink": attention_sink_f64,
    "bmm": bmm_f64,
    "matmul": matmul_f64,
    "silu_and_mul": silu_and_mul_f64,
    "softmax": softmax_f64,
    "swiglu": swiglu_f64,
}

__all__ = [
    "ORACLES",
    "attention_sink",
    "attention_sink_f64",
    "bmm",
    "bmm_f64",
    "matmul",
    "matmul_f64",
    "silu_and_mul",
    "silu_and_mul_f64",
    "softmax",
    "softmax_f64",
    "swiglu",
    "swiglu_f64",
]
