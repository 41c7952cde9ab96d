"""What `tilegym-rs doctor` finds: plain values by topic, and what keeps ops from running."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tilegym_rs.cli.driver_search import examine_driver

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
    return {"version": platform.python_version()} | {name: _version(name) for name in packages}


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _driver(_report: Report, problems: list[str]) -> object:
    from tilegym_rs import build

    found = examine_driver(build.prebuilt_folder() / STAND_IN)
    if found["kind"] == "stub":
        problems.append(
            f"driver: wanted the one of an NVIDIA driver package, got the toolkit's empty stub {found['path']}; "
            "take its folder off the library path"
        )
    return found


def _device(_report: Report, _problems: list[str]) -> object:
    from tilegym_rs import device

    return {"default": device.default_device()}


def _library(_report: Report, _problems: list[str]) -> object:
    from tilegym_rs import build

    found = build.find_library()
    crate = build.crate_folder()
    return {
        "state": "ready" if found else "to be built at first use",
        "path": str(found) if found else None,
        "sources": str(crate) if crate else None,
    }


def _build(report: Report, problems: list[str]) -> object:
    from tilegym_rs import build

    checks = build.find_toolchain().checks
    if report["library"].get("path") is None:
        problems.extend(check.text for check in checks if not check.found)
    return {check.name: {"found": check.found, "text": check.text} for check in checks}


def _tileiras(_report: Report, _problems: list[str]) -> object:
    from tilegym_rs import settings

    chosen = str(settings.read("tileiras"))
    spec = importlib.util.find_spec("nvidia")
    wheels = (
        [Path(root) / "cu13" / "bin" / "tileiras" for root in (spec.submodule_search_locations or ())] if spec else []
    )
    paths = [Path(chosen)] if chosen else wheels
    return {"path": next((str(path) for path in paths if path.is_file()), None)}


def _cache(_report: Report, _problems: list[str]) -> object:
    from tilegym_rs import _core

    return {"folders": [str(folder) for folder in _core.cache_folders()]}


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
}
