"""Tuning spaces: data of each op for each architecture, and what is said of a file that is not as it should be."""

from __future__ import annotations

import json
import logging

import pytest
import torch

from tilegym.backend.cutile_rs.planned import Launch, Output, tuned
from tilegym.ops.cutile_rs import configs
from tilegym.ops.cutile_rs.configs import AttentionConfig, MatmulConfig, RowConfig, configs_for
from tilegym.ops.cutile_rs.spaces import spaces_of

OPS = {
    "softmax": RowConfig,
    "silu_and_mul": RowConfig,
    "swiglu": RowConfig,
    "matmul": MatmulConfig,
    "bmm": MatmulConfig,
    "attention_sink": AttentionConfig,
}
# Bytes of shared memory that a tile block can have: CUDA C++ Programming Guide, compute capabilities.
SHARED_MEMORY = {80: 163 << 10, 90: 227 << 10, 100: 227 << 10, 120: 99 << 10}


@pytest.mark.parametrize("op", OPS)
def test_every_op_has_a_space_for_every_architecture(op):
    assert set(spaces_of(op, OPS[op])) == {80, 90, 100, 120}


@pytest.mark.parametrize("op", ["matmul", "bmm"])
def test_a_step_of_a_product_fits_the_shared_memory(op):
    for target, spaces in spaces_of(op, MatmulConfig).items():
        for config in (config for rows in spaces.values() for config in rows):
            step = (config.bm + config.bn) * config.bk * 2 / max(config.num_cta_in_cga, 1)
            assert step <= SHARED_MEMORY[target], config


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize(("target", "taken"), [(75, 80), (86, 80), (90, 90), (103, 100), (121, 120), (999, 120)])
def test_an_architecture_takes_the_nearest_below_and_says_so(monkeypatch, caplog, op, target, taken):
    configs._nearest.cache_clear()
    monkeypatch.setattr(configs, "target_of", lambda device: target)
    monkeypatch.setattr(logging.getLogger("tilegym"), "propagate", True)
    space = "grid" if op in ("matmul", "bmm") else "default"
    with caplog.at_level(logging.INFO, "tilegym"):
        assert configs_for(op, torch.device("cuda", 0), OPS[op], space) == spaces_of(op, OPS[op])[taken][space]
    said = f"{op}: sm_{target} has no tuning space of its own, taking that of sm_{taken}" in caplog.text
    assert said == (target != taken)
    configs._nearest.cache_clear()


def written(folder, content):
    (folder / "mine_kernel").mkdir()
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "mine_kernel" / "tuning.json").write_text(text)
    return folder


def content(rows=({"block_size": 64},), **target):
    space = {"provenance": "unmeasured", "spaces": {"default": list(rows)}}
    return {"schema": "tilegym.tuning-space", "version": 1, "targets": {"sm_90": {**space, **target}}}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("{", "wanted the tuning space of mine as JSON"),
        ("[]", "wanted an object, got list"),
        ({**content(), "version": 9}, "version: wanted 1, got 9"),
        ({**content(), "targets": {}}, "targets: wanted an object, got {}"),
        ({**content(), "targets": {"h200": {}}}, "targets.h200: wanted an architecture such as sm_90"),
        (content(provenance=None), "targets.sm_90.provenance: wanted a text, got None"),
        (content(notes="x"), "targets.sm_90.notes: wanted keys among provenance, limits and spaces"),
        (content([]), "targets.sm_90.spaces.default: wanted at least one row, got []"),
        (content([3]), "spaces.default[0]: wanted an object, got 3"),
        (content([{}]), "spaces.default[0].block_size: wanted a value, got none"),
        (content([{"block_size": 64}, {"block_size": 96}]), "default[1].block_size: wanted a power of two, got 96"),
        (content([{"block_size": "64"}]), "default[0].block_size: wanted a whole number, got '64'"),
        (content([{"block_size": 64, "bm": 1}]), "default[0].bm: wanted keys among block_size, num_cta_in_cga"),
        (content([{"block_size": 64, "num_cta_in_cga": 3}]), "num_cta_in_cga: wanted -1 (automatic) or 1, 2, 4"),
        (content([{"block_size": 64, "occupancy": 0}]), "occupancy: wanted -1 (automatic) or 1 to 32, got 0"),
        (content([{"block_size": 64}, {"block_size": 64}]), "default: wanted rows that differ"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_file_is_an_error_of_file_and_key(tmp_path, bad, words):
    with pytest.raises(ValueError) as error:  # noqa: PT011  # the words are compared below
        spaces_of("mine", RowConfig, written(tmp_path, bad))
    assert words in str(error.value)
    assert "mine_kernel/tuning.json: " in str(error.value)


def test_an_op_may_share_the_space_of_another(tmp_path):
    written(tmp_path, content())
    (tmp_path / "other_kernel").mkdir()
    same = {"schema": "tilegym.tuning-space", "version": 1, "same_as": "mine"}
    (tmp_path / "other_kernel" / "tuning.json").write_text(json.dumps(same))
    assert spaces_of("other", RowConfig, tmp_path) == {90: {"default": (RowConfig(64),)}}


def test_an_op_without_a_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(ValueError, match=r"absent_kernel/tuning.json: wanted the tuning space of absent"):
        spaces_of("absent", RowConfig, tmp_path)


@pytest.mark.parametrize(("columns", "tried"), [(100, []), (3000, [2048, 4096])])
def test_candidates_of_the_same_launch_count_as_one(monkeypatch, columns, tried):
    launched = []

    class Kernels:
        def describe(self, op):
            return {"params": [{"kind": "tensor", "direction": way} for way in ("out", "in")]}

        def softmax(self, out, x, block_size):
            launched.append(block_size)

    def launch_with(config):
        x = torch.zeros(2, columns)
        return Launch("softmax", (Output.like(x, x.shape), x), {"block_size": min(config.block_size, 4096)})

    def choose(run, candidates, *arguments, **options):
        assert options["writes"] == []
        for config in candidates if len(candidates) > 1 else ():
            run(config)
        return candidates[0]

    monkeypatch.setattr("tilegym.backend.cutile_rs.utils.kernel_library", Kernels)
    monkeypatch.setattr("tilegym.backend.cutile_rs.planned.choose_config", choose)
    sizes = (4096, 8192, 2048) if columns > 2048 else (4096, 8192)
    tuned(launch_with, [RowConfig(size) for size in sizes], "key", "softmax", torch.device("cuda", 0))
    assert sorted(launched) == tried
