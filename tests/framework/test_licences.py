"""The list of licences that tools/build_wheel puts into a wheel."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "tools" / "wheel" / "licences.py"


@pytest.fixture(scope="module")
def licences():
    spec = importlib.util.spec_from_file_location("licences", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["licences"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["licences"]


def package(folder: Path, name: str, kind: str = "lib", **more) -> dict:
    manifest = folder / name / "Cargo.toml"
    manifest.parent.mkdir(parents=True)
    return {
        "id": name,
        "name": name,
        "version": "1.0.0",
        "manifest_path": str(manifest),
        "targets": [{"kind": [kind]}],
        "license": "MIT",
        "license_file": None,
        "repository": "there",
    } | more


def node(name: str, **dependencies: str | None) -> dict:
    return {
        "id": name,
        "deps": [{"pkg": found, "dep_kinds": [{"kind": kind}]} for found, kind in dependencies.items()],
    }


@pytest.fixture
def metadata(tmp_path):
    """root uses near, a macro, and helper in its build script; near uses far, far uses near."""
    packages = [
        package(tmp_path, "root"),
        package(tmp_path, "near"),
        package(tmp_path, "macro", "proc-macro"),
        package(tmp_path, "helper"),
        package(tmp_path, "far", license=None, license_file="LICENSE-VENDOR"),
        package(tmp_path, "below_macro"),
    ]
    (tmp_path / "near" / "LICENSE-MIT").write_text("You may.")
    (tmp_path / "far" / "LICENSE-VENDOR").write_text("You may not.")
    nodes = [
        node("root", near=None, macro=None, helper="build"),
        node("near", far=None),
        node("far", near=None),
        node("macro", below_macro=None),
        node("helper"),
        node("below_macro"),
    ]
    return {"packages": packages, "resolve": {"root": "root", "nodes": nodes}}


def test_crates_are_those_that_are_linked(licences, metadata):
    found = licences.linked_crates(metadata)
    assert [(each.name, each.licence) for each in found] == [("far", "see LICENSE-VENDOR"), ("near", "MIT")]
    assert [path.name for each in found for path in each.texts] == ["LICENSE-VENDOR", "LICENSE-MIT"]


def test_equal_texts_are_written_once_under_all_their_names(licences, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "LICENSE").write_text("The same text.\n")
    parts = [licences.Component(name, "1", "MIT", "there", (tmp_path / name / "LICENSE",)) for name in ("a", "b")]
    text = licences.as_text(parts)
    assert text.count("The same text.") == 1
    assert "a 1: MIT (there)\nb 1: MIT (there)" in text
    assert "a 1: LICENSE\nb 1: LICENSE" in text


def test_part_without_a_text_borrows_one_that_is_alike_for_all(licences, tmp_path):
    (tmp_path / "LICENSE-APACHE").write_text("Apache License")
    lender = licences.Component("lender", "1", "MIT OR Apache-2.0", "there", (tmp_path / "LICENSE-APACHE",))
    bare = licences.Component("bare", "1", "Apache-2.0", "there")
    mit = licences.Component("mit", "1", "MIT", "there")
    filled = licences.with_borrowed_texts([lender, bare, mit])
    assert [len(each.texts) for each in filled] == [1, 1, 0]


def test_headers_belong_to_packages_and_distributions(licences):
    import numpy

    header = next(Path(numpy.get_include()).rglob("*.h")).resolve()
    assert [each.name for each in licences.owners([header])] == ["numpy"]


def test_header_that_nobody_owns_is_an_error(licences, tmp_path):
    (tmp_path / "mine.h").touch()
    with pytest.raises(SystemExit, match=r"mine\.h|dpkg-query"):
        list(licences.owners([tmp_path / "mine.h"]))
