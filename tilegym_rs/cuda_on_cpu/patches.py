"""Attributes that are replaced for a while."""

from __future__ import annotations

from typing import Any

_ABSENT = object()


class Patches:
    """Replaces attributes and puts the originals back."""

    def __init__(self) -> None:
        self._originals: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replaces `owner.name`; an attribute that only a base class has gets shadowed."""
        self._originals.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def restore(self) -> None:
        """Undoes every replacement, the last first."""
        while self._originals:
            owner, name, original = self._originals.pop()
            if original is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
