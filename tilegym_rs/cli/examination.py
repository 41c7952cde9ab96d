"""What `tilegym-rs doctor` finds: plain values by topic, and what keeps ops from running."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tilegym_rs.cli.compiler_search import examine_tileiras

Report = dict[str, Any]
STAND_IN = "libtilegym_cpu_driver.so"


def examine() -> Report:
    """Topics in the order of reading; `problems` comes last: texts, empty where ops can run."""
    problems: list[str] = []
    report: Report = {"python": _python()}
    if importlib.util.find_spec("tilegym_rs._core") is None:
        problems.append(
            "extension: wanted tilegym_rs._core, found none; install the package: pip install './[cutile-rs]'"
        )
    else:
        for topic, look in _TOPICS.items():
            report[topic] = _guarded(look, report, problems)
    return report | {"problems": problems}


def _guarded(look: Callable[[Report, list[str]], object], report: Report, problems: list[str]) -> object:
    """One broken topic must not hide the others."""
    try:
        return look(report, problems)
    except (RuntimeError, ValueError, OSError) as error:
        problems.append(str(error))
        return {"error": str(error)}


def _python() -> Report:
    packages = ("torch", "numpy", "tilegym", "nvidia-cuda-tileiras", "pytest")
    return {"version": platform.python_version(), "executable": sys.executable} | {
        name: _version(name) for name in packages
    }


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _driver(_report: Report, problems: list[str]) -> object:
    from tilegym_rs import build, driver_search

    found = driver_search.examine_driver(build.prebuilt_folder() / STAND_IN)
    if found["kind"] == "stub":
        problems.append(driver_search.stub_refusal(found))
    return found


def _device(_report: Report, _problems: list[str]) -> object:
    from tilegym_rs import device

    default = device.default_device()
    return {"default": default, "cpu": _cpu_device(), **({"cuda": _gpus()} if default == "cuda" else {})}


def _cpu_device() -> Report:
    from tilegym_rs.library import cpu_device

    target = cpu_device().target
    return {"stands_in_for": f"sm_{target.compute_capability}", "multiprocessors": target.multiprocessors}


def _gpus() -> Report:
    import torch

    found = {}
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        found[str(index)] = (
            f"{properties.name}, sm_{properties.major}{properties.minor}, {properties.multi_processor_count} "
            f"multiprocessors, {properties.total_memory / 2**30:.0f} GiB"
        )
    return found


def _library(_report: Report, _problems: list[str]) -> object:
    from tilegym_rs import build

    found = build.find_library()
    crate = build.crate_in_force()
    prebuilt = found is not None and found.parent == build.prebuilt_folder()
    return {
        "state": "to be built at first use" if found is None else "ready",
        "path": str(found) if found else None,
        "made": None if found is None else "with the package" if prebuilt else "here, by cargo",
        "sources": str(crate) if crate else None,
    }


def _build(report: Report, problems: list[str]) -> object:
    from tilegym_rs import build

    checks = build.find_toolchain().checks
    if report["library"].get("path") is None:
        problems.extend(check.text for check in checks if not check.found)
    return {check.name: {"found": check.found, "text": check.text} for check in checks}


def _tileiras(report: Report, problems: list[str]) -> object:
    from tilegym_rs import settings

    found = examine_tileiras(str(settings.read("tileiras")))
    if found["path"] is None and report["device"].get("default") == "cuda":
        problems.append(
            "tileiras: wanted the compiler for the GPU in CUTILE_TILEIRAS_PATH, its wheel or PATH, found none; "
            "install it with: pip install nvidia-cuda-tileiras"
        )
    return found


def _cache(_report: Report, _problems: list[str]) -> object:
    from tilegym_rs import _core, settings

    folders = [str(folder) for folder in _core.cache_folders()]
    return {
        "folders": folders,
        "written_to": folders[-1],
        "limit_bytes": settings.read("cache_max"),
        "used_bytes": _sizes(Path(folders[-1])),
    }


def _sizes(cache: Path) -> Report:
    """Bytes below each folder of a cache."""
    return {
        folder.name: sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
        for folder in sorted(cache.iterdir())
        if folder.is_dir()
    }


def _licences(_report: Report, _problems: list[str]) -> object:
    """Where the licences of what the wheel carries are; a build from source carries nothing of others."""
    for file in importlib.metadata.files("tilegym") or ():
        if file.name == "third-party.json":
            listed = Path(str(file.locate()))
            return {"text": str(listed.with_name("THIRD-PARTY.txt")), "parts": len(json.loads(listed.read_text()))}
    return {"text": None, "parts": 0}


def _settings(_report: Report, _problems: list[str]) -> object:
    from tilegym_rs import settings

    return {
        each.key: {"value": each.value, "origin": each.origin, "place": each.place, "variable": each.variable}
        for each in settings.read_all()
    }


_TOPICS: dict[str, Callable[[Report, list[str]], object]] = {
    "settings": _settings,
    "driver": _driver,
    "device": _device,
    "cache": _cache,
    "library": _library,
    "build": _build,
    "tileiras": _tileiras,
    "licences": _licences,
}
