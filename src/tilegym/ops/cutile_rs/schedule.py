"""How many tile blocks compute a tiled product."""

from __future__ import annotations

import torch

from tilegym.backend.cutile_rs.utils import get_num_sm
from tilegym.ops.cutile_rs.configs import MatmulConfig


def num_programs(out: torch.Tensor, config: MatmulConfig, persistent: bool) -> int:
    """One tile block per tile of `out`, [..., m, n]; a persistent kernel takes no more than the device holds."""
    tiles = -(-out.shape[-2] // config.bm) * -(-out.shape[-1] // config.bn)
    if out.dim() == 3:
        tiles *= out.shape[0]
    if not persistent:
        return tiles
    resident = get_num_sm(out.device) // max(config.num_cta_in_cga, 1) * max(config.occupancy, 1)
    return max(min(resident, tiles), 1)
