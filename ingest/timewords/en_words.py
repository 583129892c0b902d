"""Pieces of English patterns that several modules share."""

from __future__ import annotations

import re
from typing import Final

from .calendar import full_year
from .grammar import Context, group, words
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
PART_OF: Final = (
    r"(?:(?P<p>early|mid|late)[ -](?:in )?|(?:the )?(?:very )?(?P<p2>beginning|start|middle|end|first half|second half"
    r"|later part"
    r"|first few days|last few days) of (?:the )?(?:month of )?)"
)
YEAR_AFTER: Final = (
    r"(?:(?: ?,)? ?(?:of |in )?(?P<y>(?:19|20)[0-9]{2})(?![0-9])|,? '(?P<yy>[0-9]{2})(?![0-9])"
    r"| (?:of )?(?P<ydir>last|this|next) year(?![a-z]))?"
)


def year_in(m: re.Match[str], context: Context) -> int | None:
    four, two, relative = group(m, "y"), group(m, "yy"), group(m, "ydir")
    if four:
        return int(four)
    if two:
        return full_year(int(two), context.said)
    return context.said.year + STEPS[relative] if relative else None
