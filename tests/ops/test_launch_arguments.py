"""What the cutile-rs wrappers hand to the kernels: views instead of copies, tile sizes, programs."""

from __future__ import annotations

import pytest
import torch

from tilegym import ops


def call(op, *args, **kwargs):
    return getattr(ops, op)(*args, backend="cutile-rs", **kwargs)


@pytest.mark.parametrize(("n", "expected"), [(1, 1), (9, 16), (1024, 1024), (1025, 2048), (100000, 4096)])
def test_softmax_block_holds_the_row_up_to_a_limit(recording_kernels, n, expected):
    call("softmax", torch.ones(2, n))
    assert recording_kernels.launches[0][2]["block_size"] == expected


def test_softmax_chunked_uses_smaller_blocks(recording_kernels):
    call("softmax", torch.ones(2, 4096), use_chunked=True)
    assert recording_kernels.launches[0][2]["block_size"] == 1024


def test_softmax_passes_a_transposed_view_as_it_is(recording_kernels):
    x = torch.ones(6, 4).t()
    call("softmax", x)
    _, (out, given), _ = recording_kernels.launches[0]
    assert given.data_ptr() == x.data_ptr()
    assert given.stride() == x.stride()
    assert out.is_contiguous()


def test_softmax_flattens_leading_dimensions_without_a_copy(recording_kernels):
    x = torch.ones(2, 3, 8)[..., :5]
    call("softmax", x)
    given = recording_kernels.launches[0][1][1]
    assert (given.shape, given.stride(), given.data_ptr()) == ((6, 5), (8, 1), x.data_ptr())


@pytest.mark.parametrize("view", ["row_padded", "offset"])
def test_silu_passes_padded_rows_as_they_are(recording_kernels, view):
    memory = torch.ones(4, 11)
    x = memory[:, :8] if view == "row_padded" else memory[:, 3:]
    call("silu_and_mul", x)
    given = recording_kernels.launches[0][1][1]
    assert (given.data_ptr(), given.stride()) == (x.data_ptr(), (11, 1))


def test_silu_packs_rows_whose_columns_are_apart(recording_kernels):
    call("silu_and_mul", torch.ones(8, 4).t())
    assert recording_kernels.launches[0][1][1].stride() == (8, 1)


def test_silu_single_column_has_stride_one(recording_kernels):
    out = torch.ones(4, 7)[:, ::3][:, :1]
    call("silu_and_mul", torch.ones(4, 2), out=out)
    assert recording_kernels.launches[0][1][0].stride() == (7, 1)


def test_silu_writes_out_without_a_copy(recording_kernels):
    out = torch.empty(4, 3)
    assert call("silu_and_mul", torch.ones(4, 6), out=out) is out
    assert recording_kernels.launches[0][1][0].data_ptr() == out.data_ptr()


@pytest.mark.parametrize("overrides", [{"block_size": 64}, {"occupancy": 2}, {"num_cta_in_cga": 4}], ids=str)
def test_kernel_configs_override_the_table(recording_kernels, overrides):
    call("softmax", torch.ones(2, 100), kernel_configs=overrides)
    assert overrides.items() <= recording_kernels.launches[0][2].items()


@pytest.mark.parametrize("flags", [(False, False), (True, False), (False, True), (True, True)], ids=str)
def test_matmul_transposes_are_views(recording_kernels, flags):
    a, b = torch.ones(3, 3), torch.ones(3, 3)
    call("matmul", a, b, *flags)
    _, (_, given_a, given_b), _ = recording_kernels.launches[0]
    strides = {False: (3, 1), True: (1, 3)}
    assert (given_a.stride(), given_b.stride()) == (strides[flags[0]], strides[flags[1]])
    assert (given_a.data_ptr(), given_b.data_ptr()) == (a.data_ptr(), b.data_ptr())


@pytest.mark.parametrize(("persistent", "given"), [(False, 0), (True, 1), (None, 1)])
def test_matmul_schedule(recording_kernels, persistent, given):
    call("matmul", torch.ones(4, 4), torch.ones(4, 4), static_persistent=persistent)
    assert recording_kernels.launches[0][2]["persistent"] == given


def test_matmul_has_a_program_per_tile(recording_kernels):
    tiles = {"bm": 16, "bn": 32, "bk": 16}
    call("matmul", torch.ones(33, 8), torch.ones(8, 65), static_persistent=False, kernel_configs=tiles)
    assert recording_kernels.launches[0][2]["num_programs"] == 3 * 3


@pytest.mark.parametrize(("clusters", "occupancy", "programs"), [(1, 1, 132), (2, 1, 66), (2, 2, 132), (-1, -1, 132)])
def test_persistent_programs_fill_the_device(recording_kernels, monkeypatch, clusters, occupancy, programs):
    monkeypatch.setattr("tilegym.ops.cutile_rs.products.get_num_sm", lambda device: 132)
    tiles = {"bm": 16, "bn": 16, "bk": 16, "num_cta_in_cga": clusters, "occupancy": occupancy}
    call("matmul", torch.ones(512, 4), torch.ones(4, 512), kernel_configs=tiles)
    assert recording_kernels.launches[0][2]["num_programs"] == programs


def test_no_gradient_mode_takes_parameters(recording_kernels):
    with torch.no_grad():
        call("softmax", torch.nn.Parameter(torch.ones(2, 4)))
    assert len(recording_kernels.launches) == 1


def test_pending_negation_is_carried_out(recording_kernels):
    negated = torch.view_as_complex(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])).conj().imag
    assert negated.is_neg()
    torch.testing.assert_close(call("softmax", negated), torch.softmax(torch.tensor([[-2.0, -4.0]]), -1))
