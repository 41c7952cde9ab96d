"""The kinds of tile configurations, and the candidates of an op on a device.

num_cta_in_cga and occupancy of -1 leave the choice to the compiler.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, TypeVar

import torch

from tilegym.backend.cutile_rs.utils import target_of
from tilegym.logger import get_logger
from tilegym.ops.cutile_rs.spaces import COUNT, CTAS, OCCUPANCY, TILE, fault, field, spaces_of

_logger = get_logger(__name__)


@dataclasses.dataclass(frozen=True)
class RowConfig:
    """A kernel that works on rows: block_size is the most columns a tile holds, a power of two."""

    block_size: int = field(TILE)
    num_cta_in_cga: int = field(CTAS, default=-1)
    occupancy: int = field(OCCUPANCY, default=-1)


@dataclasses.dataclass(frozen=True)
class MatmulConfig:
    """Output tiles of bm x bn, steps of bk; tiles are visited in groups of group_size_m tile rows."""

    bm: int = field(TILE)
    bn: int = field(TILE)
    bk: int = field(TILE)
    num_cta_in_cga: int = field(CTAS, default=-1)
    occupancy: int = field(OCCUPANCY, default=-1)
    group_size_m: int = field(COUNT, default=8)


@dataclasses.dataclass(frozen=True)
class AttentionConfig:
    """Tiles of tile_m queries and tile_n keys."""

    tile_m: int = field(TILE)
    tile_n: int = field(TILE)
    num_cta_in_cga: int = field(CTAS, default=-1)
    occupancy: int = field(OCCUPANCY, default=-1)


# Any dataclass of whole numbers with `field`s will do: an op may bring its own.
Config = TypeVar("Config")

# A chunk of use_chunked: small enough that rows of a few thousand columns take several.
CHUNKED_BLOCK_SIZE = 1024


def configs_for(op: str, device: torch.device, config: type[Config], space: str = "default") -> tuple[Config, ...]:
    """The candidates for an op on a device, from `<op>_kernel/tuning.json`.

    An architecture without rows takes those of the nearest lower one, or of the lowest; the log says so.

    Raises:
        ValueError: the file is not as it should be, or has no such space.
    """
    found: tuple[Config, ...] = _nearest(op, target_of(device), config, space)  # type: ignore[arg-type]
    return found


@functools.cache
def _nearest(op: str, target: int, config: type, space: str) -> tuple[Any, ...]:
    spaces = spaces_of(op, config)
    known = [architecture for architecture, rows in spaces.items() if space in rows]
    if not known:
        raise ValueError(f"{op}: tuning.json: wanted a space {space!r}, got none in any target")
    nearest = max((architecture for architecture in known if architecture <= target), default=min(known))
    if nearest != target:
        _logger.info("%s: sm_%d has no tuning space of its own, taking that of sm_%d", op, target, nearest)
    return spaces[nearest][space]


def with_overrides(op: str, config: Config, overrides: Mapping[str, int] | None) -> Config:
    """`config` with the fields of `kernel_configs` replaced.

    Raises:
        ValueError: a key is not a field of the op's configuration, or a value is not one that the field takes.
    """
    if not overrides:
        return config
    fields = {field.name: field for field in dataclasses.fields(config)}  # type: ignore[arg-type]
    unknown = sorted(set(overrides) - set(fields))
    if unknown:
        raise ValueError(f"{op}: kernel_configs: wanted keys among {', '.join(fields)}, got {', '.join(unknown)}")
    for name, value in overrides.items():
        text = fault(value, fields[name])
        if text is not None:
            raise ValueError(f"{op}: kernel_configs: {name}: {text}")
    return dataclasses.replace(config, **overrides)  # type: ignore[type-var]


def candidates_for(
    op: str, device: torch.device, config: type[Config], overrides: Mapping[str, int] | None, space: str = "default"
) -> tuple[Config, ...]:
    """What to choose from: the space's rows, or the first row with the fields of `kernel_configs` alone."""
    candidates = configs_for(op, device, config, space)
    return (with_overrides(op, candidates[0], overrides),) if overrides else candidates
