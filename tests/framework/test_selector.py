"""Which backends there are and which one is current."""

from __future__ import annotations

import threading

import pytest

from tilegym import backend as backends
from tilegym.backend import availability, registry, selector


@pytest.fixture(autouse=True)
def fresh_selection(monkeypatch):
    monkeypatch.setattr(selector, "_process_wide", None)
    monkeypatch.setattr(registry, "_table", {"op": {"pytorch": print, "mine": print}})
    monkeypatch.delenv("CUTILE_TUTORIALS_BACKEND", raising=False)
    monkeypatch.delenv("TILEGYM_ALIAS_CUTILE", raising=False)


@pytest.fixture
def rust_runs(monkeypatch, request):
    answer = getattr(request, "param", True)
    monkeypatch.setitem(availability._REQUIREMENTS, "cutile-rs", lambda: answer)


@pytest.mark.parametrize(("rust_runs", "expected"), [(True, "cutile-rs"), (False, "pytorch")], indirect=["rust_runs"])
def test_default_is_cutile_rs_where_it_runs(rust_runs, expected):
    assert backends.get_current_backend() == expected


def test_environment_chooses_the_default(monkeypatch, rust_runs):
    monkeypatch.setenv("CUTILE_TUTORIALS_BACKEND", "pytorch")
    assert backends.get_current_backend() == "pytorch"


def test_environment_with_an_unusable_backend_is_an_error(monkeypatch):
    monkeypatch.setenv("CUTILE_TUTORIALS_BACKEND", "nonsense")
    with pytest.raises(ValueError, match=r"CUTILE_TUTORIALS_BACKEND: unknown backend 'nonsense'"):
        backends.get_current_backend()


def test_set_backend_holds_for_the_process():
    backends.set_backend("mine")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(backends.get_current_backend()))
    thread.start()
    thread.join()
    assert seen == ["mine"]


def test_set_backend_refuses_unknown_names():
    with pytest.raises(ValueError, match=r"unknown backend 'nonsense'; known backends: .*pytorch"):
        backends.set_backend("nonsense")


@pytest.mark.parametrize("rust_runs", [False], indirect=True)
def test_set_backend_refuses_what_cannot_run(rust_runs):
    with pytest.raises(ValueError, match=r"'cutile-rs' is not available here: .*; available backends: .*pytorch"):
        backends.set_backend("cutile-rs")


def test_use_backend_ends_with_its_block():
    backends.set_backend("pytorch")
    with backends.use_backend("mine"):
        assert backends.get_current_backend() == "mine"
    assert backends.get_current_backend() == "pytorch"


def test_use_backend_ends_with_an_error_too():
    backends.set_backend("pytorch")
    with pytest.raises(KeyError), backends.use_backend("mine"):
        raise KeyError
    assert backends.get_current_backend() == "pytorch"


def test_use_backend_holds_for_its_thread_only():
    backends.set_backend("pytorch")
    seen = []
    with backends.use_backend("mine"):
        thread = threading.Thread(target=lambda: seen.append(backends.get_current_backend()))
        thread.start()
        thread.join()
    assert seen == ["pytorch"]


def test_available_backends_are_a_copy():
    backends.get_available_backends().clear()
    assert {"pytorch", "mine"} <= backends.get_available_backends()


@pytest.mark.parametrize("name", ["nonsense", "", "triton", "tilecpp"])
def test_not_available(name):
    assert not backends.is_backend_available(name)


def test_assert_backend_available():
    backends.assert_backend_available("pytorch")
    with pytest.raises(ValueError, match="triton"):
        backends.assert_backend_available("triton")


def test_cutile_can_be_hidden(monkeypatch):
    monkeypatch.setattr(availability, "_installed", lambda module: True)
    monkeypatch.setattr(registry, "_table", {"op": {"cutile": print}})
    assert backends.is_backend_available("cutile")
    monkeypatch.setenv("TILEGYM_DISABLE_CUTILE", "1")
    assert not backends.is_backend_available("cutile")


def test_alias_makes_cutile_available(monkeypatch, rust_runs):
    monkeypatch.setenv("TILEGYM_ALIAS_CUTILE", "cutile-rs")
    assert backends.is_backend_available("cutile")
    backends.set_backend("cutile")
    assert backends.get_current_backend() == "cutile-rs"


@pytest.mark.parametrize("enable", ["0", "1"])
def test_triton_compiler_without_tile_ir(monkeypatch, enable):
    monkeypatch.setenv("ENABLE_TILE", enable)
    assert backends.get_available_triton_backend() == "oait"
