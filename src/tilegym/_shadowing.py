"""Another distribution is named tilegym, too: tell the user when two of them share one environment."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path


def warn_when_shadowed() -> None:
    """Warns when the tilegym metadata that Python finds first describes another distribution than this package.

    A pip install of the public package over this one leaves these sources on the path under foreign metadata, or the
    other way round: versions and extras that pip reports are then not those of the code that runs.
    """
    foreign = foreign_distributions(metadata.distributions(name="tilegym"), Path(__file__).resolve().parent)
    if foreign:
        warnings.warn(
            f"tilegym at {Path(__file__).resolve().parent} shares its name with another installed distribution "
            f"({', '.join(foreign)}); keep one of them: pip uninstall tilegym, then pip install './[cutile-rs]'",
            stacklevel=3,
        )


def foreign_distributions(candidates: Iterable[metadata.Distribution], package: Path) -> list[str]:
    """Texts for the distributions that own a tilegym/__init__.py elsewhere than in `package`."""
    found = []
    for distribution in candidates:
        owned = [entry for entry in distribution.files or () if entry.as_posix().endswith("tilegym/__init__.py")]
        places = {Path(str(distribution.locate_file(entry))).resolve().parent for entry in owned}
        if places and package not in places:
            found.append(f"tilegym {distribution.version} in {sorted(map(str, places))[0]}")
    return found
