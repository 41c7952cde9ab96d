"""Tile configurations per target, data only. The first row of a list is used untuned, so also on the CPU device.

sm_90 rows were the fastest of 156 measured on an H200 (bf16 products of 512 to 8192); the public Blackwell rows spill
there. num_cta_in_cga and occupancy of -1 leave the choice to the compiler.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, TypeVar

import torch

from tilegym.backend.cutile_rs.utils import target_of


@dataclasses.dataclass(frozen=True)
class RowConfig:
    """A kernel that works on rows: block_size is the most columns a tile holds, a power of two."""

    block_size: int
    num_cta_in_cga: int = -1
    occupancy: int = -1


@dataclasses.dataclass(frozen=True)
class MatmulConfig:
    """Output tiles of bm x bn, steps of bk; tiles are visited in groups of group_size_m tile rows."""

    bm: int
    bn: int
    bk: int
    num_cta_in_cga: int = -1
    occupancy: int = -1
    group_size_m: int = 8


@dataclasses.dataclass(frozen=True)
class AttentionConfig:
    """Tiles of tile_m queries and tile_n keys."""

    tile_m: int
    tile_n: int
    num_cta_in_cga: int = -1
    occupancy: int = -1


_TILE_EXTENTS = frozenset({"block_size", "bm", "bn", "bk", "tile_m", "tile_n"})

Config = TypeVar("Config", RowConfig, MatmulConfig, AttentionConfig)

_ROWS = (RowConfig(4096),)

# {op: {target: rows}}; a device takes the row of the highest target that is not above its own.
TABLE: dict[str, dict[int, tuple[Any, ...]]] = {
    "softmax": {80: _ROWS},
    "silu_and_mul": {80: _ROWS},
    "swiglu": {80: _ROWS},
    "attention_sink": {
        80: (AttentionConfig(64, 64), AttentionConfig(128, 64)),
        90: (AttentionConfig(64, 64), AttentionConfig(128, 64), AttentionConfig(128, 128), AttentionConfig(64, 128)),
        100: (AttentionConfig(128, 64), AttentionConfig(128, 128), AttentionConfig(256, 64), AttentionConfig(64, 64)),
        120: (AttentionConfig(64, 64), AttentionConfig(128, 64)),
    },
    "matmul": {
        80: (MatmulConfig(128, 128, 32), MatmulConfig(64, 128, 32), MatmulConfig(128, 64, 64)),
        90: (
            MatmulConfig(64, 128, 64, 1),
            MatmulConfig(128, 64, 64, 1),
            MatmulConfig(64, 256, 64, 2),
            MatmulConfig(128, 128, 64, 1, 1),
        ),
        100: (
            MatmulConfig(128, 128, 64, 1, 1),
            MatmulConfig(256, 256, 64, 2, 1),
            MatmulConfig(256, 256, 64, 4, 1),
            MatmulConfig(512, 256, 64, 2, 1),
        ),
        120: (MatmulConfig(128, 128, 32, 1, 1), MatmulConfig(64, 128, 64, 1, 1)),
    },
    "matmul persistent": {
        80: (MatmulConfig(128, 128, 32, 1, 1), MatmulConfig(64, 64, 64, 1, 2)),
        90: (
            MatmulConfig(128, 128, 64, 1, 1),
            MatmulConfig(128, 128, 32, 1, 1),
            MatmulConfig(128, 256, 64, 2, 1),
            MatmulConfig(256, 128, 64, 2, 1),
            MatmulConfig(64, 128, 64, 1, 1),
        ),
        100: (
            MatmulConfig(128, 128, 64, 1, 1),
            MatmulConfig(256, 256, 64, 2, 1),
            MatmulConfig(256, 256, 128, 2, 1),
            MatmulConfig(128, 512, 64, 4, 1),
        ),
        120: (MatmulConfig(128, 128, 64, 1, 1), MatmulConfig(64, 64, 64, 1, 2), MatmulConfig(128, 64, 64, 1, 2)),
    },
}

# A batch of products is tiled as one product is.
TABLE["bmm"], TABLE["bmm persistent"] = TABLE["matmul"], TABLE["matmul persistent"]

# A chunk of use_chunked: small enough that rows of a few thousand columns take several.
CHUNKED_BLOCK_SIZE = 1024


@functools.cache
def configs_for(op: str, device: torch.device) -> tuple[Any, ...]:
    """The candidates for an op on a device."""
    target = target_of(device)
    rows = TABLE[op]
    return rows[max((known for known in rows if known <= target), default=min(rows))]


def with_overrides(op: str, config: Config, overrides: Mapping[str, int] | None) -> Config:
    """`config` with the fields of `kernel_configs` replaced.

    Raises:
        ValueError: a key is not a field of the op's configuration, or a tile extent is not a power of two.
    """
    if not overrides:
        return config
    fields = [field.name for field in dataclasses.fields(config)]
    unknown = sorted(set(overrides) - set(fields))
    if unknown:
        raise ValueError(f"{op}: kernel_configs: wanted keys among {', '.join(fields)}, got {', '.join(unknown)}")
    for name, value in overrides.items():
        if name in _TILE_EXTENTS and (value < 1 or value & (value - 1)):
            raise ValueError(f"{op}: kernel_configs: {name}: wanted a power of two, got {value}")
    return dataclasses.replace(config, **overrides)
