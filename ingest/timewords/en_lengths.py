"""English: lengths counted from now, vague words, what comes again and again."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from . import lengths
from .calendar import Unit, bare_weekday, named
from .en_words import BEGIN, END, FULL_WEEKDAYS, UNIT
from .grammar import Context, Pattern, Reading, group, pattern, words
from .lengths import Length
from .lexicon import EN_MONTHS, EN_UNITS, EN_WEEKDAYS, GRAIN_OF, JUST_NOW, VAGUE
from .numbers import EN_NUMBER, en_number
from .vague import just_now, vague

LENGTH: Final = rf"(?P<n>{EN_NUMBER})[ -](?:more )?(?P<u>{UNIT})s?(?P<tail> and a half)?"


def _length(m: re.Match[str]) -> Length:
    number, unit = m["n"], EN_UNITS[m["u"]]
    if number is None:
        return Length(unit, None if group(m, "many") else 1.0)
    count = en_number(number)
    if count is None:
        return Length(unit, None)
    count += 0.5 if group(m, "tail") else 0.0
    return Length(unit, count * 2 if m["u"] == "fortnight" else count)


def _ago(m: re.Match[str], context: Context) -> Reading:
    return lengths.away(context, _length(m), -1)


def _weekends_ago(m: re.Match[str], context: Context) -> Reading | None:
    """`two weekends ago`"""
    count = en_number(m["n"])
    if count is None:
        return None
    begins, ends = named(context.said, "week", -int(count))
    return Reading(begins=begins + timedelta(days=5), ends=ends, grain="day", confidence=0.85)


def _weekdays_ago(m: re.Match[str], context: Context) -> Reading | None:
    """`two Fridays ago`"""
    count = en_number(m["n"])
    if count is None:
        return None
    begins, ends = bare_weekday(context.said, EN_WEEKDAYS[m["wd"]], "past")
    back = timedelta(days=7 * (int(count) - 1))
    return Reading(begins=begins - back, ends=ends - back, grain="day", confidence=0.85)


def _ahead(m: re.Match[str], context: Context) -> Reading | None:
    """`in two weeks`; of something past it is how long that took, and no time."""
    if group(m, "in") and context.tense(m) == "past":
        return None
    return lengths.away(context, _length(m), 1)


def _within(m: re.Match[str], context: Context) -> Reading:
    return lengths.within(context, _length(m), context.tense(m))


def _past_span(m: re.Match[str], context: Context) -> Reading:
    return lengths.behind(context, _length(m))


def _coming_span(m: re.Match[str], context: Context) -> Reading:
    return lengths.ahead(context, _length(m))


_PERFECT: Final = re.compile(
    r"(?<![a-z])(?:have|has|haven't|hasn't)(?![a-z])(?: [a-z]+){0,6} *$|(?<=[a-z])'(?:ve|s)(?= been| lived| worked| had"
    r"| known)[a-z ]*$"
    r"|(?<=[a-z])'ve (?:[a-z]+ ?){0,6}$"
)


def _lasting(m: re.Match[str], context: Context) -> Reading:
    """`for two weeks`: since then after "have been"; a guess of the past; else from now on."""
    length = _length(m)
    if _PERFECT.search(context.text, max(0, m.start() - 80), m.start()):
        return lengths.still(context, length)
    return lengths.lasting(context, length, context.tense(m))


def _hanging(m: re.Match[str], context: Context) -> Reading | None:
    """`two weeks` before `from Monday`: counted when the date is known."""
    length = _length(m)
    if length.count is None:
        return None
    return Reading(
        begins=context.said, ends=context.said, grain="day", role="length", length=(length.unit, length.count), weak=True,
    )


def _vague(m: re.Match[str], context: Context) -> Reading:
    return vague(m["vague"], context)


def _just_now(m: re.Match[str], context: Context) -> Reading:
    return just_now(context)


def _frequency(m: re.Match[str], context: Context) -> Reading:
    unit: Unit = next((u for word, u in EN_UNITS.items() if word in m[0] and len(word) > 3), "day")
    return Reading(begins=None, ends=None, grain=GRAIN_OF[unit], confidence=0.8, kind="frequency")


def _cues(names: list[str]) -> set[str]:
    return {w for name in names for w in name.split()}


_VAGUE: Final = [w for w in VAGUE if w.isascii()]
_JUST_NOW: Final = [w for w in JUST_NOW if w.isascii()]
_ABOUT: Final = r"(?:about |around |roughly |almost |nearly |over |more than |at least |just |another )?"
_OVER: Final = r"(?:(?:in|over|for|during|within) )?"
_BACK: Final = r"(?:last|past|previous)"
_ON: Final = r"(?:next|coming|following)"
_SOME: Final = rf"(?:(?P<n>{EN_NUMBER}) )?(?P<u>{UNIT})(?P<many>s)?(?: or so)?"
_COUNTED: Final = rf"(?P<n>{EN_NUMBER}) (?P<u>{UNIT})s?"
_MONTHS: Final = words(m for m in EN_MONTHS if len(m) > 3)
_PARTS: Final = "morning|afternoon|evening|night"
_AGAIN: Final = (
    r"(?:(?:once|twice|[a-z0-9]+ times) (?:a|an|per|every|each) (?:day|week|month|year|hour)"
    rf"|(?:every|each) (?:other |single |few |[0-9]{{1,3}} |two |three |four )?(?:(?:{FULL_WEEKDAYS})(?: (?:{_PARTS}))?"
    rf"(?:,? and (?:{FULL_WEEKDAYS}))?|{UNIT}s?|weekend|{_PARTS}|spring|summer|autumn|fall|winter|{_MONTHS}|christmas|weekday)"
    r"|daily|weekly|monthly|yearly|annually|nightly"
    rf"|(?:on )?(?:(?:{FULL_WEEKDAYS})s|weekends|weekdays)|(?:on |in the |(?:on )?(?:{FULL_WEEKDAYS}) )(?:{_PARTS})s)"
)
_AGAIN_CUES: Final = (
    "every each daily weekly monthly yearly annually nightly once twice times weekends weekdays "
    "mornings afternoons evenings nights"
).split() + [w + "s" for w in EN_WEEKDAYS]
PATTERNS: Final[tuple[Pattern, ...]] = (
    pattern("ago", ["ago", "back"], rf"{BEGIN}{_ABOUT}{LENGTH} (?:ago|back)(?: today)?{END}", _ago),
    pattern("weekdays ago", ["ago"], rf"{BEGIN}(?P<n>{EN_NUMBER}) (?P<wd>{FULL_WEEKDAYS})s ago{END}", _weekdays_ago),
    pattern("weekends ago", ["ago"], rf"{BEGIN}(?P<n>{EN_NUMBER}) weekends? ago{END}", _weekends_ago),
    pattern("it has been", ["been"], rf"{BEGIN}it(?:'s| has) been {_ABOUT}{LENGTH}(?= since)", _ago),
    pattern("ahead", ["in"], rf"{BEGIN}(?P<in>in) {_ABOUT}{LENGTH}(?:'s?)?(?: time)?(?: from now)?{END}", _ahead),
    pattern("from now", ["from"], rf"{BEGIN}{LENGTH} from now{END}", _ahead),
    pattern("within", ["within"], rf"{BEGIN}within (?:the next )?{LENGTH}{END}", _within),
    pattern("past span", ["last", "past", "previous"], rf"{BEGIN}{_OVER}the {_BACK} {_SOME}{END}", _past_span),
    pattern("counted past span", ["last", "past", "previous"], rf"{BEGIN}{_OVER}{_BACK} {_COUNTED}{END}", _past_span),
    pattern("coming span", ["next", "coming", "following"], rf"{BEGIN}{_OVER}the {_ON} {_SOME}{END}", _coming_span),
    pattern("counted coming span", ["next", "coming", "following"], rf"{BEGIN}{_OVER}{_ON} {_COUNTED}{END}", _coming_span),
    pattern("lasting", ["for"], rf"{BEGIN}for (?:the whole )?{_ABOUT}{LENGTH}(?: now)?{END}", _lasting),
    pattern("hanging length", ["from", "before", "after"], rf"{BEGIN}{LENGTH}(?= (?:from|before|after) )", _hanging),
    pattern("vague", _cues(_VAGUE), rf"{BEGIN}(?P<vague>{words(_VAGUE)}){END}", _vague),
    pattern("just now", ["now", "ago"], rf"{BEGIN}(?:{words(_JUST_NOW)}){END}", _just_now),
    pattern("frequency", _AGAIN_CUES, rf"{BEGIN}{_AGAIN}{END}", _frequency),
)
