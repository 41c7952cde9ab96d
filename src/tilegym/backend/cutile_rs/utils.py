"""What a wrapper of a Rust kernel needs: the bound function, descriptors, return codes, device facts."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch

_CANCELLED = -7
_RETURN_CODES = {
    -2: "a tensor has a dtype that the kernel does not take",
    -3: "the kernel could not be compiled or launched",
    -4: "the device or its driver failed",
    -5: "a tensor that has elements has no memory",
    -6: "an argument is outside the values that the kernel takes",
    _CANCELLED: "the launch was cancelled",
    -8: "the kernel library panicked",
}


_replacement: contextvars.ContextVar[Any] = contextvars.ContextVar("tilegym_kernels", default=None)


@contextlib.contextmanager
def kernels_from(library: Any) -> Iterator[None]:
    """Makes `library`, which has the kernel library's functions, take its place in this thread or task."""
    token = _replacement.set(library)
    try:
        yield
    finally:
        _replacement.reset(token)


def are_kernels_replaced() -> bool:
    """Whether the kernels in use are others than those of the kernel library, so that no timing speaks of these."""
    return _replacement.get() is not None


def kernel_library() -> Any:
    """The kernels in use: the loaded kernel library, with one callable per op, built first where missing or stale.

    Raises:
        RuntimeError: the extension is not installed, or the library cannot be built or loaded.
    """
    replacement = _replacement.get()
    return _framework().library() if replacement is None else replacement


def extension() -> Any:
    """The module tilegym_rs._core.

    Raises:
        RuntimeError: it is not installed.
    """
    return _framework()._core


@functools.cache
def _framework() -> Any:
    """tilegym_rs with its extension, which may be absent."""
    try:
        importlib.import_module("tilegym_rs._core")
        return importlib.import_module("tilegym_rs")
    except ImportError as error:
        raise RuntimeError(
            f"backend 'cutile-rs' needs the extension tilegym_rs._core, which cannot be imported ({error}): "
            "install the project with pip install './[cutile-rs]'"
        ) from error


def forget_plans() -> None:
    """Makes every planned op plan its next call anew, after a change that plans do not name in their environment."""
    core = sys.modules.get("tilegym_rs._core")
    if core is not None:
        core.forget_plans()


def bind_kernel_function(op: str) -> Callable[..., None]:
    """The kernel library's function for an op; it takes tensors and integers and raises when a launch fails.

    Example:
        >>> bind_kernel_function("softmax")(out, x, block_size=1024)  # doctest: +SKIP

    Raises:
        AttributeError: the library has no such op.
        RuntimeError: there is no library.
    """
    function: Callable[..., None] = getattr(kernel_library(), op)
    return function


def bind_kernel_function_cffi(op: str, cdef: str | None = None, **_: object) -> Callable[..., None]:
    """bind_kernel_function under its older name. The C declaration is not needed and is ignored."""
    return bind_kernel_function(op)


def make_tensor_desc(*arguments: Any) -> Any:
    """Describes a tensor for the C ABI: `make_tensor_desc(tensor)`, or `(ffi, tensor)` with `ffi` ignored.

    Returns:
        An object with ptr (the storage offset included), ndim, shape and strides in elements, and dtype (the ABI's
        code); `bytes()` of it is the 104-byte TensorDesc. It borrows the memory: keep the tensor alive meanwhile.

    Raises:
        TypeError: the argument is not one tensor.
        ValueError: a rank above 5, a dtype without code, or a device that is neither CPU nor CUDA.
    """
    if len(arguments) not in (1, 2):
        raise TypeError(f"make_tensor_desc: wanted one tensor, got {len(arguments)} arguments")
    return extension().make_tensor_desc(arguments[-1])


def check_rc(rc: int, name: str) -> None:
    """Turns a return code of the C ABI into an exception; 0 returns.

    Raises:
        KeyboardInterrupt: the launch was cancelled.
        RuntimeError: any other code, with the library's own text where it left one.
    """
    if rc != 0:
        _raise_for(rc, name)


def _raise_for(rc: int, name: str) -> NoReturn:
    meaning = _RETURN_CODES.get(rc, "unknown return code")
    if rc == _CANCELLED:
        raise KeyboardInterrupt(f"{name}: {meaning}")
    detail = _last_error()
    raise RuntimeError(f"{name}: {meaning} (return code {rc}){': ' + detail if detail else ''}")


def _last_error() -> str:
    try:
        return str(_framework().last_error() or "")
    except RuntimeError:
        return ""


def get_num_sm(device: torch.device | str | int | None = None) -> int:
    """Multiprocessors of a device: None is the current GPU, or the CPU device where there is none.

    The CPU device has as many as the GPU that it stands in for.
    """
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return _num_sm(torch.device("cuda", device) if isinstance(device, int) else torch.device(device))


@functools.cache
def _num_sm(device: torch.device) -> int:
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).multi_processor_count)
    if device.type == "cpu":
        return int(_framework().sm_count(-1))
    raise ValueError(f"get_num_sm: wanted a CPU or CUDA device, got {device}")


@functools.cache
def target_of(device: torch.device) -> int:
    """The GPU architecture that code for a device is made for: 90 for sm_90. The CPU device stands in for a GPU."""
    if device.type == "cuda":
        major, minor = torch.cuda.get_device_capability(device)
        return major * 10 + minor
    return int(_framework().cpu_target().removeprefix("sm_"))


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least n; 1 for n <= 1."""
    return 1 << (n - 1).bit_length() if n > 1 else 1
