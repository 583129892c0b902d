"""How neighbouring readings join: a date and its clock time, a length and its date, ranges, prepositions and suffixes."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from .calendar import Unit, midnight, shift, whole_day
from .grammar import Context, Reading
from .spans import Kind

_DATE_CLOCK: Final = re.compile(r"[\s,(（]{0,3}(?:的|at|on|around|about|in the|by|from|of|,)?\s*")
_REPEATED: Final = re.compile(r"\s*(?:的|at|on|around|in the)?\s*")
_LENGTH_DATE: Final = re.compile(r" (from|before|after) (?:the )?$|^ (from|before|after) (?:the )?")
_LIST: Final = re.compile(r"\s*(?:,|、|和|与|跟|或|及|and|or|&|, and)\s*")
_RANGE: Final = re.compile(r"\s*(?:到|至|-|~|–|—|－|～|一直到|to|through|until|till|thru|and|和|与)\s*")
_RANGE_OPEN: Final = re.compile(r"(?:(?<![a-z])(?P<from>from|between)|(?P<zh>自从|从|自|在))\s*$")

_FROM: Final = re.compile(r"(?<![a-z])from(?: the)?\s+$")
_BEFORE: Final[tuple[tuple[Kind | None, re.Pattern[str]], ...]] = (
    ("since", re.compile(r"(?:(?<![a-z])(?:ever since|since|as of|starting(?: from| on| in| at)?|beginning(?: from| on| in)?|effective(?: from)?)(?: the)?\s+|(?:自从|自打|打从|从|自)\s*)$")),
    ("until", re.compile(r"(?:(?<![a-z])(?:(?:up )?until|till|'til|til|up to|by|no later than|due(?: on| by)?|through|thru)(?: the)?\s+|(?:直到|截至|截止到?|一直到|持续到|延续到|待到|等到|最晚|不晚于)\s*)$")),
    ("before", re.compile(r"(?<![a-z])(?:before|prior to|ahead of)(?: the)?\s+$")),
    (None, _FROM),
    ("after", re.compile(r"(?<![a-z])(?:after|following|past)(?: the)?\s+$")),
    ("during", re.compile(r"(?<![a-z])(?:during|throughout)(?: the)?\s+$")),
    (None, re.compile(r"(?:(?<![a-z])(?:in|on|at|over|around|about|circa|back in|for|as early as)(?: the)?\s+|(?:在|于)\s*)$")),
)
_BOUNDARY_WORDS: Final = re.compile(r"(?<![a-z])(?:through|thru)(?: the)?\s+$|(?:截至)\s*$")
_AFTER: Final[tuple[tuple[Kind | None, re.Pattern[str]], ...]] = (
    ("since", re.compile(r"\s*(?:以来|至今|到现在|开始(?![时的])|起(?![床飞来])|onwards?(?![a-z])|on(?= ?[,.;!?]|$))")),
    ("until", re.compile(r"\s*(?:为止|截止)")),
    ("before", re.compile(r"\s*(?:之前|以前|前(?![面半几后天年任台端往期线辈景途言提0-9一二两三四五六七八九十]|夫|妻|女友|男友|同事))")),
    ("after", re.compile(r"\s*(?:之后|以后|过后|后(?![天面来续端期台年半悔代果]))")),
    ("during", re.compile(r"\s*(?:期间|之内|以内)")),
    (None, re.compile(r"(?:左右|前后|(?<=[年月周])里)")),
)


def joined(readings: list[Reading], context: Context) -> list[Reading]:
    """The readings as whole expressions; weak ones that nothing binds are gone."""
    if not readings:
        return []
    readings = _with_clock(readings, context)
    readings = _counted_from(readings, context)
    readings = _ranges(readings, context)
    kept: list[Reading] = []
    for reading in readings:
        bound = _affixed(reading, context, floor=kept[-1].end if kept else 0)
        if not bound and reading.weak and kept and not reading.offset and _LIST.fullmatch(context.text, kept[-1].end, reading.start):
            bound = kept[-1].grain == reading.grain
        if reading.role in {"length", "now"} or (reading.weak and (not bound or reading.role == "part")):
            continue
        kept.append(reading)
    return kept


def _with_clock(readings: list[Reading], context: Context) -> list[Reading]:
    result: list[Reading] = []
    for reading in readings:
        last = result[-1] if result else None
        if last is not None and reading.start - last.end <= 12 and _DATE_CLOCK.fullmatch(context.text, last.end, reading.start):
            if _merge(last, reading, context):
                bracket = context.text[last.end : reading.start].strip()[:1] in {"(", "（"}
                last.end = reading.end + (bracket and context.text[reading.end : reading.end + 1] in {")", "）"})
                continue
        result.append(reading)
    return result


def _one_day(reading: Reading) -> bool:
    return reading.role == "date" and reading.grain == "day" and reading.begins is not None and reading.kind in {"when", "vague"}


def _merge(a: Reading, b: Reading, context: Context) -> bool:
    """Fold `b` into `a`: date and clock, in either order; a part of the day and a clock; two names of one day."""
    if a.role in {"part", "clock"} and a.offset is not None and _one_day(b):
        a.role, a.confidence = "date", min(0.9, b.confidence)
        first, last = a.offset
        assert b.begins is not None
        day = midnight(b.begins)
        a.kind = "during" if a.kind == "during" else "when"
        a.begins, a.ends, a.weak, a.cycle = day + first, day + last, False, b.cycle
        return True
    if b.kind == "frequency" and (a.role in {"part", "clock"} or (a.cycle == "year" and a.role == "date")):
        a.kind, a.begins, a.ends, a.weak = "frequency", None, None, False
        return True
    if a.kind == "frequency":
        return b.kind != "frequency" and b.role in {"date", "part", "clock"} and _REPEATED.fullmatch(context.text, a.end, b.start) is not None
    if _one_day(a) and b.offset is not None and b.role in {"part", "clock"}:
        return _place(a, a.begins, b)
    if a.offset is not None and b.offset is not None and b.role == "clock" and a.grain == "hour" and a.role in {"part", "date"} and a.begins is not None:
        return _place(a, midnight(a.begins) if a.begins - midnight(a.begins) == a.offset[0] else a.begins - a.offset[0], b)
    if a.role == "clock" and b.role == "part" and a.offset is not None and b.offset is not None and a.cycle == "halfday":
        noon = timedelta(hours=12)
        first, last = a.offset
        if b.offset[0] >= noon and first < noon:
            first, last = first + noon, last + noon
        elif b.offset[1] <= noon and first >= noon:
            first, last = first - noon, last - noon
        day = midnight(a.begins) if a.begins is not None else context.today
        a.begins, a.ends, a.offset, a.cycle, a.weak = day + first, day + last, (first, last), "day", False
        a.confidence = 0.8
        return True
    if _one_day(a) and _one_day(b) and b.cycle == "week" and a.cycle != "week" and b.kind == "when":
        assert a.begins is not None and b.begins is not None
        return a.begins.weekday() == b.begins.weekday()
    if _one_day(a) and _one_day(b) and a.cycle == "week" and b.cycle != "week" and a.kind == "when":
        a.begins, a.ends, a.confidence, a.cycle, a.weak = b.begins, b.ends, b.confidence, b.cycle, b.weak
        return True
    return False


def _place(a: Reading, day: datetime | None, clock: Reading) -> bool:
    assert clock.offset is not None and day is not None
    first, last = clock.offset
    noon = timedelta(hours=12)
    if clock.cycle == "halfday" and a.offset is not None:
        part_first, part_last = a.offset
        if part_first >= noon and first < noon:
            first, last = first + noon, last + noon
        elif part_last <= noon and first >= noon:
            first, last = first - noon, last - noon
    a.begins, a.ends = day + first, day + last
    a.grain, a.offset, a.kind = clock.grain, (first, last), "during" if clock.kind == "during" else "when"
    a.confidence = min(0.9, max(a.confidence, 0.5))
    a.role, a.weak = "date", False
    return True


def _counted_from(readings: list[Reading], context: Context) -> list[Reading]:
    """`a week from Monday`, `two days before Christmas`."""
    result: list[Reading] = []
    for reading in readings:
        last = result[-1] if result else None
        if last is not None and last.role == "length" and last.length is not None and reading.role == "date" and reading.begins is not None:
            how = _LENGTH_DATE.fullmatch(context.text, last.end, reading.start)
            if how is not None:
                unit, count = last.length
                sign = -1 if "before" in how[0] else 1
                begins = shift(reading.begins, unit, sign * count)
                last.begins, last.ends = whole_day(begins) if unit not in {"hour", "minute", "second"} else (begins, shift(begins, "hour", 1))
                last.role, last.weak, last.end, last.confidence, last.length = "date", False, reading.end, reading.confidence * 0.9, None
                continue
        result.append(reading)
    return result


def _ranges(readings: list[Reading], context: Context) -> list[Reading]:
    result: list[Reading] = []
    for reading in readings:
        last = result[-1] if result else None
        if last is None or last.kind == "frequency" or reading.kind == "frequency" or last.role == "length":
            result.append(reading)
            continue
        between = _RANGE.fullmatch(context.text, last.end, reading.start)
        if between is None or last.begins is None or last.ends is None or reading.begins is None:
            result.append(reading)
            continue
        opening = _RANGE_OPEN.search(context.text, max(0, last.start - 10), last.start)
        word = between[0].strip()
        if word in {"and", "和", "与"} and (opening is None or opening["from"] != "between" and opening["zh"] != "在" or (opening["zh"] == "在" and not context.text.startswith("之间", reading.end))):
            result.append(reading)
            continue
        if word in {"to", "until", "till", "到", "至"} and opening is None and last.role == "now":
            result.append(reading)
            continue
        _align(last, reading)
        ends = reading.ends
        if reading.offset is not None and reading.offset[1] - reading.offset[0] <= timedelta(hours=1):
            ends = reading.begins  # up to a clock time
        if ends is None or ends <= last.begins:
            result.append(reading)
            continue
        last.ends, last.end, last.kind, last.weak, last.closes = ends, reading.end, "during", False, True
        last.confidence = min(last.confidence, reading.confidence) if reading.role != "now" else last.confidence
        last.cycle = None
        if reading.role == "now":
            last.kind = "since"
        if opening is not None:
            last.start = opening.start() if opening["from"] else opening.start("zh")
        if context.text.startswith("之间", last.end):
            last.end += 2
        elif context.text.startswith("期间", last.end):
            last.end += 2
    return result


def _align(a: Reading, b: Reading) -> None:
    """Move whichever end may be moved so that `b` comes after `a` and within one cycle of it."""
    if a.begins is None or b.begins is None or b.ends is None or a.ends is None:
        return
    if b.cycle is not None:
        step: Unit = b.cycle
        for _ in range(400):
            if b.begins >= a.begins:
                break
            b.begins, b.ends = shift(b.begins, step, 1), shift(b.ends, step, 1)
        if a.cycle is None:
            for _ in range(400):
                earlier = shift(b.begins, step, -1)
                if earlier < a.begins:
                    break
                b.begins, b.ends = earlier, shift(b.ends, step, -1)
    if a.cycle is not None and (b.cycle is None or b.begins - a.begins > timedelta(days=366)):
        for _ in range(400):
            if a.begins <= b.begins:
                break
            a.begins, a.ends = shift(a.begins, a.cycle, -1), shift(a.ends, a.cycle, -1)
        for _ in range(400):
            later = shift(a.begins, a.cycle, 1)
            if later > b.begins:
                break
            a.begins, a.ends = later, shift(a.ends, a.cycle, 1)


def _affixed(reading: Reading, context: Context, *, floor: int) -> bool:
    """Read the words just before and after. True where one of them binds the reading to be a time."""
    text = context.text
    before: Kind | None = None
    bound = False
    inclusive = False
    for kind, regex in _BEFORE:
        match = regex.search(text, max(floor, reading.start - 24), reading.start)
        if match is not None:
            before, bound = kind, True
            inclusive = kind == "until" and _BOUNDARY_WORDS.search(text, max(floor, reading.start - 24), reading.start) is not None
            if regex is _FROM and reading.begins is not None and reading.begins > context.said:
                before = "since"  # "from Monday" looks ahead; "a picture from last week" is of that week
            reading.start = match.start()
            break
    after: Kind | None = None
    if reading.kind != "frequency":
        for kind, regex in _AFTER:
            match = regex.match(text, reading.end)
            if match is not None:
                after, bound = kind, True
                reading.end = match.end()
                break
    if reading.kind == "frequency" or reading.kind in {"since", "until"}:
        return bound
    if before == "since" or (after == "since" and before is None):
        _since(reading)
    elif before == "until" or after == "until" or (after == "before" and reading.closes and reading.kind != "during"):
        _until(reading, inclusive=inclusive or after == "until")
    elif before == "before" or after == "before":
        reading.kind, reading.ends, reading.begins = "before", reading.begins, None
    elif before == "after" or after == "after":
        reading.kind, reading.begins, reading.ends = "after", reading.ends, None
    elif "during" in (before, after):
        reading.kind = "during"
    return bound


def _since(reading: Reading) -> None:
    if reading.kind == "during" and reading.closes:
        return
    reading.kind, reading.ends = "since", None


def _until(reading: Reading, *, inclusive: bool) -> None:
    """Up to the end of a day, or of what is itself an end; else up to the beginning of the unit."""
    to_end = inclusive or reading.closes or (reading.grain == "day" and reading.offset is None and reading.kind != "vague")
    reading.kind = "until"
    if not to_end or reading.grain in {"hour", "minute", "instant"}:
        reading.ends = reading.begins
    reading.begins = None
