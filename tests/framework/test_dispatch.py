"""Which implementation a call reaches, and with which arguments."""

from __future__ import annotations

import logging

import pytest

from tilegym import backend as backends
from tilegym.backend import dispatch, register_impl, registry


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """Each test registers into a table of its own."""
    monkeypatch.setattr(registry, "_table", {})
    monkeypatch.setattr("tilegym.logger._warned", set())


@pytest.fixture
def warnings_logged(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("tilegym"), "propagate", True)
    return lambda: [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def make_op(**dispatch_options):
    @dispatch("scale", **dispatch_options)
    def scale(x, factor=2, offset=10, **kwargs):
        """Scales x."""
        return "stub"

    return scale


def received(**kwargs):
    return kwargs


def test_explicit_backend_wins():
    op = make_op()
    register_impl("scale", "pytorch")(lambda x, **_: "pytorch")
    register_impl("scale", "mine")(lambda x, **_: "mine")
    assert op(1, backend="mine") == "mine"


def test_current_backend_is_used_without_an_explicit_one():
    op = make_op()
    register_impl("scale", "pytorch")(lambda x, **_: "pytorch")
    register_impl("scale", "mine")(lambda x, **_: "mine")
    with backends.use_backend("mine"):
        assert op(1) == "mine"


def test_last_registration_wins_also_after_a_call():
    op = make_op()
    register_impl("scale", "mine")(lambda x, **_: "first")
    assert op(1, backend="mine") == "first"
    register_impl("scale", "mine")(lambda x, **_: "second")
    assert op(1, backend="mine") == "second"


def test_register_impl_returns_the_function():
    def implementation(x):
        return x

    assert register_impl("scale", "mine")(implementation) is implementation


@pytest.mark.parametrize(
    ("args", "kwargs", "expected"),
    [
        ((1,), {}, (1, 2, 10)),
        ((1, 5), {}, (1, 5, 10)),
        ((1, 5, 6), {}, (1, 5, 6)),
        ((), {"x": 1}, (1, 2, 10)),
        ((1,), {"offset": 7}, (1, 2, 7)),
    ],
)
def test_defaults_of_the_stub_reach_the_backend(args, kwargs, expected):
    op = make_op()
    register_impl("scale", "mine")(lambda x, factor=None, offset=None: (x, factor, offset))
    assert op(*args, backend="mine", **kwargs) == expected


def test_defaults_that_a_backend_does_not_take_are_left_out():
    op = make_op()
    register_impl("scale", "mine")(lambda x, factor=None: (x, factor))
    assert op(1, backend="mine") == (1, 2)


def test_a_chosen_value_that_a_backend_does_not_take_is_an_error():
    op = make_op()
    register_impl("scale", "mine")(lambda x, factor=None: (x, factor))
    with pytest.raises(TypeError, match="offset"):
        op(1, offset=3, backend="mine")


def test_further_keywords_reach_the_backend():
    op = make_op()
    register_impl("scale", "mine")(lambda x, factor, offset, **others: others)
    assert op(1, backend="mine", kernel_configs={"a": 1}) == {"kernel_configs": {"a": 1}}


def test_a_missing_argument_is_named():
    op = make_op()
    register_impl("scale", "mine")(lambda x, **_: x)
    with pytest.raises(TypeError, match=r"scale\(\) missing 1 required positional argument: 'x'"):
        op(backend="mine")


def test_keyword_only_and_variable_parameters_are_forwarded():
    @dispatch("many")
    def many(first, /, *rest, flag=True, name):
        return "stub"

    register_impl("many", "mine")(lambda first, *rest, flag, name: (first, rest, flag, name))
    assert many(1, 2, 3, name="n", backend="mine") == (1, (2, 3), True, "n")


def test_the_op_keeps_name_text_and_registry_name():
    op = make_op()
    assert (op.__name__, op.__doc__, op._tilegym_op_name) == ("scale", "Scales x.", "scale")


def test_unknown_backend_is_an_error_with_the_list():
    op = make_op()
    register_impl("scale", "pytorch")(lambda x, **_: x)
    with pytest.raises(ValueError, match=r"unknown backend 'mime'; known backends: .*cutile-rs.*pytorch"):
        op(1, backend="mime")


def test_missing_implementation_falls_back_with_one_warning(warnings_logged):
    op = make_op()
    register_impl("scale", "pytorch")(lambda x, **_: "pytorch")
    assert [op(1, backend="triton"), op(2, backend="triton")] == ["pytorch", "pytorch"]
    assert warnings_logged() == ["scale: backend 'triton' has no implementation, falling back to 'pytorch'"]


def test_fallback_backend_can_be_chosen():
    op = make_op(fallback_backend="other")
    register_impl("scale", "other")(lambda x, **_: "other")
    assert op(1, backend="triton") == "other"


def test_the_stub_runs_last_with_a_warning_each_time(warnings_logged):
    op = make_op()
    assert [op(1, backend="triton"), op(1, backend="triton")] == ["stub", "stub"]
    assert len(warnings_logged()) == 2


def test_disabled_fallback_is_an_error(monkeypatch):
    op = make_op()
    register_impl("scale", "pytorch")(lambda x, **_: "pytorch")
    op(1, backend="triton")
    monkeypatch.setenv("DISABLE_FALLBACK", "1")
    with pytest.raises(NotImplementedError, match=r"scale: backend 'triton' .*DISABLE_FALLBACK=1.*pytorch"):
        op(1, backend="triton")


def test_disabled_fallback_also_refuses_the_stub(monkeypatch):
    op = make_op()
    monkeypatch.setenv("DISABLE_FALLBACK", "1")
    with pytest.raises(NotImplementedError, match="implemented by: none"):
        op(1, backend="triton")


def test_alias_of_cutile(monkeypatch):
    op = make_op()
    register_impl("scale", "cutile-rs")(lambda x, **_: "rust")
    register_impl("scale", "pytorch")(lambda x, **_: "pytorch")
    monkeypatch.setenv("TILEGYM_ALIAS_CUTILE", "cutile-rs")
    assert op(1, backend="cutile") == "rust"
    monkeypatch.delenv("TILEGYM_ALIAS_CUTILE")
    assert op(1, backend="cutile") == "pytorch"


def test_questions_about_the_registry():
    make_op()
    register_impl("scale", "mine")(received)
    assert backends.get_available_backends_for_op("scale") == ["default", "mine"]
    assert backends.get_available_backends_for_op("nothing") == ["default"]
    assert backends.has_backend_impl("scale", "mine")
    assert not backends.has_backend_impl("scale", "default")
    assert backends.get_registry_info()["scale"]["mine"].endswith("test_dispatch.received")


def test_print_registry_info(capsys):
    make_op()
    register_impl("scale", "mine")(received)
    backends.print_registry_info()
    assert "scale\n" in (text := capsys.readouterr().out)
    assert "mine: " in text


@pytest.mark.parametrize(("name", "error"), [("kernel", ImportError), ("other", AttributeError)])
def test_missing_backend_handler(monkeypatch, name, error):
    monkeypatch.setenv("TILEGYM_DISABLE_CUTILE", "1")
    handler = backends.make_missing_backend_handler("pkg.cutile", ["kernel"])
    with pytest.raises(error, match=name):
        handler(name)
