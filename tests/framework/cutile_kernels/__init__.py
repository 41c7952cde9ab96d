"""Kernels written with cuTile Python, by theme."""
