"""English parts of the day and clock times."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from .calendar import DAY
from .clock import at_clock, at_part
from .en_words import BEGIN, END, PART, UNIT
from .grammar import Context, Pattern, Reading, group, pattern
from .lexicon import EN_PARTS
from .numbers import EN_NUMBER, en_number

_NOON: Final = timedelta(hours=12)
_MINUTES: Final = {"half": 30, "quarter": 15, "a quarter": 15, "ten": 10, "twenty": 20, "five": 5}


def _part_of_day(m: re.Match[str], context: Context) -> Reading:
    """`last night`, `this morning`, `tonight`, `tomorrow night`."""
    day = context.today + DAY * {"yesterday": -1, "last": -1, "tomorrow": 1}.get(m["day"], 0)
    part = EN_PARTS[m["part"] or "night"]
    first, last = timedelta(hours=part.begins), timedelta(hours=part.ends)
    return Reading(begins=day + first, ends=day + last, grain="hour", offset=(first, last))


def _bare_part(m: re.Match[str], context: Context) -> Reading:
    """`in the morning`: a habit where no tense tells. Without "in the" it counts only beside a date."""
    tense = context.tense(m)
    reading = at_part(EN_PARTS[m["part"]], context, tense=tense, confidence=0.6)
    reading.weak = not m["sure"]
    if tense is None:
        reading.begins = reading.ends = None
        reading.kind, reading.confidence = "frequency", 0.4
    return reading


def _hour(hour: str, minute: str | None, half: str) -> timedelta:
    return timedelta(hours=int(hour) % 12 + (12 if half == "p" else 0), minutes=int(minute or 0))


def _clock(m: re.Match[str], context: Context) -> Reading:
    hour = int(m["h"]) % 12 + (12 if m["half"] == "p" else 0)
    minute = int(m["mi"]) if m["mi"] else None
    return at_clock(hour, minute, None, context, tense=context.tense(m), weak=False, literal=True)


def _hours_range(m: re.Match[str], context: Context) -> Reading:
    """`9-11am`, `from 10 am to 2 pm`; a first hour without am or pm takes the last one before the second hour."""
    first, last = _hour(m["h"], m["mi"], m["half"] or "a"), _hour(m["h2"], m["mi2"], m["half2"])
    if not m["half"] and first + _NOON < last:
        first += _NOON
    if last <= first:
        last += DAY
    reading = at_clock(12, None, None, context, tense=None, weak=False, literal=True)
    reading.begins, reading.ends, reading.offset = context.today + first, context.today + last, (first, last)
    reading.kind, reading.grain = "during", "minute" if m["mi"] or m["mi2"] else "hour"
    return reading


def _named(m: re.Match[str], context: Context) -> Reading:
    """Midnight is the end of its day."""
    noon = m["named"] != "midnight"
    return at_clock(12 if noon else 24, None if noon else 0, None, context, tense=context.tense(m), weak=False, literal=True)


def _spoken(m: re.Match[str], context: Context) -> Reading | None:
    """`at 9`, `five o'clock`, `half past three`, `quarter to six`."""
    count = en_number(m["h"])
    if count is None or not 1 <= count <= 12:
        return None
    hour, past, minute = int(count), group(m, "past"), None
    if past:
        minute = _MINUTES[past]
        if m["to"] == "to":
            hour, minute = (hour - 1) or 12, 60 - minute
    return at_clock(hour, minute, None, context, tense=context.tense(m), weak=not past and not group(m, "sure"))


_12: Final = r"(?P<h>1[0-2]|0?[1-9])(?::(?P<mi>[0-5][0-9]))?"
_12_TOO: Final = r"(?P<h2>1[0-2]|0?[1-9])(?::(?P<mi2>[0-5][0-9]))?"
_M: Final = r"(?:m|\.m\.?)"
PATTERNS: Final[tuple[Pattern, ...]] = (
    pattern(
        "part of day", ["morning", "afternoon", "evening", "night", "tonight"],
        rf"{BEGIN}(?:early |late |later )?(?:(?P<day>yesterday|tomorrow|this|last|today) {PART}|tonight){END}", _part_of_day,
    ),
    pattern(
        "bare part", ["morning", "afternoon", "evening", "night"],
        rf"{BEGIN}(?P<sure>in the |during the |at (?=night))?(?:early |late )?{PART}{END}", _bare_part,
    ),
    pattern("clock", ["am", "pm", "m"], rf"(?<![0-9a-z.:/]){_12} ?(?P<half>[ap]){_M}(?![a-z0-9])", _clock),
    pattern(
        "hours range", ["am", "pm", "m"],
        rf"(?<![0-9a-z.:/-])(?:(?:from|between) )?{_12}(?: ?(?P<half>[ap]){_M})? ?(?:-|–|to|and|until|till) ?{_12_TOO}"
        rf" ?(?P<half2>[ap]){_M}(?![a-z0-9])",
        _hours_range,
    ),
    pattern("named clock", ["noon", "midday", "midnight"], rf"{BEGIN}(?P<named>noon|midday|midnight){END}", _named),
    pattern("o'clock", ["clock"], rf"{BEGIN}(?P<h>{EN_NUMBER}) (?P<sure>o'clock){END}", _spoken),
    pattern(
        "past the hour", ["past", "to"],
        rf"{BEGIN}(?P<past>half|(?:a )?quarter|ten|twenty|five) (?P<to>past|to) (?P<h>{EN_NUMBER}){END}"
        rf"(?! (?:o'clock )?{UNIT})",
        _spoken,
    ),
    pattern("at the hour", ["at"], r"(?<=at )(?P<h>1[0-2]|[1-9])(?![0-9a-z:/%]|\.[0-9]| ?[ap]\.?m| [a-z]+s(?![a-z]))", _spoken),
)
