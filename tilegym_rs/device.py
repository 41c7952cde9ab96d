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
            f"TILEGYM_RS_DEVICE: wanted a GPU (cuda), but PyTorch sees none{_why_none()}; "
            "set it to cpu or auto for the CPU device"
        )
    return "cpu"


def _why_none() -> str:
    from tilegym_rs import driver_search
    from tilegym_rs.library import stand_in_path

    driver = driver_search.examine_driver(stand_in_path())
    if driver["kind"] == "stub":
        return f" ({driver_search.stub_refusal(driver)})"
    if driver["kind"] == "none":
        return f" and no NVIDIA driver is found ({driver['error']})"
    return f" (driver: {driver['kind']}, {driver['path']})"
