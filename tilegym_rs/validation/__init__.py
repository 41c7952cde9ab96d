"""Comparison of ops with their references, timing, and the records of both. Light: PyTorch is loaded by `compare`."""
