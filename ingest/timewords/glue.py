"""How neighbouring readings join into one expression: dates with clock times, lengths with dates, ranges.

The words just before and after an expression (since, 之前) are read in `affixes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from .affixes import affixed
from .calendar import Unit, midnight, shift, whole_day
from .grammar import Context, Reading

_DATE_CLOCK: Final = re.compile(r"[\s,(（]{0,3}(?:的|at|on|around|about|in the|by|from|of|,)?\s*")
_REPEATED: Final = re.compile(r"\s*(?:的|at|on|around|in the)?\s*")
_LENGTH_DATE: Final = re.compile(r" (?:from|before|after) (?:the )?")
_LIST: Final = re.compile(r"\s*(?:,|、|和|与|跟|或|及|and|or|&|, and)\s*")
_RANGE: Final = re.compile(r"\s*(?:到|至|-|~|–|—|－|～|一直到|to|through|until|till|thru|and|和|与)\s*")
_RANGE_OPEN: Final = re.compile(r"(?:(?<![a-z])(?P<from>from|between)|(?P<zh>自从|从|自|在))\s*$")
_RANGE_CLOSE: Final = re.compile(r"之间|期间")
_AND: Final = frozenset({"and", "和", "与"})
_NOON: Final = timedelta(hours=12)
_MOST_STEPS: Final = 400
Join = Callable[[Reading, Reading, Context], bool]


def joined(readings: list[Reading], context: Context) -> list[Reading]:
    """The readings as whole expressions; weak ones that nothing binds are gone."""
    if not readings:
        return []
    for join in (_with_clock, _counted_from, _range):
        readings = _through(join, readings, context)
    kept: list[Reading] = []
    for reading in readings:
        last = kept[-1] if kept else None
        bound = affixed(reading, context, floor=last.end if last else 0)
        if not bound and reading.weak and last is not None and reading.offset is None and last.grain == reading.grain:
            bound = _LIST.fullmatch(context.text, last.end, reading.start) is not None
        if reading.role in {"length", "now"} or (reading.weak and (not bound or reading.role == "part")):
            continue
        kept.append(reading)
    return kept


def _through(join: Join, readings: list[Reading], context: Context) -> list[Reading]:
    """Every reading that `join` did not fold into the one before it."""
    result: list[Reading] = []
    for reading in readings:
        if not result or not _possible(join, result[-1], reading, context):
            result.append(reading)
    return result


def _with_clock(a: Reading, b: Reading, context: Context) -> bool:
    if b.start - a.end > 12 or not _DATE_CLOCK.fullmatch(context.text, a.end, b.start) or not _merge(a, b, context):
        return False
    opened = context.text[a.end : b.start].strip()[:1] in {"(", "（"}
    closed = context.text[b.end : b.end + 1] in {")", "）"}
    a.end = b.end + (opened and closed)
    return True


def _possible(join: Join, a: Reading, b: Reading, context: Context) -> bool:
    """Whether `join` joins them; what would lie outside the calendar's years does not."""
    try:
        return join(a, b, context)
    except (ValueError, OverflowError):
        return False


def _one_day(reading: Reading) -> bool:
    return (
        reading.role == "date" and reading.grain == "day" and reading.begins is not None and reading.kind in {"when", "vague"}
    )


def _merge(a: Reading, b: Reading, context: Context) -> bool:
    """Fold `b` into `a` where they name one time between them."""
    if a.role in {"part", "clock"} and _one_day(b) and b.begins is not None:
        return _clock_of_day(a, b, midnight(b.begins))
    if b.kind == "frequency" and (a.role in {"part", "clock"} or (a.cycle == "year" and a.role == "date")):
        a.kind, a.begins, a.ends, a.weak, a.role = "frequency", None, None, False, "date"
        return True
    if a.kind == "frequency":
        adjacent = _REPEATED.fullmatch(context.text, a.end, b.start) is not None
        return adjacent and b.kind != "frequency" and b.role in {"date", "part", "clock"}
    if _one_day(a) and b.role in {"part", "clock"} and a.begins is not None:
        return _place(a, a.begins, b)
    if a.offset is not None and a.begins is not None and b.role == "clock" and a.grain == "hour" and a.role != "clock":
        return _place(a, a.begins - a.offset[0], b)
    if a.role == "clock" and b.role == "date" and b.offset is not None and b.begins is not None and b.grain == "hour":
        clock, a.offset = replace(a), b.offset
        return _place(a, b.begins - b.offset[0], clock)
    if a.role == "clock" and b.role == "part" and a.cycle == "halfday" and a.begins is not None:
        a.offset, b.offset = b.offset, a.offset
        b.cycle = "halfday"
        return _place(a, midnight(a.begins), b)
    if _one_day(a) and _one_day(b) and a.begins is not None and b.begins is not None:
        return _same_day(a, b)
    return False


def _clock_of_day(a: Reading, b: Reading, day: datetime) -> bool:
    """`at noon` + `on Friday`"""
    assert a.offset is not None
    first, last = a.offset
    a.role, a.confidence, a.kind = "date", min(0.9, b.confidence), "during" if a.kind == "during" else "when"
    a.begins, a.ends, a.weak, a.cycle = day + first, day + last, False, b.cycle
    return True


def _same_day(a: Reading, b: Reading) -> bool:
    """A date and its weekday in either order: the date counts."""
    assert a.begins is not None and b.begins is not None
    if b.cycle == "week" and a.cycle != "week":
        return a.begins.weekday() == b.begins.weekday()
    if a.cycle == "week" and b.cycle != "week" and a.kind == "when":
        a.begins, a.ends, a.confidence, a.cycle, a.weak = b.begins, b.ends, b.confidence, b.cycle, b.weak
        return True
    return False


def _place(a: Reading, day: datetime, clock: Reading) -> bool:
    """`Friday` + `at noon`; a part of the day in `a` decides the half of the day of a bare hour."""
    assert clock.offset is not None
    first, last = clock.offset
    if clock.cycle == "halfday" and a.offset is not None:
        if a.offset[0] >= _NOON > first:
            first, last = first + _NOON, last + _NOON
        elif a.offset[1] <= _NOON <= first:
            first, last = first - _NOON, last - _NOON
    a.begins, a.ends, a.grain, a.offset = day + first, day + last, clock.grain, (first, last)
    a.kind = "during" if clock.kind == "during" else "when"
    a.confidence = min(0.9, max(a.confidence, 0.5))
    a.role, a.weak = "date", False
    return True


def _counted_from(a: Reading, b: Reading, context: Context) -> bool:
    """`a week from Monday`, `two days before Christmas`."""
    if a.length is None or b.role != "date" or b.begins is None:
        return False
    how = _LENGTH_DATE.fullmatch(context.text, a.end, b.start)
    if how is None:
        return False
    unit, count = a.length
    begins = shift(b.begins, unit, -count if "before" in how[0] else count)
    if unit in {"hour", "minute", "second"}:
        a.begins, a.ends, a.grain = begins, shift(begins, "hour", 1), "hour"
    else:
        a.begins, a.ends = whole_day(begins)
    a.role, a.weak, a.length = "date", False, None
    a.end, a.confidence = b.end, b.confidence * 0.9
    return True


def _range(a: Reading, b: Reading, context: Context) -> bool:
    """Stretch `a` to `b` where the words between them, and before, make them a range."""
    if a.begins is None or a.ends is None or b.begins is None or a.role in {"length", "now"} or b.role == "length":
        return False
    between = _RANGE.fullmatch(context.text, a.end, b.start)
    if between is None:
        return False
    opening = _RANGE_OPEN.search(context.text, max(0, a.start - 10), a.start)
    closing = _RANGE_CLOSE.match(context.text, b.end)
    if between[0].strip() in _AND and not (opening and (opening["from"] == "between" or closing)):
        return False
    _align(a, b)
    ends = b.ends
    if b.offset is not None and b.offset[1] - b.offset[0] <= timedelta(hours=1):
        ends = b.begins  # up to a clock time
    if ends is None or ends <= a.begins:
        return False
    a.ends, a.end, a.weak, a.closes, a.cycle = ends, closing.end() if closing else b.end, False, True, None
    a.kind = "since" if b.role == "now" else "during"
    if b.role != "now":
        a.confidence = min(a.confidence, b.confidence)
    if opening is not None:
        a.start = opening.start()
    return True


def _align(a: Reading, b: Reading) -> None:
    """Move whichever end may be moved so that `b` comes after `a` and within one cycle of it."""
    if b.cycle is not None:
        _step(b, b.cycle, a, forward=True)
        if a.cycle is None:
            _step(b, b.cycle, a, forward=False)
    elif a.cycle is not None:
        for sign in (-1, 1):
            for _ in range(_MOST_STEPS):
                moved = _moved(a, a.cycle, sign)
                assert a.begins is not None and b.begins is not None
                if (sign < 0 and a.begins <= b.begins) or (sign > 0 and moved[0] > b.begins):
                    break
                a.begins, a.ends = moved


def _step(b: Reading, cycle: Unit, a: Reading, *, forward: bool) -> None:
    """Forward until `b` does not begin before `a`; back as long as it does not."""
    for _ in range(_MOST_STEPS):
        assert a.begins is not None and b.begins is not None
        if forward and b.begins >= a.begins:
            break
        moved = _moved(b, cycle, 1 if forward else -1)
        if not forward and moved[0] < a.begins:
            break
        b.begins, b.ends = moved


def _moved(reading: Reading, cycle: Unit, sign: int) -> tuple[datetime, datetime]:
    assert reading.begins is not None and reading.ends is not None
    return shift(reading.begins, cycle, sign), shift(reading.ends, cycle, sign)
