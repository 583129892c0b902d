"""Years that a question names, and what texts tell of them: documents date what they tell in words.

What began, or was so, from one year to another is told by the sentence that says how it began: of the texts that name
a year within the asked time, those that name its first year lead, and more so if they name its last one as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from taishi.ingest.normal import normalise

TITLE: Final = 60
"""Characters of a text that may be no more than a title."""

_YEAR: Final = re.compile(r"(?<!\d)(?P<year>(?:1[5-9]|20)\d\d)(?:[-–—/](?P<next>\d\d)(?![\d/-]))?(?!\d)")
_WORD: Final = re.compile(r"\w+")

Told = Literal["within", "begins", "both"]


def years_in(text: str) -> frozenset[int]:
    """Those of a season (`1974–75`) are two."""
    years: set[int] = set()
    for found in _YEAR.finditer(text):
        year = int(found["year"])
        years.add(year)
        if found["next"] is not None and (year + 1) % 100 == int(found["next"]):
            years.add(year + 1)
    return frozenset(years)


@dataclass(frozen=True, slots=True)
class AskedYears:
    """The `first` and the `last` year that a question names, and its `words`."""

    first: int
    last: int
    words: frozenset[str]

    def told_by(self, text: str) -> Told | None:
        """Whether a text names a year within them, the first one, or the first and the last."""
        years = years_in(text)
        if self.first in years:
            return "both" if self.last in years and self.last != self.first else "begins"
        return "within" if any(self.first <= year <= self.last for year in years) else None

    def is_title(self, text: str) -> bool:
        """A short text that has no word besides the question's."""
        words = _WORD.findall(normalise(text)) if len(text) <= TITLE else []
        return bool(words) and self.words.issuperset(words)


def asked_years(question: str) -> AskedYears | None:
    """`question` is normalised. None where it names no year."""
    years = years_in(question)
    return AskedYears(min(years), max(years), frozenset(_WORD.findall(question))) if years else None
