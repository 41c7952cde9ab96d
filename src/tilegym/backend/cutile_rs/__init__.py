"""The host side of the cutile-rs backend: binding of kernels, descriptors, tuning."""

from __future__ import annotations

from tilegym.backend.cutile_rs.autotuner import TunedResult, autotune_launch, clear_cache, get_cache_stats

__all__ = ["TunedResult", "autotune_launch", "clear_cache", "get_cache_stats"]
