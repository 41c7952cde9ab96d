"""The process-wide switch of tuning, TILEGYM_DISABLE_AUTOTUNE."""

from __future__ import annotations

import os

DISABLE_AUTOTUNE_ENV = "TILEGYM_DISABLE_AUTOTUNE"
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


def is_autotune_disabled() -> bool:
    """Whether TILEGYM_DISABLE_AUTOTUNE asks for the first configuration everywhere; read at each call.

    Raises:
        ValueError: the variable holds something else than 1/true/yes/on or 0/false/no/off.
    """
    text = os.environ.get(DISABLE_AUTOTUNE_ENV, "").strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    accepted = ", ".join(sorted((_TRUE | _FALSE) - {""}))
    raise ValueError(f"{DISABLE_AUTOTUNE_ENV} must be one of {accepted}; got {text!r}")


def is_autotune_enabled() -> bool:
    """Whether configurations may be timed."""
    return not is_autotune_disabled()
