"""How important a claim is, by stated rules (`importance.toml`): what it is of, and how much it was insisted on.

What the words show is set when they are read; what only the whole shows (said again and again, confirmed) is weighed
where claims are folded. Every rule is a floor: the highest counts, so that their order cannot matter.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from .registry import Predicate

_DATA: Final = "importance.toml"


@dataclass(frozen=True, slots=True)
class Rules:
    """Floors in 0..1. `said` is how many occasions make a claim a repeated one; `begins` what a request begins with,
    `closes` what is said at parting."""

    remember: float
    closing: float
    corrected: float
    confirmed: float
    repeated: float
    said: int
    begins: re.Pattern[str]
    closes: re.Pattern[str]


@lru_cache(maxsize=1)
def rules() -> Rules:
    data = tomllib.loads(files(__package__).joinpath(_DATA).read_text("utf-8"))
    begins, closes = (_any(data.pop(name).values()) for name in ("begins", "closes"))
    return Rules(**data, begins=begins, closes=closes)


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile(r"\s*(?:" + "|".join(f"(?:{p})" for p in patterns) + ")", re.IGNORECASE)


def is_kept_on_request(sentence: str) -> bool:
    """Whether the sentence itself asks for what it says to be remembered."""
    return rules().begins.match(sentence) is not None


def as_said(predicate: Predicate, sentence: str = "", *, correction: bool = False) -> float:
    """The importance that a claim is stated with."""
    floors = [predicate.importance]
    if sentence and is_kept_on_request(sentence):
        floors.append(rules().remember)
    if sentence and rules().closes.match(sentence) is not None:
        floors.append(rules().closing)
    if correction:
        floors.append(rules().corrected)
    return max(floors)
