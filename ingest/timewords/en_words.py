"""Pieces of English patterns that several modules share."""

from __future__ import annotations

from typing import Final

from .grammar import words
from .lexicon import EN_UNITS, EN_WEEKDAYS

BEGIN: Final = r"(?<![a-z0-9_])(?<![a-z]\.)"
END: Final = r"(?![a-z0-9_(]|\.[a-z])"
UNIT: Final = rf"(?:{words(EN_UNITS)})"
DIRECTIONS: Final = "last|past|previous|this past|this coming|this|current|next|coming|upcoming|following"
DIRECTION: Final = rf"(?P<dir>{DIRECTIONS})"
STEPS: Final = {
    "last": -1, "past": -1, "previous": -1, "this past": -1, "this": 0, "current": 0, "next": 1, "coming": 1, "upcoming": 1,
    "following": 1, "this coming": 1,
}
FULL_WEEKDAYS: Final = words(w for w in EN_WEEKDAYS if len(w) > 5)
PART: Final = r"(?P<part>morning|afternoon|evening|night)"
