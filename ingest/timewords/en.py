"""English: days, weeks, months, years, seasons, feasts."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from ..claims import Grain
from .calendar import (
    DAY,
    Interval,
    Unit,
    add_months,
    bare_weekday,
    by_tense,
    date,
    months,
    named,
    nth_weekday,
    weekday_in_week,
    whole_day,
)
from .en_words import BEGIN, DIRECTION, END, FULL_WEEKDAYS, PART_OF, STEPS, YEAR_AFTER, year_in
from .grammar import Context, Pattern, Reading, group, pattern, words
from .lexicon import EN_MONTHS, EN_PART_NAMES, EN_UNITS, EN_WEEKDAYS, GRAIN_OF, NOT_AFTER_DAY
from .numbers import EN_ORDINALS
from .parts import day_of_month, directed, part_of_month, part_of_year, weekend

_DOT: Final = r"(?:(?<![a-z]{5})\.(?= ?[a-z0-9]))?"
_WD: Final = rf"(?P<wd>{words(EN_WEEKDAYS)})"
_MONTH: Final = rf"(?P<m>{words(EN_MONTHS)}){_DOT}"
_SHORT: Final = frozenset("mon tue tues wed thu thur thurs fri sat sun jan mar march may sep oct nov dec".split())
_DAY: Final = r"(?P<d>3[01]|[12][0-9]|0?[1-9])"


def _day(m: re.Match[str], context: Context) -> Reading:
    word = m["day"]
    steps = {"yesterday": -1, "tomorrow": 1}.get(word, 0)
    if " " in word:
        steps = -2 if word.endswith("before yesterday") else 2
    begins, ends = whole_day(context.said + DAY * steps)
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.95)


_PART_GRAIN: Final[dict[Unit, Grain]] = {"week": "day", "month": "week", "year": "season"}


def _week(m: re.Match[str], context: Context) -> Reading:
    steps = STEPS[m["dir"]]
    unit = EN_UNITS[m["u"]]
    begins, ends = named(context.said, unit, steps)
    if m["p"] or m["p2"]:
        part = EN_PART_NAMES[m["p"] or m["p2"]]
        if unit == "month":
            begins, ends = part_of_month(begins.year, begins.month, part)
        elif unit == "year":
            begins, ends = part_of_year(begins.year, part)
        elif unit == "week":
            first, last = {"early": (0, 2), "middle": (2, 4), "late": (4, 7), "end": (4, 7)}.get(part, (0, 7))
            begins, ends = begins + DAY * first, begins + DAY * last
        return Reading(begins=begins, ends=ends, grain=_PART_GRAIN.get(unit, "season"), confidence=0.85, closes=part == "end")
    return Reading(begins=begins, ends=ends, grain=GRAIN_OF[unit], kind="when" if steps else "during")


def _end_of_this(m: re.Match[str], context: Context) -> Reading:
    """`the end of the month`: the month of speech."""
    unit = EN_UNITS[m["u"]]
    part = EN_PART_NAMES[m["p2"] or m["p"]]
    begins, ends = named(context.said, unit)
    if unit == "month":
        begins, ends = part_of_month(begins.year, begins.month, part)
    elif unit == "year":
        begins, ends = part_of_year(begins.year, part)
    elif part == "end":
        begins = ends - DAY * (2 if unit == "week" else 1)
    return Reading(begins=begins, ends=ends, grain=_PART_GRAIN.get(unit, "day"), confidence=0.7, closes=part == "end")


def _two_away(m: re.Match[str], context: Context) -> Reading:
    steps = -2 if m["which"] == "before last" else 2
    if m["u"] == "weekend":
        begins, ends = named(context.said, "week", steps)
        return Reading(begins=begins + DAY * 5, ends=ends, grain="day")
    if m["u"] in EN_WEEKDAYS:
        begins, ends = bare_weekday(context.said, EN_WEEKDAYS[m["u"]], "past" if steps < 0 else "future")
        week = timedelta(days=7 if steps > 0 else -7)
        return Reading(begins=begins + week, ends=ends + week, grain="day", confidence=0.8)
    unit = EN_UNITS[m["u"]]
    begins, ends = named(context.said, unit, steps)
    return Reading(begins=begins, ends=ends, grain=GRAIN_OF[unit])


def _is_name(m: re.Match[str], name: str, context: Context) -> bool:
    """Whether a short or ambiguous name is written as a proper noun."""
    word = m[name]
    return word not in _SHORT or context.raw[m.start(name)].isupper()


def _weekday(m: re.Match[str], context: Context) -> Reading | None:
    if not _is_name(m, "wd", context):
        return None
    weekday = EN_WEEKDAYS[m["wd"]]
    said = context.said
    steps = STEPS[m["dir"]] if m["dir"] else None
    week = STEPS[m["week"]] if m["week"] else None
    if week is not None:
        begins, ends = weekday_in_week(said, weekday, week)
    elif steps is None:
        begins, ends = bare_weekday(said, weekday, context.tense(m))
    elif steps < 0:
        begins, ends = bare_weekday(said, weekday, "past")
    elif m["dir"] == "next":
        begins, ends = weekday_in_week(said, weekday, 1)
    elif steps > 0:
        begins, ends = bare_weekday(said, weekday, "future")
    else:
        begins, ends = weekday_in_week(said, weekday)
        tense = context.tense(m)
        if ends <= said and tense != "past":
            begins, ends = begins + DAY * 7, ends + DAY * 7
        elif begins > said and tense == "past":
            begins, ends = begins - DAY * 7, ends - DAY * 7
    weak = m["wd"] in {"sun", "sat", "mon", "wed", "fri"} and steps is None
    return Reading(
        begins=begins, ends=ends, grain="day", confidence=0.7 if steps is None and week is None else 0.8,
        cycle="week" if steps is None and week is None else None, weak=weak,
    )


def _weekend(m: re.Match[str], context: Context) -> Reading:
    if not m["dir"]:
        begins, ends = weekend(context, context.tense(m))
        return Reading(begins=begins, ends=ends, grain="day", confidence=0.4, kind="vague", cycle="week", weak=not m["the"])
    begins, ends = named(context.said, "week", STEPS[m["dir"]] if m["dir"] not in {"coming", "this coming", "upcoming"} else 0)
    if m["dir"] == "this" and context.tense(m) == "past" and begins + DAY * 5 > context.said:
        begins, ends = begins - DAY * 7, ends - DAY * 7
    return Reading(begins=begins + DAY * 5, ends=ends, grain="day", confidence=0.85)


def _month(m: re.Match[str], context: Context) -> Reading | None:
    """A month with an optional part before, direction, day and year."""
    placed = group(m, "d") or group(m, "dir") or _AFTER_PREPOSITION.search(context.text, max(0, m.start() - 12), m.start("m"))
    if not placed and not _is_name(m, "m", context):
        return None
    month = EN_MONTHS[m["m"]]
    day = int(m["d"]) if group(m, "d") else None
    part_name = group(m, "p") or group(m, "p2")
    part = EN_PART_NAMES[part_name] if part_name else None

    def of(y: int) -> Interval:
        if day is not None:
            return date(y, month, day)
        return months(y, month, month + 1) if part is None else part_of_month(y, month, part)

    year = year_in(m, context)
    direction = group(m, "dir")
    cycle: Unit | None = None
    confidence = 0.95
    if year is not None:
        begins, ends = of(year)
    elif direction:
        begins, ends = directed(of, STEPS[direction], context, context.tense(m))
        confidence = 0.85
    else:
        tense = context.tense(m)
        begins, ends = by_tense(of, context.said, tense, near=day is not None)
        confidence, cycle = (0.8 if tense else 0.6), "year"
    bare = year is None and day is None and part is None and not direction
    return Reading(
        begins=begins, ends=ends, grain="day" if day is not None else "week" if part else "month", confidence=confidence,
        weak=bare, closes=part == "end", cycle=cycle,
    )


def _days_range(m: re.Match[str], context: Context) -> Reading | None:
    """`March 3-7, 2026`"""
    month, first, last = EN_MONTHS[m["m"]], int(m["a"]), int(m["b"])
    if first > last:
        return None

    def of(y: int) -> Interval:
        return date(y, month, first)[0], date(y, month, last)[1]

    year = year_in(m, context)
    begins, ends = of(year) if year is not None else by_tense(of, context.said, context.tense(m), near=True)
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.9, kind="during")


_AFTER_PREPOSITION: Final = re.compile(r"(?<![a-z])(?:in|since|until|till|by|of|from|to|during|through|and|before|after)[ -]$")


def _day_of_month(m: re.Match[str], context: Context) -> Reading:
    """`the 15th`, `the 15th of last month`, `Friday the 13th`."""
    day = int(m["d"])
    direction = group(m, "dir")
    if direction:
        at = add_months(context.today.replace(day=1), STEPS[direction])
        begins, ends = date(at.year, at.month, day)
        return Reading(begins=begins, ends=ends, grain="day", confidence=0.95)
    weekday = group(m, "wd")
    begins, ends = day_of_month(day, context, context.tense(m), EN_WEEKDAYS[weekday] if weekday else None)
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.6, weak=not weekday, cycle=None if weekday else "month")


def _nth(m: re.Match[str], context: Context) -> Reading | None:
    """`the second Friday of March`, `the first week of next month`."""
    nth = EN_ORDINALS[m["nth"]]
    if group(m, "dir"):
        at = add_months(context.today.replace(day=1), STEPS[m["dir"]])
        month, year = at.month, at.year
    else:
        month, given = EN_MONTHS[m["m"]], year_in(m, context)
        year = given if given is not None else 0

    def of(y: int) -> Interval:
        if m["wd"]:
            return nth_weekday(y, month, EN_WEEKDAYS[m["wd"]], nth)
        begins, ends = months(y, month, month + 1)
        if nth < 0:
            return ends - DAY * 7, ends
        first = begins + DAY * 7 * (nth - 1)
        if first >= ends:
            raise ValueError("no such week")
        return first, min(first + DAY * 7, ends)

    begins, ends = of(year) if year else by_tense(of, context.said, context.tense(m), near=True)
    return Reading(begins=begins, ends=ends, grain="day" if m["wd"] else "week", confidence=0.85)


def _now(m: re.Match[str], context: Context) -> Reading:
    return Reading(begins=context.said, ends=context.said, grain="instant", role="now", weak=True)


PATTERNS: Final[tuple[Pattern, ...]] = (
    pattern(
        "day", "yesterday today tomorrow".split(),
        rf"{BEGIN}(?P<day>(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|today|tomorrow){END}", _day,
    ),
    pattern(
        "named unit", "last past previous this current next coming following".split(),
        rf"{BEGIN}{PART_OF}?(?:the )?{DIRECTION} (?P<u>week|month|quarter|year|decade){END}", _week,
    ),
    pattern(
        "end of this", "week month quarter year day".split(),
        rf"{BEGIN}(?:(?P<p>early|mid|late)[ -](?:in )?the |(?:the )?(?:very )?(?P<p2>beginning|start|middle|end) of the )"
        rf"(?P<u>week|month|quarter|year|day){END}", _end_of_this,
    ),
    pattern(
        "two away", ["before", "after"],
        rf"{BEGIN}(?:the )?(?P<u>week|month|year|weekend|{words(w for w in EN_WEEKDAYS if len(w) > 5)}) (?P<which>before last"
        rf"|after next){END}", _two_away,
    ),
    pattern(
        "weekday", EN_WEEKDAYS,
        rf"{BEGIN}(?:the )?(?:{DIRECTION} )?{_WD}{END}(?:,? (?:of )?(?P<week>last|this|next) week{END})?", _weekday,
    ),
    pattern("weekend", ["weekend"], rf"{BEGIN}(?P<the>the )?(?:{DIRECTION} )?weekend{END}", _weekend),
    pattern(
        "month", EN_MONTHS,
        rf"{BEGIN}{PART_OF}?(?:the )?(?:{DIRECTION} )?{_MONTH}(?![a-z])(?: (?:the )?{_DAY}(?:st|nd|rd|th)?(?![0-9a-z:]"
        rf"| ?[ap]\.?m))?{YEAR_AFTER}", _month,
    ),
    pattern(
        "days range", EN_MONTHS,
        rf"{BEGIN}{_MONTH} (?P<a>3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)? ?(?:-|–|—|to|through) ?(?P<b>3[01]|[12][0-9]"
        rf"|0?[1-9])(?:st|nd|rd|th)?(?![0-9a-z:]| ?[ap]\.?m){YEAR_AFTER}", _days_range,
    ),
    pattern("day month", EN_MONTHS, rf"{BEGIN}(?:the )?{_DAY}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?![a-z]){YEAR_AFTER}", _month),
    pattern(
        "day of month", ["month"],
        rf"{BEGIN}(?:the )?{_DAY}(?:st|nd|rd|th) (?:of )?(?:the )?{DIRECTION} month{END}", _day_of_month,
    ),
    pattern(
        "bare day of month", ["st", "nd", "rd", "th", "the"],
        rf"(?:(?<=on )|(?<=by )|(?<=until )|(?<=till )|(?<=since )|(?<=before )|(?<=after )|(?<=from )|(?<=to ))the {_DAY}"
        rf"(?:st|nd|rd|th){END}(?! (?:{words(NOT_AFTER_DAY)}))", _day_of_month,
    ),
    pattern(

        "weekday and day", EN_WEEKDAYS,
        rf"{BEGIN}(?P<wd>{FULL_WEEKDAYS}),? (?:the )?{_DAY}(?:st|nd|rd|th){END}(?! (?:of )?(?:{words(EN_MONTHS)}))", _day_of_month,
    ),
    pattern("month's day", ["month"], rf"{BEGIN}{DIRECTION} month on the {_DAY}(?:st|nd|rd|th){END}", _day_of_month),
    pattern(
        "nth", EN_ORDINALS,
        rf"{BEGIN}(?:the )?(?P<nth>{words(EN_ORDINALS)}) (?:(?P<wd>{words(EN_WEEKDAYS)})|week) (?:of|in) (?:{_MONTH}"
        rf"(?![a-z]){YEAR_AFTER}|(?:the )?(?P<dir>last|this|next) month{END})", _nth,
    ),
    pattern(
        "now", ["now", "present", "today"],
        rf"{BEGIN}(?:right now|now|the present|present)(?= *[.,;!?]|$|(?<=now) on)", _now,
    ),
)
