"""The words just before and after a time that say how it is meant: since, until, before, after, during."""

from __future__ import annotations

import re
from typing import Final

from .grammar import Context, Reading
from .spans import Kind

_REACH: Final = 24
_FROM: Final = re.compile(r"(?<![a-z])from(?: the)?\s+$")
_TO_THE_END: Final = re.compile(r"(?:(?<![a-z])(?:through|thru)(?: the)?\s+|截至\s*)$")


def _before(english: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?<![a-z])(?:{english})(?: the)?\s+|(?:{chinese})\s*)$")


_NEVER: Final = "(?!)"
_PREFIXES: Final[tuple[tuple[Kind | None, re.Pattern[str]], ...]] = (
    ("since", _before(
        r"ever since|since|as of|starting(?: from| on| in| at)?|beginning(?: from| on| in)?|effective(?: from)?",
        r"自从|自打|打从|从|自",
    )),
    ("until", _before(
        r"(?:up )?until|till|'til|til|up to|by|no later than|due(?: on| by)?|through|thru",
        r"直到|截至|截止到?|一直到|持续到|延续到|等到|最晚|不晚于|(?:暂时|暂停|有效期?|请假|休假?|放假|待|呆|住|忙|租|出差|停|开放|营业|合同|活动)到",
    )),
    ("before", _before(r"before|prior to|ahead of", _NEVER)),
    (None, _FROM),
    ("after", _before(r"after|following|past", _NEVER)),
    ("during", _before(r"during|throughout", _NEVER)),
    (None, _before(r"in|on|at|over|around|about|circa|back in|for|as early as", r"在|于")),
)
_SUFFIXES: Final[tuple[tuple[Kind | None, re.Pattern[str]], ...]] = (
    ("since", re.compile(r"\s*(?:以来|至今|到现在|开始(?![时的])|起(?![床飞来])|onwards?(?![a-z])|on(?= ?[,.;!?]|$))")),
    ("until", re.compile(r"\s*(?:为止|截止)")),
    ("before", re.compile(
        r"\s*(?:之前|以前|前(?![面半几后天年任台端往期线辈景途言夫妻0-9一二两三四五六七八九十]|女友|男友|同事|提(?![交出供前醒升])))",
    )),
    ("after", re.compile(r"\s*(?:之后|以后|过后|后(?![天面来续端期台年半悔代果]))")),
    ("during", re.compile(r"\s*(?:期间|之内|以内)")),
    (None, re.compile(r"左右|前后|(?<=[年月周])里")),
)


def affixed(reading: Reading, context: Context, *, floor: int) -> bool:
    """Read them, from `floor` on. True where one of them binds the reading to be a time."""
    text = context.text
    before: Kind | None = None
    after: Kind | None = None
    bound = to_the_end = False
    first = max(floor, reading.start - _REACH)
    for kind, regex in _PREFIXES:
        match = regex.search(text, first, reading.start)
        if match is not None:
            before, bound = kind, True
            to_the_end = _TO_THE_END.search(text, first, reading.start) is not None
            if regex is _FROM and reading.begins is not None and reading.begins > context.said:
                before = "since"  # "from Monday" looks ahead; "a picture from last week" is of that week
            reading.start = match.start()
            break
    if reading.kind != "frequency":
        for kind, regex in _SUFFIXES:
            match = regex.match(text, reading.end)
            if match is not None:
                after, bound = kind, True
                reading.end = match.end()
                break
    if reading.kind not in {"frequency", "since", "until"}:
        _mean(reading, before, after, to_the_end=to_the_end)
    return bound


def _mean(reading: Reading, before: Kind | None, after: Kind | None, *, to_the_end: bool) -> None:
    kinds = {before, after}
    if before == "since" or (after == "since" and before is None):
        if not (reading.kind == "during" and reading.closes):  # a range has its own end
            reading.kind, reading.ends = "since", None
    elif "until" in kinds or (after == "before" and reading.closes and reading.kind != "during"):
        _until(reading, to_the_end=to_the_end or after == "until")
    elif "before" in kinds:
        reading.kind, reading.ends, reading.begins = "before", reading.begins, None
    elif "after" in kinds:
        reading.kind, reading.begins, reading.ends = "after", reading.ends, None
    elif "during" in kinds:
        reading.kind = "during"


def _until(reading: Reading, *, to_the_end: bool) -> None:
    """Up to the end of a day, or of what is itself an end (月底); else up to the beginning of the unit."""
    day = reading.grain == "day" and reading.offset is None and reading.kind != "vague"
    if reading.grain in {"hour", "minute", "instant"} or not (to_the_end or reading.closes or day):
        reading.ends = reading.begins
    reading.kind, reading.begins = "until", None
