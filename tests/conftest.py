"""Fixtures of the Python tests: the device under test, repeatable values, kernels that only record."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def device() -> Any:
    """The device that TILEGYM_RS_DEVICE asks for; auto is the GPU where there is one."""
    import torch

    from tilegym_rs.device import default_device

    return torch.device(default_device())


@pytest.fixture(params=["cutile-rs", "pytorch"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend in turn; one that cannot run here is skipped."""
    import tilegym

    name: str = request.param
    if not tilegym.is_backend_available(name):
        pytest.skip(f"backend {name} is not available")
    return name


@pytest.fixture
def seeded() -> None:
    import torch

    torch.manual_seed(0)


class RecordingKernels:
    """Stands in for the kernel library: remembers each launch, computes with PyTorch."""

    def __init__(self) -> None:
        self.launches: list[tuple[str, tuple[Any, ...], dict[str, int]]] = []

    def softmax(self, out: Any, x: Any, **options: int) -> None:
        self.launches.append(("softmax", (out, x), options))
        out.copy_(x.float().softmax(-1))

    def silu_and_mul(self, out: Any, x: Any, **options: int) -> None:
        self.launches.append(("silu_and_mul", (out, x), options))
        gate, value = x.float().chunk(2, -1)
        out.copy_(gate.sigmoid() * gate * value)

    def matmul(self, out: Any, a: Any, b: Any, **options: int) -> None:
        self.launches.append(("matmul", (out, a, b), options))
        out.copy_(a.float() @ b.float())


@pytest.fixture
def recording_kernels(monkeypatch: pytest.MonkeyPatch) -> RecordingKernels:
    """Kernels that wrappers launch instead of the library's; nothing is built."""
    from tilegym.backend.cutile_rs import utils

    kernels = RecordingKernels()
    monkeypatch.setattr(utils, "kernel_library", lambda: kernels)
    utils.forget_plans()
    return kernels
