"""Dates and clock times in figures, alike in both languages."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from .calendar import Interval, by_tense, date, months
from .clock import at_clock
from .grammar import Context, Pattern, Reading, pattern

_DIGITS: Final = "0123456789"


def _moment(m: re.Match[str], context: Context) -> Reading:
    """An ISO time. With its own offset it is a fixed instant, told in the speaker's local time."""
    begins = datetime(int(m["y"]), int(m["mo"]), int(m["d"]), int(m["h"]), int(m["mi"]), int(m["s"] or 0))
    if m["off"] and context.offset is not None:
        minutes = 0 if m["off"] in "zZ" else (1 if m["off"][0] == "+" else -1) * (int(m["off"][1:3]) * 60 + int(m["off"][-2:]))
        begins += context.offset - timedelta(minutes=minutes)
    if m["s"]:
        return Reading(begins=begins, ends=begins + timedelta(seconds=1), grain="instant", confidence=0.98)
    return Reading(begins=begins, ends=begins + timedelta(minutes=1), grain="minute", confidence=0.98)


def _day(m: re.Match[str], context: Context) -> Reading:
    begins, ends = date(int(m["y"]), int(m["mo"]), int(m["d"]))
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.97)


def _month(m: re.Match[str], context: Context) -> Reading | None:
    month = int(m["mo"])
    if not 1 <= month <= 12:
        return None
    begins, ends = months(int(m["y"]), month, month + 1)
    return Reading(begins=begins, ends=ends, grain="month", confidence=0.8)


def _written(m: re.Match[str], context: Context) -> Reading:
    """3/1/2026: the month first, unless only the other order is a date."""
    first, second = int(m["a"]), int(m["b"])
    month, day = (second, first) if first > 12 else (first, second)
    begins, ends = date(int(m["y"]), month, day)
    plain = max(first, second) > 12 or first == second
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.95 if plain else 0.7)


def _month_day(m: re.Match[str], context: Context) -> Reading | None:
    first, second = int(m["a"]), int(m["b"])
    if not (1 <= first <= 12 and 1 <= second <= 31):
        return None

    def of(year: int) -> Interval:
        return date(year, first, second)

    begins, ends = by_tense(of, context.said, context.tense(m), near=True)
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.5, weak=True, cycle="year")


def _clock(m: re.Match[str], context: Context) -> Reading:
    hour = int(m["h"])
    literal = hour > 12 or hour == 0 or m["h"][0] == "0"
    return at_clock(hour, int(m["mi"]), None, context, tense=context.tense(m), weak=False, literal=literal)


_BEFORE: Final = r"(?<![0-9a-z./:_-])"
_AFTER: Final = r"(?![0-9a-z_]|[./:-][0-9])"
PATTERNS: Final[tuple[Pattern, ...]] = (
    pattern(
        "moment", _DIGITS,
        rf"{_BEFORE}(?P<y>[0-9]{{4}})-(?P<mo>[0-9]{{2}})-(?P<d>[0-9]{{2}})[t ](?P<h>[0-9]{{2}}):(?P<mi>[0-9]{{2}})(?::"
        r"(?P<s>[0-9]{2})(?:\.[0-9]+)?)?\s?(?P<off>z|[+-][0-9]{2}:?[0-9]{2})?(?![0-9a-z])",
        _moment,
    ),
    pattern(
        "day", _DIGITS,
        rf"{_BEFORE}(?P<y>[0-9]{{4}})(?P<sep>[-/.])(?P<mo>[0-9]{{1,2}})(?P=sep)(?P<d>[0-9]{{1,2}}){_AFTER}", _day,
    ),
    pattern("month", _DIGITS, rf"{_BEFORE}(?P<y>19[0-9]{{2}}|20[0-9]{{2}})[-/](?P<mo>[01][0-9]){_AFTER}", _month),
    pattern("written", _DIGITS, rf"{_BEFORE}(?P<a>[0-9]{{1,2}})/(?P<b>[0-9]{{1,2}})/(?P<y>[0-9]{{4}}){_AFTER}", _written),
    pattern("month and day", _DIGITS, rf"{_BEFORE}(?P<a>[0-9]{{1,2}})/(?P<b>[0-9]{{1,2}}){_AFTER}", _month_day),
    pattern("clock", _DIGITS, r"(?<![0-9a-z.:/])(?P<h>[01]?[0-9]|2[0-3]):(?P<mi>[0-5][0-9])(?![0-9:]| ?[ap]\.?m)", _clock),
)
