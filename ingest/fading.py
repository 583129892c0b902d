"""How memories fade, as data (`fading.toml`)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

_DATA: Final = "fading.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fading:
    """As the data file says. All are factors, but for `archive_below` (an activation in 0..1) and `capacity`."""

    archive_below: float
    capacity: int
    by_importance: float
    own: float
    others: float
    helpful: float
    confirmed: float
    half_used: float
    most: float
    least: float
    half_read: float
    read_lives: float


@lru_cache(maxsize=1)
def fading() -> Fading:
    return Fading(**tomllib.loads(files(__package__).joinpath(_DATA).read_text("utf-8")))
