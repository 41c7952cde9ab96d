"""What matmul and bmm share: both are products in the last two dimensions, by the same two schedules."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from tilegym.backend.cutile_rs.planned import Launch, Output, tuned
from tilegym.backend.cutile_rs.utils import get_num_sm
from tilegym.ops.cutile_rs import checks
from tilegym.ops.cutile_rs.autograd.operator import encoded
from tilegym.ops.cutile_rs.configs import MatmulConfig, candidates_for
from tilegym.ops.cutile_rs.precision import tf32, tf32_settings


@dataclasses.dataclass(frozen=True)
class Product:
    """A product op.

    Attributes:
        op: its name.
        rank: of its operands.
        transpose: the names of its parameters that transpose an operand, for messages.
    """

    op: str
    rank: int
    transpose: str

    def plan(
        self,
        a: torch.Tensor,
        b: torch.Tensor,
        transposed: tuple[bool, bool],
        static_persistent: bool | None,
        allow_tf32: bool | None,
        overrides: Mapping[str, int] | None,
    ) -> torch.Tensor | Launch:
        """The launch, or zeros where there is nothing to sum."""
        a, b = self._operands(a, b, transposed)
        shape = (*a.shape[:-1], b.shape[-1])
        if a.numel() == 0 or b.numel() == 0:
            return a.new_zeros(shape)
        persistent, rounded = is_persistent(static_persistent), tf32(allow_tf32)
        space = "persistent" if persistent else "grid"
        candidates = candidates_for(self.op, a.device, MatmulConfig, overrides, space)
        key = (*shape, a.shape[-1], a.dtype, persistent, rounded, a.stride(), b.stride())
        launch = tuned(
            lambda config: self._launch(shape, a, b, config, persistent, rounded), candidates, key, self.op, a.device
        )
        return dataclasses.replace(launch, settings=tf32_settings(allow_tf32, a.dtype))

    def call_operator(
        self,
        operator: Callable[..., torch.Tensor],
        a: torch.Tensor,
        b: torch.Tensor,
        transposed: tuple[bool, bool],
        static_persistent: bool | None,
        allow_tf32: bool | None,
        overrides: Mapping[str, int] | None,
    ) -> torch.Tensor:
        """The torch operator with the op's arguments in the order of its schema."""
        options: tuple[Any, ...] = (is_persistent(static_persistent), bool(tf32(allow_tf32)), encoded(overrides))
        return operator(a, b, *map(bool, transposed), *options)

    def _operands(
        self, a: torch.Tensor, b: torch.Tensor, transposed: tuple[bool, bool]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        op = self.op
        a, b = checks.usable(op, "a", a), checks.usable(op, "b", b)
        checks.same_device(op, "a", a, "b", b)
        checks.same_dtype(op, "a", a, "b", b)
        checks.rank(op, "a", a, self.rank)
        checks.rank(op, "b", b, self.rank)
        a, b = a.mT if transposed[0] else a, b.mT if transposed[1] else b
        if a.shape[:-2] != b.shape[:-2]:
            raise ValueError(f"{op}: b: wanted {a.shape[0]} batches, as many as a has, got {b.shape[0]}")
        if a.shape[-1] != b.shape[-2]:
            raise ValueError(
                f"{op}: b: wanted {a.shape[-1]} rows, as many as a has columns, got {b.shape[-2]} "
                f"(a is {tuple(a.shape)}, b is {tuple(b.shape)} after {self.transpose})"
            )
        return a, b

    def _launch(
        self,
        shape: tuple[int, ...],
        a: torch.Tensor,
        b: torch.Tensor,
        config: MatmulConfig,
        persistent: bool,
        rounded: int,
    ) -> Launch:
        return Launch(
            self.op,
            (Output.like(a, shape), a, b),
            {
                "bm": config.bm,
                "bn": config.bn,
                "bk": config.bk,
                "group_size_m": config.group_size_m,
                "num_programs": num_programs(shape, a.device, config, persistent),
                "num_cta_in_cga": config.num_cta_in_cga,
                "occupancy": config.occupancy,
                "persistent": int(persistent),
                "allow_tf32": rounded,
            },
        )


def is_persistent(static_persistent: bool | None) -> bool:
    """None means the default, True."""
    return static_persistent is None or bool(static_persistent)


def num_programs(shape: tuple[int, ...], device: torch.device, config: MatmulConfig, persistent: bool) -> int:
    """One tile block per tile of a result [..., m, n]; a persistent kernel takes no more than the device holds."""
    *batches, m, n = shape
    tiles = math.prod(batches) * -(-m // config.bm) * -(-n // config.bn)
    if not persistent:
        return tiles
    resident = get_num_sm(device) // max(config.num_cta_in_cga, 1) * max(config.occupancy, 1)
    return max(min(resident, tiles), 1)
