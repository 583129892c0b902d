"""Extractors of others: entry points of the group `taishi.extractors`, behind an allowlist.

An entry point names a callable without arguments that returns an `extractor.Extractor`. What is not allowed is not
imported, whatever is installed: its name alone is read, from the package's metadata.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib.metadata import entry_points
from typing import Final

from .errors import ConfigurationError
from .extractor import Extractor

GROUP: Final = "taishi.extractors"


def plugin_names() -> list[str]:
    """What is installed, allowed or not. Imports nothing."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def load_plugin(name: str, *, allowed: Collection[str]) -> Extractor:
    """Raises ConfigurationError where it is not allowed, not installed once, or is no extractor."""
    if name not in allowed:
        raise ConfigurationError(
            f"the extractor {name[:40]!r} is not allowed: there are rules, model, and what extractor_plugins names",
            field="extractor",
        )
    points = list(entry_points(group=GROUP, name=name))
    if len(points) != 1:
        there = "is not installed" if not points else "is installed by more than one package"
        raise ConfigurationError(f"the extractor {name[:40]!r} {there}", field="extractor")
    extractor = points[0].load()()
    named = all(isinstance(getattr(extractor, part, None), str) for part in ("name", "version"))
    if not named or not callable(getattr(extractor, "extract", None)):
        raise ConfigurationError(f"{points[0].value} makes no extractor", field="extractor")
    return extractor  # type: ignore[no-any-return]
