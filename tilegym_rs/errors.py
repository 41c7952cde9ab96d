"""The exceptions of the framework. Wrong arguments raise TypeError and ValueError as everywhere."""

from __future__ import annotations


class KernelError(RuntimeError):
    """A kernel library, a driver or a launch failed. Failed launches carry the op's name and its return code."""

    op: str | None = None
    code: int | None = None


class BuildError(RuntimeError):
    """The kernel library is not there and could not be built."""
