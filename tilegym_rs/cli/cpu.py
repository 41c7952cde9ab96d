"""`tilegym-rs cpu -- COMMAND`: another CUDA program on the CPU device."""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tilegym_rs.errors import KernelError

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

_FRONT = Path("bin") / "tileiras_cpu"
_DRIVER_NAMES = ("libcuda.so.1", "libcuda.so")
# Where programs that prefer the compiler's wheel look for it.
_WHEEL = Path("python") / "nvidia" / "cu13" / "bin"


def add_to(commands: Commands) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "cpu",
        help="run another CUDA program on the CPU device",
        description="Runs a command whose CUDA driver is the CPU device, and whose tileiras passes Tile IR bytecode "
        "through to it. For programs that launch Tile IR kernels through the driver API, such as cuTile Python and "
        "cutile; PyTorch sees no GPU there.",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND ...", help="the command to run")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Becomes the command."""
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise ValueError("cpu: wanted a command behind --, got none")
    environment = child_environment(os.environ)
    program = shutil.which(command[0], path=environment["PATH"])
    if program is None:
        raise ValueError(f"cpu: wanted a program, found no '{command[0]}' on PATH")
    os.execve(program, command, environment)


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which programs find the CPU device's driver and compiler before any other.

    Raises KernelError where the package was installed without them.
    """
    folder = private_folder()
    first = {"LD_LIBRARY_PATH": folder / "lib", "PATH": folder / "bin", "PYTHONPATH": folder / "python"}
    changed = {name: _in_front(path, environment.get(name)) for name, path in first.items()}
    return {**environment, **changed, "CUTILE_TILEIRAS_PATH": str(folder / "bin" / "tileiras")}


def _in_front(path: Path, rest: str | None) -> str:
    return f"{path}{os.pathsep}{rest}" if rest else str(path)


def private_folder() -> Path:
    """The folder in the user's cache with the driver as libcuda.so.1 and the compiler as tileiras; made where missing.

    It holds links only, and is named by what they lead to, so it never grows stale.
    """
    from tilegym_rs import _core
    from tilegym_rs.library import stand_in_path

    driver = stand_in_path()
    front = Path(_core.__file__).parent / _FRONT
    if not front.is_file():
        raise KernelError(f"CPU device: wanted its tileiras at '{front}', found no file; install the package again")
    digest = hashlib.sha256(f"{driver}\0{front}\0{_nvidia_is_regular()}".encode()).hexdigest()[:16]
    folder = _core.cache_folders()[-1] / "cpu-device" / digest
    if not folder.is_dir():
        _publish(folder, driver, front)
    return folder


def _publish(folder: Path, driver: Path, front: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as made:
        new = Path(made) / "folder"
        for link, target in _links(driver, front).items():
            (new / link).parent.mkdir(parents=True, exist_ok=True)
            (new / link).symlink_to(target)
        if _nvidia_is_regular():
            _shadow_package(new / "python" / "nvidia")
        try:
            new.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was first
                raise


def _links(driver: Path, front: Path) -> dict[Path, Path]:
    drivers = {Path("lib") / name: driver for name in _DRIVER_NAMES}
    return {**drivers, Path("bin") / "tileiras": front, _WHEEL / "tileiras": front}


def _nvidia_is_regular() -> bool:
    """Whether the wheels share a package with an __init__, which hides namespace folders of that name."""
    spec = importlib.util.find_spec("nvidia")
    return spec is not None and spec.origin is not None


def _shadow_package(package: Path) -> None:
    """Makes our folders packages that go on in those of the wheels."""
    text = (
        '"""Goes on in the wheels."""\nfrom pkgutil import extend_path\n\n__path__ = extend_path(__path__, __name__)\n'
    )
    for folder in (package, package / "cu13"):
        (folder / "__init__.py").write_text(text)
