"""How many tile blocks compute a tiled product."""

from __future__ import annotations

import math

import torch

from tilegym.backend.cutile_rs.utils import get_num_sm
from tilegym.ops.cutile_rs.configs import MatmulConfig


def num_programs(shape: tuple[int, ...], device: torch.device, config: MatmulConfig, persistent: bool) -> int:
    """One tile block per tile of a result [..., m, n]; a persistent kernel takes no more than the device holds."""
    *batches, m, n = shape
    tiles = math.prod(batches) * -(-m // config.bm) * -(-n // config.bn)
    if not persistent:
        return tiles
    resident = get_num_sm(device) // max(config.num_cta_in_cga, 1) * max(config.occupancy, 1)
    return max(min(resident, tiles), 1)
