"""What a choice depends on, as JSON: equal in every process that would choose alike."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Sequence
from hashlib import sha256
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from tilegym.backend.cutile_rs import utils

if TYPE_CHECKING:
    from tilegym_rs import tuning

_PLAIN = (bool, int, str, type(None))
_AS_TEXT = (float, torch.dtype, torch.device, torch.memory_format, torch.layout)


class NotPlainError(TypeError):
    """A value whose text would mean nothing in another process."""


def plain(value: Any) -> Any:
    """A key or a configuration as JSON. Raises NotPlainError for more than numbers, texts, dtypes and containers."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, _AS_TEXT):
        return repr(value).removeprefix("torch.")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, SimpleNamespace):
        return plain(vars(value))
    if isinstance(value, dict):
        return {name if isinstance(name, str) else repr(plain(name)): plain(item) for name, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    raise NotPlainError(f"{type(value).__name__} {value!r}")


def subject_of(name: str, key: Any, device: torch.device, configs: Sequence[Any]) -> tuning.Subject:
    """What a record of this choice would be about. Raises NotPlainError."""
    from tilegym_rs import tuning

    candidates = [plain(config) for config in configs]
    return tuning.Subject(name, plain(key), dict(device_facts(device)), dict(toolchain()), candidates)


@functools.cache
def device_facts(device: torch.device) -> tuple[tuple[str, Any], ...]:
    """What makes two GPUs alike."""
    facts = torch.cuda.get_device_properties(device)
    return (
        ("name", facts.name),
        ("architecture", f"sm_{facts.major}{facts.minor}"),
        ("multiprocessors", facts.multi_processor_count),
    )


def toolchain() -> tuple[tuple[str, str], ...]:
    """Versions of what made the machine code."""
    library = utils.kernel_library()
    return (
        ("cutile", str(library.cutile_version)),
        ("kernels", str(library.source_fingerprint)),
        ("compiler", _compiler()),
    )


def _compiler() -> str:
    from tilegym_rs.errors import KernelError

    try:
        found = utils.extension().find_tileiras()
    except KernelError:
        return "none"  # the kernels were compiled elsewhere
    return f"{found.version} {sha256(found.identity.encode()).hexdigest()[:16]}"


def described(tensors: Sequence[Any]) -> list[dict[str, Any]]:
    """Shape, dtype and strides of tensors; of one that is yet to be made, no strides."""
    return [
        {
            "shape": list(tensor.shape),
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "strides": list(tensor.stride()) if isinstance(tensor, torch.Tensor) else None,
        }
        for tensor in tensors
    ]
