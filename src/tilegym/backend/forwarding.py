"""Functions that forward a call with every argument spelled out.

A general `*args, **kwargs` wrapper packs and unpacks dictionaries, which costs more than all the rest of a dispatched
call, and lets defaults written in the stub get lost. So the wrapper is compiled from the stub's signature, as
dataclasses do for `__init__`.
"""

from __future__ import annotations

import functools
import inspect
import keyword
from collections.abc import Callable, Mapping
from typing import Any

_KIND = inspect.Parameter
_EMPTY = inspect.Parameter.empty


def forwarder(
    stub: Callable[..., Any],
    chosen: Mapping[str, Callable[..., Any]],
    traced: Mapping[str, Callable[..., Any]],
    current: Callable[[], str],
    choose: Callable[[str | None], Callable[..., Any]],
) -> Callable[..., Any]:
    """A function with the stub's parameters plus keyword-only `backend` and any other keywords.

    It calls `chosen[backend or current()]`, or the same of `traced` while torch traces, or what `choose(backend)`
    returns where that is not there yet, with all arguments: those without default by position, the others by keyword
    with the values in force, `backend` left out.
    """
    parameters = [p for p in inspect.signature(stub).parameters.values() if p.name != "backend"]
    declared = [p for p in parameters if p.kind is not _KIND.VAR_KEYWORD]
    defaults = {f"default_{p.name}": p.default for p in declared if p.default is not _EMPTY}
    name = stub.__name__ if stub.__name__.isidentifier() and not keyword.iskeyword(stub.__name__) else "op"
    source = (
        f"def {name}({_declaration(declared)}):\n"
        f"    table_ = traced_ if compiling_() else chosen_\n"
        f"    call_ = table_.get(backend or current_()) or choose_(backend)\n"
        f"    if further_:\n"
        f"        return call_({_arguments(declared)}**further_)\n"
        f"    return call_({_arguments(declared)})\n"
    )
    from torch.compiler import is_compiling  # here: importing this package must not import torch

    tables = {"chosen_": chosen, "traced_": traced, "compiling_": is_compiling}
    scope: dict[str, Any] = {**tables, "current_": current, "choose_": choose, **defaults}
    exec(compile(source, f"<op {name}>", "exec"), scope)
    return functools.wraps(stub)(scope[name])


def _declaration(declared: list[inspect.Parameter]) -> str:
    texts = [_declare(p) for p in declared if p.kind is not _KIND.KEYWORD_ONLY]
    positional_only = sum(p.kind is _KIND.POSITIONAL_ONLY for p in declared)
    if positional_only:
        texts.insert(positional_only, "/")
    if not _takes_any_position(declared):
        texts.append("*")
    texts += [_declare(p) for p in declared if p.kind is _KIND.KEYWORD_ONLY]
    return ", ".join([*texts, "backend=None", "**further_"])


def _declare(parameter: inspect.Parameter) -> str:
    star = "*" if parameter.kind is _KIND.VAR_POSITIONAL else ""
    default = "" if parameter.default is _EMPTY else f"=default_{parameter.name}"
    return f"{star}{parameter.name}{default}"


def _arguments(declared: list[inspect.Parameter]) -> str:
    by_position = _takes_any_position(declared)
    return "".join(f"{_pass_on(p, by_position)}, " for p in declared)


def _pass_on(parameter: inspect.Parameter, by_position: bool) -> str:
    if parameter.kind is _KIND.VAR_POSITIONAL:
        return f"*{parameter.name}"
    if parameter.kind is _KIND.POSITIONAL_OR_KEYWORD and (by_position or parameter.default is _EMPTY):
        return parameter.name
    return parameter.name if parameter.kind is _KIND.POSITIONAL_ONLY else f"{parameter.name}={parameter.name}"


def _takes_any_position(declared: list[inspect.Parameter]) -> bool:
    return any(p.kind is _KIND.VAR_POSITIONAL for p in declared)


def without_unknown_defaults(stub: Callable[..., Any], implementation: Callable[..., Any]) -> Callable[..., Any]:
    """The implementation, made to ignore parameters of the stub that it does not have while they are at their default.

    A value that the caller chose is passed on, so that it fails instead of being dropped.
    """
    accepted = inspect.signature(implementation).parameters
    if any(p.kind is _KIND.VAR_KEYWORD for p in accepted.values()):
        return implementation
    declared = inspect.signature(stub).parameters.values()
    unknown = {p.name: p.default for p in declared if p.default is not _EMPTY and p.name not in accepted}
    if not unknown:
        return implementation

    @functools.wraps(implementation)
    def narrowed(*args: Any, **kwargs: Any) -> Any:
        given = {name: value for name, value in kwargs.items() if name not in unknown or value is not unknown[name]}
        return implementation(*args, **given)

    return narrowed
