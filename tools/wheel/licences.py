"""Licences of everything that a wheel carries, found from what was built.

That is the crates that cargo links, and the owners of every header that the C++ objects include. Nothing is listed by
hand.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import json
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

TEXT_NAMES = re.compile(r"(?i)^(licen[cs]e|copying|copyright|notice|unlicense)")
DOCUMENTS = Path("/usr/share/doc")


@dataclasses.dataclass(frozen=True, order=True)
class Component:
    """A part that a wheel carries, whole or in pieces."""

    name: str
    version: str
    licence: str
    source: str
    texts: tuple[Path, ...] = dataclasses.field(compare=False, default=())

    def row(self) -> dict[str, str]:
        return {"name": self.name, "version": self.version, "licence": self.licence, "source": self.source}


def texts_in(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(path for path in folder.glob("*") if path.is_file() and TEXT_NAMES.match(path.name)))


# Rust


def crates(crate: Path, environment: Mapping[str, str]) -> list[Component]:
    """The crates that the library of a crate is linked from, for the machine that builds."""
    host = _host(environment)
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={host}"]
    answer = subprocess.run(command, cwd=crate, env=environment, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise SystemExit(f"licences: wanted cargo's metadata of {crate}, got: {answer.stderr.strip()}")
    return linked_crates(json.loads(answer.stdout))


def linked_crates(metadata: dict[str, Any]) -> list[Component]:
    """What cargo's metadata says of the packages reached by normal dependencies; macros run at build time only."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = metadata["resolve"]["root"]
    reached: set[str] = set()
    waiting = [root]
    while waiting:
        node = nodes[waiting.pop()]
        for dependency in node["deps"]:
            found = dependency["pkg"]
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and found not in reached and not _is_macro(packages[found]):
                reached.add(found)
                waiting.append(found)
    return sorted(_crate(packages[found]) for found in reached)


def _is_macro(package: dict[str, Any]) -> bool:
    return any("proc-macro" in target["kind"] for target in package["targets"])


def _crate(package: dict[str, Any]) -> Component:
    folder = Path(package["manifest_path"]).parent
    named = package.get("license_file")
    licence = package.get("license") or (f"see {named}" if named else "not stated")
    texts = {*texts_in(folder), *([folder / named] if named else [])}
    source = package.get("repository") or package.get("homepage") or "crate registry"
    return Component(package["name"], package["version"], licence, source, tuple(sorted(texts)))


def rust_library(environment: Mapping[str, str]) -> Component:
    """Rust's standard library, which is linked into every Rust library."""
    version = _output(["rustc", "--version"], environment).split()[1]
    root = Path(_output(["rustc", "--print", "sysroot"], environment))
    folders = [root / "share" / "doc" / name for name in ("rust", "rustc", "docs")]
    folders += [*DOCUMENTS.glob("libstd-rust*"), *DOCUMENTS.glob("rustc*")]
    texts = tuple(text for folder in folders for text in texts_in(folder))
    # Where the compiler's own parts have a file of their own, the library has one, too.
    texts = tuple(text for text in texts if "library" in text.name) or texts
    return Component("rust-std", version, "MIT OR Apache-2.0", "rust-lang/rust", texts)


def _host(environment: Mapping[str, str]) -> str:
    lines = _output(["rustc", "-vV"], environment).splitlines()
    return next(line.removeprefix("host: ") for line in lines if line.startswith("host: "))


def _output(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


# C++


def headers(build_folder: Path, sources: Path) -> list[Component]:
    """The owners of the headers outside of `sources` that the objects of a Ninja build include."""
    included = {
        Path(line.strip())
        for line in _output(["ninja", "-C", str(build_folder), "-t", "deps"]).splitlines()
        if line.startswith("    ")
    }
    resolved = {(build_folder / path).resolve() for path in included}
    foreign = sorted(path for path in resolved if sources not in path.parents and path.exists())
    return sorted(set(owners(foreign)))


def owners(paths: Iterable[Path]) -> Iterator[Component]:
    """Who brought each file: a Python distribution, Python itself, or a package of the system."""
    rest = []
    for path in paths:
        distribution = _python_owner(path)
        if distribution is not None:
            yield _distribution(distribution)
        elif _include_of_python() in path.parents:
            yield _python()
        else:
            rest.append(path)
    yield from _system_owners(rest)


@functools.cache
def _include_of_python() -> Path:
    return Path(sysconfig.get_path("include")).resolve()


@functools.cache
def _python() -> Component:
    text = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    version = ".".join(map(str, sys.version_info[:3]))
    return Component("CPython", version, "PSF-2.0", "python.org", (text,) if text.is_file() else ())


@functools.cache
def _python_files() -> dict[Path, str]:
    """The installed folders and files of the distributions of this environment, two levels deep."""
    known: dict[Path, str] = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        for file in distribution.files or ():
            if file.suffix in {".h", ".hpp", ".cuh", ".inl", ".inc", ""}:
                known.setdefault(Path(str(distribution.locate_file(file))).resolve(), name)
    return known


def _python_owner(path: Path) -> str | None:
    return _python_files().get(path)


@functools.cache
def _distribution(name: str) -> Component:
    distribution = importlib.metadata.distribution(name)
    meta = distribution.metadata
    classifiers = [line.split(" :: ")[-1] for line in meta.get_all("Classifier", []) if line.startswith("License")]
    stated = meta.get("License-Expression") or (meta.get("License") or "").split("\n")[0].strip()
    licence = stated or ", ".join(classifiers) or "not stated"
    files = [Path(str(distribution.locate_file(file))) for file in distribution.files or ()]
    texts = (path for path in files if "dist-info" in str(path) and TEXT_NAMES.match(path.name) and path.is_file())
    links = [url.partition(",")[2].strip() for url in meta.get_all("Project-URL", [])]
    source = meta.get("Home-page") or next(iter(links), "Python package index")
    return Component(meta["Name"], distribution.version, licence, source, tuple(sorted(texts)))


def _system_owners(paths: list[Path]) -> Iterator[Component]:
    if not paths:
        return
    try:
        answer = subprocess.run(["dpkg-query", "-S", *map(str, paths)], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SystemExit(
            "licences: wanted dpkg-query to name the owners of system headers, found none; "
            "build the wheel on Debian or Ubuntu"
        ) from None
    lines = (line.rpartition(": ") for line in answer.stdout.splitlines() if not line.startswith("diversion"))
    owned = {path: owner for owner, _, path in lines}
    orphans = [str(path) for path in paths if str(path) not in owned]
    if orphans:
        raise SystemExit(f"licences: wanted a package that owns each header, got none for: {', '.join(orphans)}")
    for package in sorted({owner.split(",")[0] for owner in owned.values()}):
        yield _system_package(package)


def _system_package(package: str) -> Component:
    show = ["dpkg-query", "-W", "-f=${Version}\t${Homepage}\t${source:Package}", package]
    version, homepage, source = _output(show).split("\t")
    text = DOCUMENTS / package.split(":")[0] / "copyright"
    return Component(
        package.split(":")[0],
        version,
        _debian_licences(text),
        homepage or f"Debian {source}",
        (text,) if text.is_file() else (),
    )


def _debian_licences(text: Path) -> str:
    """The short names in the `License:` fields of a copyright file."""
    if not text.is_file():
        return "not stated"
    names = re.findall(r"(?m)^License: *(\S.*)$", text.read_text(encoding="utf-8", errors="replace"))
    return ", ".join(dict.fromkeys(name.strip() for name in names)) or f"see {text.name}"


# What is written


def with_borrowed_texts(components: list[Component]) -> list[Component]:
    """Gives a part that states a well-known licence, but comes without its text, the text that another part carries."""
    known = {"Apache-2.0": "LICENSE-APACHE"}  # a text without names and years, alike for all
    texts = {path.name: path for each in components for path in each.texts}
    return [
        each
        if each.texts or known.get(each.licence) not in texts
        else dataclasses.replace(each, texts=(texts[known[each.licence]],))
        for each in components
    ]


def as_text(components: list[Component]) -> str:
    """A table, then every licence text once, under the names of the parts that carry it."""
    lines = ["Parts of other projects in this package, whole or in pieces, with their licences.", ""]
    lines += [f"{each.name} {each.version}: {each.licence} ({each.source})" for each in components]
    carriers: dict[str, list[str]] = {}
    for each in components:
        for path in each.texts:
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            carriers.setdefault(text, []).append(f"{each.name} {each.version}: {path.name}")
    for text, names in carriers.items():
        lines += ["", "=" * 100, *names, "-" * 100, text]
    return "\n".join(lines) + "\n"
