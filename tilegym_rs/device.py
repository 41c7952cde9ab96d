"""The device that tests and tools use where nobody names one. Ops do not ask: the tensor decides."""

from __future__ import annotations

from tilegym_rs import settings


def default_device() -> str:
    """ "cuda" or "cpu", by TILEGYM_RS_DEVICE; "auto" is the GPU where PyTorch sees one.

    Raises RuntimeError where a GPU is asked for by name and PyTorch sees none.
    """
    wanted = settings.read("device")
    if wanted == "cpu":
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if wanted == "cuda":
        raise RuntimeError(
            "TILEGYM_RS_DEVICE: wanted a GPU (cuda), but PyTorch sees none; set it to cpu or auto for the CPU device"
        )
    return "cpu"
