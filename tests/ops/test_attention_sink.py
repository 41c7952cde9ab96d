"""attention_sink against its float64 oracle: dtypes, lengths, windows, positions, head sizes, layouts."""

from __future__ import annotations

import math

import pytest
import torch

import tilegym
import tilegym_rs

pytestmark = pytest.mark.usefixtures("seeded")

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


def tensors(device, batch=1, queries=8, keys=8, heads=2, groups=2, depth=32, dtype=torch.float32):
    """query, key, value, sinks."""
    shapes = [(batch, queries, heads, groups, depth), (batch, keys, heads, depth), (batch, keys, heads, depth)]
    return [torch.randn(shape, device=device).to(dtype) for shape in (*shapes, (heads * groups,))]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("window", [None, 20])
@pytest.mark.parametrize(("queries", "keys", "start"), [(128, 128, 0), (1, 100, 99), (33, 70, 5), (17, 5, 0)])
def test_lengths_windows_and_positions(compare_op, device, backend, queries, keys, start, window, dtype):
    q, k, v, sinks = tensors(device, batch=2, queries=queries, keys=keys, depth=64, dtype=dtype)
    compare_op("attention_sink", q, k, v, sinks, 0.125, window, start, backend=backend)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("depth", [1, 8, 40, 96, 128])
def test_any_head_size(compare_op, device, backend, depth, dtype):
    compare_op("attention_sink", *tensors(device, depth=depth, dtype=dtype), depth**-0.5, backend=backend)


@pytest.mark.parametrize(("heads", "groups"), [(1, 1), (1, 5), (3, 1)])
def test_any_grouping(compare_op, device, backend, heads, groups):
    compare_op("attention_sink", *tensors(device, heads=heads, groups=groups), backend=backend)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_position_in_a_tensor(compare_op, device, backend, dtype):
    arguments = tensors(device, queries=4, keys=30)
    start = torch.tensor([11], device=device, dtype=dtype)
    compare_op("attention_sink", *arguments, 0.2, 7, start, backend=backend)


LAYOUTS = {
    "heads_outside_positions": lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    "slice_of_a_fused_projection": lambda x: torch.cat([x, x], -1)[..., x.shape[-1] :],
    "depth_apart": lambda x: torch.stack([x, x], -1)[..., 0],
    "expanded_batch": lambda x: x[:1].expand(x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("which", [0, 1, 2], ids=["query", "key", "value"])
def test_any_layout(compare_op, device, backend, which, layout):
    arguments = tensors(device, batch=2)
    arguments[which] = LAYOUTS[layout](arguments[which])
    compare_op("attention_sink", *arguments, backend=backend)


def test_a_query_that_sees_no_key_gives_zeros(device, backend):
    arguments = tensors(device, queries=3, keys=4)
    out = tilegym.ops.attention_sink(*arguments, 0.125, 2, 20, backend=backend)
    assert torch.equal(out, torch.zeros_like(out))


def test_sinks_of_minus_infinity_leave_plain_attention(compare_op, device, backend):
    q, k, v, sinks = tensors(device, queries=20, keys=20)
    out = compare_op("attention_sink", q, k, v, torch.full_like(sinks, -math.inf), 0.125, 4, backend=backend)
    assert out.isfinite().all()


def test_large_logits_do_not_overflow(compare_op, device, backend):
    q, k, v, sinks = tensors(device, queries=20, keys=20)
    compare_op("attention_sink", q * 100, k * 100, v, sinks * 100, backend=backend)


@pytest.mark.parametrize("shape", [{"batch": 0}, {"queries": 0}, {"keys": 0}, {"depth": 0}], ids=str)
def test_no_elements(compare_op, device, backend, shape):
    out = compare_op("attention_sink", *tensors(device, **shape), backend=backend)
    assert not out.any()


def test_key_length_and_window_are_not_compiled_in(device):
    def call(keys, window, start):
        tilegym.ops.attention_sink(*tensors(device, keys=keys), 0.1, window, start, backend="cutile-rs")

    call(24, 8, 3)
    before = tilegym_rs.counters().compiles
    for keys, window, start in ((40, 24, 5), (8, 40, 7), (56, 8, 33)):
        call(keys, window, start)
    assert tilegym_rs.counters().compiles == before


def refused(error, words, *arguments, **options):
    with pytest.raises(error, match=words):
        tilegym.ops.attention_sink(*arguments, backend="cutile-rs", **options)


def test_shapes_that_do_not_fit_are_refused():
    q, k, v, sinks = tensors("cpu")
    refused(ValueError, "query: wanted rank 5", q[0], k, v, sinks)
    refused(
        ValueError, r"key: wanted shape \(1, 8, 2, 32\) \(batch, heads and depth of query\)", q, k[..., :8], v, sinks
    )
    refused(ValueError, "value: wanted shape .*as large as key", q, k, v[:, :4], sinks)
    refused(ValueError, r"sinks: wanted shape \(4,\)", q, k, v, sinks[:3])


def test_options_that_do_not_fit_are_refused():
    arguments = tensors("cpu")
    refused(ValueError, "sliding_window: wanted None or at least 0, got -1", *arguments, sliding_window=-1)
    refused(TypeError, "start_q: wanted an integer", *arguments, start_q="3")
    refused(ValueError, "start_q: wanted one integer", *arguments, start_q=torch.zeros(2, dtype=torch.int32))
    refused(NotImplementedError, "key: wanted the dtype of query", arguments[0], arguments[1].half(), *arguments[2:])
