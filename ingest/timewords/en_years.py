"""English: years and their parts, seasons, quarters, decades, feasts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from .calendar import Interval, Unit, by_tense, months
from .en_words import BEGIN, DIRECTION, DIRECTIONS, END, PART_OF, STEPS, YEAR_AFTER, year_in
from .grammar import Context, Pattern, Reading, pattern, words
from .holidays import EN_FEASTS
from .lexicon import EN_PART_NAMES, NOT_OF_FEAST, SEASONS
from .numbers import EN_ORDINALS
from .parts import directed, part_of_quarter, part_of_year, season_of

_SEASON: Final = r"(?P<s>spring|summer|autumn|fall|winter)"


def _season(m: re.Match[str], context: Context) -> Reading:
    first = SEASONS[m["s"]]

    def of(y: int) -> Interval:
        return season_of(y, first)

    tense = context.tense(m)
    year = year_in(m, context)
    if year is not None:
        begins, ends = of(year)
    elif m["dir"]:
        begins, ends = directed(of, STEPS[m["dir"]], context, tense or "future")
    elif tense is None and m[0].startswith("in"):
        return Reading(begins=None, ends=None, grain="season", confidence=0.4, kind="frequency")
    else:
        begins, ends = by_tense(of, context.said, tense or "future", near=False)
    return Reading(begins=begins, ends=ends, grain="season", confidence=0.8 if year is not None or m["dir"] else 0.5)


def _feast(m: re.Match[str], context: Context) -> Reading:
    feast = EN_FEASTS[m["feast"]]
    year = year_in(m, context)
    if year is not None:
        begins, ends = feast(year)
    elif m["dir"]:
        begins, ends = directed(feast, STEPS[m["dir"]], context, context.tense(m))
    else:
        begins, ends = by_tense(feast, context.said, context.tense(m), near=True)
    placed = year is not None or bool(m["dir"])
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.9 if placed else 0.7, cycle=None if placed else "year")


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
    begins, ends = months(year + first, 1, 13)[0], months(year + last - 1, 1, 13)[1]
    return Reading(begins=begins, ends=ends, grain="decade", confidence=0.8)


def _quarter(m: re.Match[str], context: Context) -> Reading:
    """`Q2 2025`, `the end of the third quarter`."""
    number = int(m["q"]) if m["q"] else EN_ORDINALS[m["nth"]]
    first = number * 3 - 2
    year = year_in(m, context)

    def of(y: int) -> Interval:
        return months(y, first, first + 3)

    begins, ends = of(year) if year is not None else by_tense(of, context.said, context.tense(m), near=False)
    cycle: Unit | None = None if year is not None else "year"
    confidence = 0.9 if year is not None else 0.6
    part_name = m["p"] or m["p2"]
    if part_name:
        part = EN_PART_NAMES[part_name]
        begins, ends = part_of_quarter(begins, part)
        return Reading(begins=begins, ends=ends, grain="month", confidence=confidence, closes=part == "end", cycle=cycle)
    return Reading(begins=begins, ends=ends, grain="season", confidence=confidence, cycle=cycle)


def _cues(names: Iterable[str]) -> set[str]:
    return {w for name in names for w in re.findall(r"[a-z]+", name)}


PATTERNS: Final[tuple[Pattern, ...]] = (
    pattern(
        "season", "spring summer autumn fall winter".split(),
        rf"{BEGIN}(?:(?:in|during|over|throughout) (?:the )?(?=[a-z]+(?! of| ?,? ?[0-9]{{4}}))|(?:the )?(?=(?:{DIRECTIONS}) )"
        r"|(?:the )?(?=[a-z]+,? (?:of )?[0-9]{4})|(?:the )?(?=[a-z]+ of (?:last|this|next) year))"
        rf"(?:{DIRECTION} )?{_SEASON}(?![a-z]){YEAR_AFTER}", _season,
    ),
    pattern(
        "feast", _cues(EN_FEASTS),
        rf"{BEGIN}(?:the )?(?:{DIRECTION} (?:year's )?)?(?P<feast>{words(EN_FEASTS)})(?![a-z]| (?:{words(NOT_OF_FEAST)})(?![a-z])){YEAR_AFTER}", _feast,
    ),
    pattern(
        "year", "0123456789",
        rf"(?<![0-9a-z./:#$€£¥-])(?:{PART_OF}|(?P<sure>the year |year ))?(?P<y>19[0-9]{{2}}|20[0-9]{{2}})(?![0-9a-z%年]"
        r"|[-./:,][0-9])", _year,
    ),
    pattern(
        "years range", "0123456789",
        r"(?<![0-9a-z./:#$-])(?P<a>(?:19|20)[0-9]{2}) ?(?:-|–|—|to|through|until|till) ?(?P<b>(?:19|20)[0-9]{2})(?![0-9a-z]"
        r"|[-./:][0-9])", _years_range,
    ),
    pattern(
        "decade", "0123456789",
        rf"{BEGIN}(?:the )?(?:(?P<p>early|mid|late)[ -])?(?:(?P<century>19|20)|(?<=the )'?|(?<=the early )'?|(?<=the mid )'?|"
        rf"(?<=the late )'?|(?<=the mid-)'?)(?P<dec>[0-9]0)'?s{END}", _decade,
    ),
    pattern(
        "quarter", ["quarter", "q"],
        rf"{BEGIN}{PART_OF}?(?:q(?P<q>[1-4])|(?:the )?(?P<nth>first|second|third|fourth) quarter){END}{YEAR_AFTER}", _quarter,
    ),
)
