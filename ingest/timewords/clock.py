"""Parts of the day and clock times, for both languages: offsets since local midnight, and the day where none is named."""

from __future__ import annotations

from datetime import timedelta

from ..claims import Grain
from .calendar import DAY, Unit
from .grammar import Context, Reading
from .lexicon import DayPart
from .spans import Tense


def _placed(
    first: timedelta, last: timedelta, context: Context, *, tense: Tense, grain: Grain, confidence: float, role: str,
    cycle: Unit, weak: bool,
) -> Reading:
    """Today; yesterday where the tense is past and it has not come; tomorrow where it is future and over."""
    day = context.today
    if tense == "past" and day + first > context.said:
        day -= DAY
    elif tense == "future" and day + last <= context.said:
        day += DAY
    return Reading(
        begins=day + first, ends=day + last, grain=grain, confidence=confidence if tense else confidence * 0.8,
        role="clock" if role == "clock" else "part", cycle=cycle, offset=(first, last), weak=weak,
    )


def at_part(part: DayPart, context: Context, *, tense: Tense, confidence: float) -> Reading:
    """Without a tense it may be today's or every day's: vague."""
    reading = _placed(
        timedelta(hours=part.begins), timedelta(hours=part.ends), context, tense=tense, grain="hour",
        confidence=confidence, role="part", cycle="day", weak=False,
    )
    reading.kind = "when" if tense else "vague"
    return reading


def hour_in(part: DayPart | None, hour: int) -> int:
    """Hours since midnight of `hour` said with `part`; without one, 1 to 6 are afternoon hours."""
    if part is None:
        return hour + 12 if 1 <= hour <= 6 else hour
    if part.next_day and (hour < 6 or hour == 12):
        return hour % 12 + 24
    if part.pm and hour < 12 and not (part.begins <= 12 and hour >= 10):
        return hour + 12
    if not part.pm and hour == 12:
        return 0 if part.begins == 0 else 12
    return hour


def at_clock(
    hour: int, minute: int | None, part: DayPart | None, context: Context, *, tense: Tense, weak: bool, literal: bool = False,
) -> Reading:
    """`literal`: the hour is of a 24-hour clock. An hour without minutes lasts an hour. ValueError past 24:00."""
    if hour > 24 or (hour == 24 and minute):
        raise ValueError("no such hour")
    ambiguous = part is None and not literal and 1 <= hour <= 12
    hours = hour if literal else hour_in(part, hour)
    first = timedelta(hours=hours, minutes=minute or 0)
    last = first + (timedelta(hours=1) if minute is None else timedelta(minutes=1))
    return _placed(
        first, last, context, tense=tense, grain="hour" if minute is None else "minute",
        confidence=0.5 if ambiguous else 0.85, role="clock", cycle="halfday" if ambiguous else "day", weak=weak,
    )
