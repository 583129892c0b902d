"""English: dates, weeks, months, years, feasts, lengths, parts of the day and clock times."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from .calendar import (
    DAY, Interval, Unit, add_months, bare_weekday, by_tense, date, full_year, months, named, nth_weekday, shift, weekday_in_week,
    whole_day,
)
from .clock import at_clock, at_part
from .grammar import Context, Pattern, Reading, group, pattern, words
from .holidays import EN_FEASTS
from .lexicon import (
    EN_MONTHS, EN_PART_NAMES, EN_PARTS, EN_UNITS, EN_WEEKDAYS, FEW, GRAIN_OF, JUST_NOW, MONTH_PARTS, SEASONS, VAGUE, YEAR_PARTS, DayPart,
)
from .numbers import EN_NUMBER, EN_ORDINALS, en_number
from .spans import Kind, Tense
from .zh import few_away, part_of_month, part_of_year, season_of, weekend

_B: Final = r"(?<![a-z0-9])"
_E: Final = r"(?![a-z0-9])"
_UNIT: Final = rf"(?:{words(EN_UNITS)})"
LENGTH: Final = rf"(?P<n>{EN_NUMBER})[ -](?:more )?(?P<u>{_UNIT})s?(?P<tail> and a half)?"
_WD: Final = rf"(?P<wd>{words(EN_WEEKDAYS)})\.?"
_MONTH: Final = rf"(?P<m>{words(EN_MONTHS)})\.?"
_PART: Final = r"(?P<part>morning|afternoon|evening|night)"
_DIRS: Final = "last|past|previous|this past|this coming|this|current|next|coming|upcoming|following"
_DIR: Final = rf"(?P<dir>{_DIRS})"
_STEPS: Final = {"last": -1, "past": -1, "previous": -1, "this past": -1, "next": 1, "coming": 1, "upcoming": 1, "following": 1, "this coming": 1, "this": 0, "current": 0}
_SEASON: Final = r"(?P<s>spring|summer|autumn|fall|winter)"
_SHORT: Final = frozenset({"mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun", "mar", "may", "march", "jan", "dec", "sep", "oct", "nov", "second", "sec", "min"})
_PART_OF: Final = r"(?:(?P<p>early|mid|late)[ -](?:in )?|(?:the )?(?:very )?(?P<p2>beginning|start|middle|end|first half|second half|later part|first few days|last few days) of (?:the )?(?:month of )?)"
_DAY: Final = r"(?P<d>3[01]|[12][0-9]|0?[1-9])"


def _length(m: re.Match[str]) -> tuple[Unit, float | None]:
    """(unit, count); None: a few."""
    unit = EN_UNITS[m["u"]]
    count = en_number(m["n"])
    if count is not None:
        count += 0.5 if m["tail"] else 0
        count *= 2 if m["u"] == "fortnight" else 1
    return unit, count


def _counted(context: Context, unit: Unit, count: float | None, sign: int) -> Reading:
    if count is None:
        return few_away(context, unit, sign)
    at = shift(context.said, unit, sign * count)
    if unit in {"hour", "minute", "second"}:
        step: Unit = "hour" if unit == "hour" else "minute"
        begins = at.replace(second=0, microsecond=0)
        return Reading(begins=begins, ends=shift(begins, step, 1), grain=GRAIN_OF[step])
    begins, ends = whole_day(at)
    return Reading(begins=begins, ends=ends, grain="day")


def _ago(m: re.Match[str], context: Context) -> Reading:
    return _counted(context, *_length(m), -1)


def _ahead(m: re.Match[str], context: Context) -> Reading | None:
    if group(m, "in") and context.tense(m) == "past":
        return None
    return _counted(context, *_length(m), 1)


def _within(m: re.Match[str], context: Context) -> Reading:
    unit, count = _length(m)
    count = FEW[0] if count is None else count
    if context.tense(m) == "past":
        return Reading(begins=shift(context.said, unit, -count), ends=context.said, grain=GRAIN_OF[unit], confidence=0.6, kind="during")
    return Reading(begins=context.said, ends=shift(context.said, unit, count), grain=GRAIN_OF[unit], confidence=0.8, kind="until")


def _span(m: re.Match[str], context: Context) -> Reading:
    """`the past three weeks`, `the next year or so`."""
    number = m["n"]
    unit = EN_UNITS[m["u"]]
    count = 1.0 if number is None else en_number(number)
    confidence = 0.5 if count is None else 0.8
    count = FEW[0] if count is None else count
    if _STEPS[m["dir"]] < 0:
        begins = shift(context.said, unit, -count)
        if unit not in {"hour", "minute", "second"}:
            begins = whole_day(begins)[0]
        return Reading(begins=begins, ends=context.said, grain=GRAIN_OF[unit], confidence=confidence, kind="during")
    return Reading(begins=context.said, ends=shift(context.said, unit, count), grain=GRAIN_OF[unit], confidence=confidence, kind="during")


_PERFECT: Final = re.compile(r"(?<![a-z])(?:have|has|'ve|'s|haven't|hasn't)(?![a-z])(?: [a-z]+){0,6} *$|(?<=[a-z])'(?:ve|s) (?:[a-z]+ ?){0,6}$")


def _lasting(m: re.Match[str], context: Context) -> Reading:
    """`for two weeks`: since then after "have been"; a past length without place after another past; else from now on."""
    unit, count = _length(m)
    confidence = 0.7 if count is not None else 0.4
    count = FEW[0] if count is None else count
    if _PERFECT.search(context.text, max(0, m.start() - 80), m.start()):
        begins = shift(context.said, unit, -count)
        if unit not in {"hour", "minute", "second"}:
            begins = whole_day(begins)[0]
        return Reading(begins=begins, ends=None, grain="day", confidence=confidence, kind="since")
    if context.tense(m) == "past":
        return Reading(begins=shift(context.said, unit, -count), ends=context.said, grain=GRAIN_OF[unit], confidence=0.3, kind="during")
    return Reading(begins=context.said, ends=shift(context.said, unit, count), grain=GRAIN_OF[unit], confidence=confidence, kind="during")


def _hanging(m: re.Match[str], context: Context) -> Reading:
    """`two weeks` before `from Monday`: counted when the date is known."""
    unit, count = _length(m)
    return Reading(begins=context.said, ends=context.said, grain="day", role="length", length=(unit, FEW[0] if count is None else count), weak=True)


def _day(m: re.Match[str], context: Context) -> Reading:
    word = m["day"]
    steps = -2 if word.endswith("before yesterday") else 2 if word.endswith("after tomorrow") else {"yesterday": -1, "tomorrow": 1}.get(word, 0)
    begins, ends = whole_day(context.said + DAY * steps)
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.95)


def _part_of_day(m: re.Match[str], context: Context) -> Reading:
    """`last night`, `this morning`, `tonight`, `tomorrow night`."""
    day = context.today + DAY * {"yesterday": -1, "last": -1, "tomorrow": 1}.get(m["day"], 0)
    part = EN_PARTS[m["part"] or "night"]
    first, last = timedelta(hours=part.begins), timedelta(hours=part.ends)
    return Reading(begins=day + first, ends=day + last, grain="hour", confidence=0.9, offset=(first, last))


def _bare_part(m: re.Match[str], context: Context) -> Reading:
    tense = context.tense(m)
    part = EN_PARTS[m["part"]]
    if tense is None:
        return Reading(begins=None, ends=None, grain="hour", confidence=0.4, kind="frequency", role="part", offset=(timedelta(hours=part.begins), timedelta(hours=part.ends)))
    return at_part(part, context, tense=tense, confidence=0.6)


def _week(m: re.Match[str], context: Context) -> Reading:
    steps = _STEPS[m["dir"]]
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
        return Reading(begins=begins, ends=ends, grain="day" if unit == "week" else "week" if unit == "month" else "season", confidence=0.85, closes=part == "end")
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
    return Reading(begins=begins, ends=ends, grain="week" if unit == "month" else "season" if unit == "year" else "day", confidence=0.7, closes=part == "end")


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
    steps = _STEPS[m["dir"]] if m["dir"] else None
    week = _STEPS[m["week"]] if m["week"] else None
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
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.7 if steps is None and week is None else 0.8, cycle="week" if steps is None else None, weak=weak)


def _weekend(m: re.Match[str], context: Context) -> Reading:
    if not m["dir"]:
        begins, ends = weekend(context.tense(m), context)
        return Reading(begins=begins, ends=ends, grain="day", confidence=0.4, kind="vague", cycle="week")
    begins, ends = named(context.said, "week", _STEPS[m["dir"]] if m["dir"] not in {"coming", "this coming", "upcoming"} else 0)
    if m["dir"] == "this" and context.tense(m) == "past" and begins + DAY * 5 > context.said:
        begins, ends = begins - DAY * 7, ends - DAY * 7
    return Reading(begins=begins + DAY * 5, ends=ends, grain="day", confidence=0.85)


def _year_in(m: re.Match[str], context: Context) -> int | None:
    four, two, relative = group(m, "y"), group(m, "yy"), group(m, "ydir")
    if four:
        return int(four)
    if two:
        return full_year(int(two), context.said)
    return context.said.year + _STEPS[relative] if relative else None


def _month(m: re.Match[str], context: Context) -> Reading | None:
    """A month with an optional part before, direction, day and year."""
    if not _is_name(m, "m", context) and not (group(m, "d") or group(m, "dir") or _AFTER_PREPOSITION.search(context.text, max(0, m.start() - 12), m.start("m"))):
        return None
    month = EN_MONTHS[m["m"]]
    day = int(m["d"]) if group(m, "d") else None
    part_name = group(m, "p") or group(m, "p2")
    part = EN_PART_NAMES[part_name] if part_name else None

    def of(y: int) -> Interval:
        if day is not None:
            return date(y, month, day)
        return months(y, month, month + 1) if part is None else part_of_month(y, month, part)

    year = _year_in(m, context)
    direction = group(m, "dir")
    cycle: Unit | None = None
    confidence = 0.95
    if year is not None:
        begins, ends = of(year)
    elif direction:
        begins, ends = _directed(of, direction, context, context.tense(m))
        confidence = 0.85
    else:
        tense = context.tense(m)
        begins, ends = by_tense(of, context.said, tense, near=day is not None)
        confidence, cycle = (0.8 if tense else 0.6), "year"
    bare = year is None and day is None and part is None and not direction
    return Reading(
        begins=begins, ends=ends, grain="day" if day is not None else "week" if part else "month", confidence=confidence, weak=bare,
        closes=part == "end", cycle=cycle,
    )


_AFTER_PREPOSITION: Final = re.compile(r"(?<![a-z])(?:in|since|until|till|by|of|from|to|during|through|and|before|after)[ -]$")


def _directed(of: object, direction: str, context: Context, tense: Tense) -> Interval:
    """`last`: the latest one that is over. `next`: the first that has not begun. `this`: by tense, else the one of this year."""
    interval: Interval
    steps = _STEPS[direction]
    if steps < 0:
        interval = by_tense(of, context.said, "past", near=False)  # type: ignore[arg-type]
        if interval[1] > context.said:
            interval = of(interval[0].year - 1)  # type: ignore[operator]
    elif steps > 0:
        interval = by_tense(of, context.said, "future", near=False)  # type: ignore[arg-type]
        if interval[0] <= context.said:
            interval = of(interval[0].year + 1)  # type: ignore[operator]
    elif tense is None:
        interval = of(context.said.year)  # type: ignore[operator]
    else:
        interval = by_tense(of, context.said, tense, near=False)  # type: ignore[arg-type]
    return interval


def _day_of_month(m: re.Match[str], context: Context) -> Reading:
    """`the 15th`, `the 15th of last month`."""
    day = int(m["d"])
    if m["dir"]:
        at = add_months(context.today.replace(day=1), _STEPS[m["dir"]])
        begins, ends = date(at.year, at.month, day)
        return Reading(begins=begins, ends=ends, grain="day", confidence=0.95)
    tense = context.tense(m)
    for offset in (0, -1, -2) if tense == "past" else (0, 1, 2):
        at = add_months(context.today.replace(day=1), offset)
        try:
            begins, ends = date(at.year, at.month, day)
        except ValueError:
            continue
        if begins <= context.said if tense == "past" else ends > context.said:
            return Reading(begins=begins, ends=ends, grain="day", confidence=0.6, weak=True, cycle="month")
    raise ValueError("no such day")


def _nth(m: re.Match[str], context: Context) -> Reading | None:
    """`the second Friday of March`, `the first week of next month`."""
    nth = EN_ORDINALS[m["nth"]]
    if group(m, "dir"):
        at = add_months(context.today.replace(day=1), _STEPS[m["dir"]])
        month, year = at.month, at.year
    else:
        month, given = EN_MONTHS[m["m"]], _year_in(m, context)
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


def _season(m: re.Match[str], context: Context) -> Reading:
    first = SEASONS[m["s"]]

    def of(y: int) -> Interval:
        return season_of(y, first)

    tense = context.tense(m)
    year = _year_in(m, context)
    if year is not None:
        begins, ends = of(year)
    elif m["dir"]:
        begins, ends = _directed(of, m["dir"], context, tense or "future")
    elif tense is None:
        return Reading(begins=None, ends=None, grain="season", confidence=0.4, kind="frequency")
    else:
        begins, ends = by_tense(of, context.said, tense, near=False)
    return Reading(begins=begins, ends=ends, grain="season", confidence=0.8 if year is not None or m["dir"] else 0.5)


def _feast(m: re.Match[str], context: Context) -> Reading:
    feast = EN_FEASTS[m["feast"]]
    year = _year_in(m, context)
    if year is not None:
        begins, ends = feast(year)
    elif m["dir"]:
        begins, ends = _directed(feast, m["dir"], context, context.tense(m))
    else:
        begins, ends = by_tense(feast, context.said, context.tense(m), near=True)
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.9 if year or m["dir"] else 0.7, cycle=None if year or m["dir"] else "year")


def _year(m: re.Match[str], context: Context) -> Reading:
    year = int(m["y"])
    part_name = m["p"] or m["p2"]
    if part_name:
        part = EN_PART_NAMES[part_name]
        begins, ends = part_of_year(year, part)
        return Reading(begins=begins, ends=ends, grain="season", confidence=0.85, closes=part == "end")
    begins, ends = months(year, 1, 13)
    return Reading(begins=begins, ends=ends, grain="year", confidence=0.9, weak=not m["sure"])


def _years_range(m: re.Match[str], context: Context) -> Reading | None:
    first, last = int(m["a"]), int(m["b"])
    if first > last:
        return None
    return Reading(begins=months(first, 1, 13)[0], ends=months(last, 1, 13)[1], grain="year", confidence=0.85, kind="during")


def _decade(m: re.Match[str], context: Context) -> Reading:
    digits = int(m["dec"])
    year = int(m["century"]) * 100 + digits if m["century"] else (2000 if digits < 30 else 1900) + digits
    first, last = {"early": (0, 3), "mid": (3, 7), "late": (7, 10)}.get(m["p"] or "", (0, 10))
    return Reading(begins=months(year + first, 1, 13)[0], ends=months(year + last - 1, 1, 13)[1], grain="decade", confidence=0.8)


def _quarter(m: re.Match[str], context: Context) -> Reading:
    number = int(m["q"]) if m["q"] else EN_ORDINALS[m["nth"]]
    first = number * 3 - 2
    year = _year_in(m, context)

    def of(y: int) -> Interval:
        return months(y, first, first + 3)

    begins, ends = of(year) if year is not None else by_tense(of, context.said, context.tense(m), near=False)
    return Reading(begins=begins, ends=ends, grain="season", confidence=0.9 if year is not None else 0.6, cycle=None if year is not None else "year")


def _clock(m: re.Match[str], context: Context) -> Reading | None:
    hour = int(m["h"])
    if not 1 <= hour <= 12:
        return None
    part = DayPart(12, 24, pm=True) if m["half"] == "p" else DayPart(0, 12)
    hour = hour % 12 + (12 if part.pm else 0)
    return at_clock(hour, int(m["mi"]) if m["mi"] else None, None, context, tense=context.tense(m), weak=False, literal=True)


def _named_clock(m: re.Match[str], context: Context) -> Reading:
    hour = 12 if m["named"] in {"noon", "midday"} else 24
    return at_clock(hour, None if hour == 12 else 0, None, context, tense=context.tense(m), weak=False, literal=True)


def _spoken_clock(m: re.Match[str], context: Context) -> Reading | None:
    """`at 9`, `five o'clock`, `half past three`, `quarter to six`."""
    count = en_number(m["h"])
    if count is None or not 1 <= count <= 12:
        return None
    hour = int(count)
    past = group(m, "past")
    minute = None
    if past:
        minute = {"half": 30, "quarter": 15, "a quarter": 15, "ten": 10, "twenty": 20, "five": 5}[past]
        if m["to"] == "to":
            hour, minute = (hour - 1) or 12, 60 - minute
    return at_clock(hour, minute, None, context, tense=context.tense(m), weak=not past and not group(m, "sure"))


def _vague(m: re.Match[str], context: Context) -> Reading:
    first, last = VAGUE[m["vague"]]
    begins = context.said if first == 0 else context.today + timedelta(days=first)
    ends = context.said if last == 0 else context.today + timedelta(days=last)
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.3, kind="vague")


def _just_now(m: re.Match[str], context: Context) -> Reading:
    return Reading(begins=context.said - timedelta(hours=1), ends=context.said, grain="hour", confidence=0.5, kind="vague")


def _frequency(m: re.Match[str], context: Context) -> Reading:
    unit: Unit = next((u for word, u in EN_UNITS.items() if word in m[0] and len(word) > 3), "day")
    return Reading(begins=None, ends=None, grain=GRAIN_OF[unit], confidence=0.8, kind="frequency")


def _now(m: re.Match[str], context: Context) -> Reading:
    return Reading(begins=context.said, ends=context.said, grain="instant", role="now", weak=True)


def _forms(names: object) -> list[str]:
    return sorted({w for name in names for w in re.findall(r"[a-z]+", name)})  # type: ignore[attr-defined]


_UNIT_CUES: Final = [*EN_UNITS, *(u + "s" for u in EN_UNITS)]
_NUMBERED: Final = "in within for over past last next coming previous"
_YEAR_AFTER: Final = r"(?:,? ?(?:of |in )?(?P<y>(?:19|20)[0-9]{2})(?![0-9])|,? '(?P<yy>[0-9]{2})(?![0-9])| (?:of )?(?P<ydir>last|this|next) year)?"
_KIND: Kind = "when"
PATTERNS: Final[tuple[Pattern, ...]] = (
    pattern("day", "yesterday today tomorrow".split(), rf"{_B}(?P<day>(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|today|tomorrow){_E}", _day),
    pattern("part of day", "morning afternoon evening night tonight".split(), rf"{_B}(?:early |late |later )?(?:(?P<day>yesterday|tomorrow|this|last|today) {_PART}|tonight){_E}", _part_of_day),
    pattern("bare part", "morning afternoon evening night noon".split(), rf"{_B}(?:in the |during the |at (?=night))?(?:early |late )?{_PART}{_E}", _bare_part),
    pattern("named unit", "last past previous this current next coming following".split(), rf"{_B}{_PART_OF}?(?:the )?{_DIR} (?P<u>week|month|quarter|year|decade){_E}", _week),
    pattern("end of this", "week month quarter year day".split(), rf"{_B}(?:(?P<p>early|mid|late)[ -](?:in )?the |(?:the )?(?:very )?(?P<p2>beginning|start|middle|end) of the )(?P<u>week|month|quarter|year|day){_E}", _end_of_this),
    pattern("two away", ["before", "after"], rf"{_B}(?:the )?(?P<u>week|month|year|weekend|{words(w for w in EN_WEEKDAYS if len(w) > 5)}) (?P<which>before last|after next){_E}", _two_away),
    pattern("weekday", EN_WEEKDAYS, rf"{_B}(?:the )?(?:{_DIR} )?{_WD}{_E}(?:,? (?:of )?(?P<week>last|this|next) week{_E})?", _weekday),
    pattern("weekend", ["weekend"], rf"{_B}(?:the )?(?:{_DIR} )?weekend{_E}", _weekend),
    pattern("month", EN_MONTHS, rf"{_B}{_PART_OF}?(?:the )?(?:{_DIR} )?{_MONTH}(?![a-z])(?: (?:the )?{_DAY}(?:st|nd|rd|th)?(?![0-9a-z:]| ?[ap]\.?m)| (?P<rel>of )(?=last|this|next))?{_YEAR_AFTER}", _month),
    pattern("day month", EN_MONTHS, rf"{_B}(?:the )?{_DAY}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?![a-z]){_YEAR_AFTER}", _month),
    pattern("day of month", "st nd rd th".split() + ["month", "the"], rf"{_B}(?:the )?{_DAY}(?:st|nd|rd|th){_E}(?: (?:of )?(?:the )?{_DIR} month{_E})?", _day_of_month),
    pattern("month's day", ["month"], rf"{_B}{_DIR} month on the {_DAY}(?:st|nd|rd|th){_E}", _day_of_month),
    pattern("nth", EN_ORDINALS, rf"{_B}(?:the )?(?P<nth>{words(EN_ORDINALS)}) (?:(?P<wd>{words(EN_WEEKDAYS)})|week) (?:of|in) (?:{_MONTH}(?![a-z]){_YEAR_AFTER}|(?:the )?(?P<dir>last|this|next) month{_E})", _nth),
    pattern("season", "spring summer autumn fall winter".split(), rf"{_B}(?:(?:in|during|over|throughout) (?:the )?(?=[a-z]+(?! of| ?,? ?[0-9]{{4}}))|(?:the )?(?=(?:{_DIRS}) )|(?:the )?(?=[a-z]+,? (?:of )?[0-9]{{4}})|(?:the )?(?=[a-z]+ of (?:last|this|next) year))(?:{_DIR} )?{_SEASON}(?![a-z]){_YEAR_AFTER}", _season),
    pattern("feast", _forms(EN_FEASTS), rf"{_B}(?:the )?(?:{_DIR} (?:year's )?)?(?P<feast>{words(EN_FEASTS)})(?![a-z]){_YEAR_AFTER}", _feast),
    pattern("year", "0123456789", rf"(?<![0-9a-z./:#$€£¥-])(?:{_PART_OF}|(?P<sure>the year |year ))?(?P<y>19[0-9]{{2}}|20[0-9]{{2}})(?![0-9a-z%年]|[-./:,][0-9])", _year),
    pattern("years range", "0123456789", rf"(?<![0-9a-z./:#$-])(?P<a>(?:19|20)[0-9]{{2}}) ?(?:-|–|—|to|through|until|till) ?(?P<b>(?:19|20)[0-9]{{2}})(?![0-9a-z]|[-./:][0-9])", _years_range),
    pattern("decade", "0123456789", rf"{_B}(?:the )?(?:(?P<p>early|mid|late)[ -])?(?:(?P<century>19|20)|(?<=the )'?|(?<=the early )'?|(?<=the mid )'?|(?<=the late )'?|(?<=the mid-)'?)(?P<dec>[0-9]0)'?s{_E}", _decade),
    pattern("quarter", ["quarter", "q"], rf"{_B}(?:q(?P<q>[1-4])|(?:the )?(?P<nth>first|second|third|fourth|last) quarter){_E}{_YEAR_AFTER}", _quarter),
    pattern("ago", ["ago", "back", "earlier"], rf"{_B}(?:about |around |roughly |almost |nearly |over |more than |just )?{LENGTH} (?:ago|back){_E}", _ago),
    pattern("ahead", ["in"], rf"{_B}(?P<in>in) (?:about |around |just |another )?{LENGTH}(?:'s?)?(?: time)?(?: from now)?{_E}", _ahead),
    pattern("from now", ["from"], rf"{_B}{LENGTH} from now{_E}", _ahead),
    pattern("within", ["within"], rf"{_B}within (?:the next )?{LENGTH}{_E}", _within),
    pattern("span", _NUMBERED.split(), rf"{_B}(?:(?:in|over|for|during|within) )?(?:the )(?P<dir>last|past|previous|next|coming|following) (?:(?P<n>{EN_NUMBER}) )?(?P<u>{_UNIT})s?(?: or so)?{_E}", _span),
    pattern("counted span", _NUMBERED.split(), rf"{_B}(?:(?:in|over|for|during|within) )?(?:the )?(?P<dir>last|past|previous|next|coming|following) (?P<n>{EN_NUMBER}) (?P<u>{_UNIT})s?{_E}", _span),
    pattern("lasting", ["for"], rf"{_B}for (?:about |around |another |almost |nearly |over |the whole |more than |at least )?{LENGTH}(?: now)?{_E}", _lasting),
    pattern("hanging length", ["from", "before", "after"], rf"{_B}{LENGTH}(?= (?:from|before|after) )", _hanging),
    pattern("clock", ["am", "pm", "m", "a", "p"], r"(?<![0-9a-z.:/])(?P<h>1[0-2]|0?[1-9])(?::(?P<mi>[0-5][0-9]))? ?(?P<half>[ap])\.?m(?:\.(?!\s*$)|(?![a-z]))", _clock),
    pattern("named clock", ["noon", "midday", "midnight"], rf"{_B}(?P<named>noon|midday|midnight){_E}", _named_clock),
    pattern("o'clock", ["clock"], rf"{_B}(?P<h>{EN_NUMBER}) (?P<sure>o'clock){_E}", _spoken_clock),
    pattern("past the hour", ["past", "to"], rf"{_B}(?P<past>half|(?:a )?quarter|ten|twenty|five) (?P<to>past|to) (?P<h>{EN_NUMBER}){_E}(?! (?:o'clock )?(?:{_UNIT}))", _spoken_clock),
    pattern("at the hour", ["at", "around", "by"], r"(?<=at )(?P<h>1[0-2]|[1-9])(?![0-9a-z:/%]|\.[0-9]| ?[ap]\.?m| [a-z]+s(?![a-z]))", _spoken_clock),
    pattern("vague", _forms(w for w in VAGUE if w[0] < "{"), rf"{_B}(?P<vague>{words(w for w in VAGUE if w[0] < '{')}){_E}", _vague),
    pattern("just now", ["now", "ago"], rf"{_B}(?:{words(w for w in JUST_NOW if w[0] < '{')}){_E}", _just_now),
    pattern(
        "frequency", "every each daily weekly monthly yearly annually nightly once twice times on weekends weekdays".split(),
        rf"{_B}(?:(?:once|twice|[a-z0-9]+ times) (?:a|an|per|every|each) (?:day|week|month|year|hour)|(?:every|each) (?:other |single |few |[0-9]+ |two |three |four )?(?:(?:{words(EN_WEEKDAYS)})(?: (?:morning|afternoon|evening|night))?(?:,? and (?:{words(EN_WEEKDAYS)}))?|(?:{_UNIT})s?|weekend|morning|afternoon|evening|spring|summer|autumn|fall|winter|(?:{words(m for m in EN_MONTHS if len(m) > 3)})|christmas|weekday)|daily|weekly|monthly|yearly|annually|nightly|(?:on )?(?:(?:{words(w for w in EN_WEEKDAYS if len(w) > 5)})s|weekends|weekdays)){_E}",
        _frequency,
    ),
    pattern("now", ["now", "present", "today"], rf"{_B}(?:right now|now|the present|present)(?= *[.,;!?]|$|(?<=now) on)", _now),
)
