from __future__ import annotations

import pytest
import torch

from tilegym_rs.device import default_device


@pytest.mark.parametrize(
    ("setting", "gpu", "device"),
    [
        ("cpu", True, "cpu"),
        ("cpu", False, "cpu"),
        ("auto", True, "cuda"),
        ("auto", False, "cpu"),
        ("cuda", True, "cuda"),
    ],
)
def test_default_device(setting: str, gpu: bool, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEGYM_RS_DEVICE", setting)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    assert default_device() == device


def test_gpu_by_name_where_there_is_none_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEGYM_RS_DEVICE", "cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match=r"TILEGYM_RS_DEVICE: wanted a GPU .* set it to cpu or auto"):
        default_device()


def test_unknown_device_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEGYM_RS_DEVICE", "tpu")
    with pytest.raises(ValueError, match=r"wanted one of auto\|cuda\|cpu, got 'tpu'"):
        default_device()
