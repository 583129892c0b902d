"""Chinese: feasts and dates of the lunar calendar."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from .calendar import Interval, by_tense
from .grammar import Context, Pattern, Reading, pattern, words
from .holidays import ZH_FEASTS, ZH_HOLIDAYS_LAST, lunar
from .lexicon import GIVEN_NAMES, SURNAMES
from .numbers import zh_int
from .spans import Kind
from .zh import DAY_NUMBER, DIGIT_MONTH, YEAR, year_of

_LUNAR_MONTHS: Final = {"正": 1, "冬": 11, "腊": 12}


def _feast(m: re.Match[str], context: Context) -> Reading | None:
    before = context.text[m.start() - 1 : m.start()]
    if m["feast"] in GIVEN_NAMES and before in SURNAMES and not m["holiday"]:
        return None
    feast = ZH_FEASTS[m["feast"]]
    year = year_of(m, context)
    tense = context.tense(m)
    begins, ends = feast(year) if year is not None else by_tense(feast, context.said, tense, near=True)
    kind: Kind = "when"
    if m["holiday"] or m["feast"].startswith("十一"):
        ends, kind = begins + timedelta(days=ZH_HOLIDAYS_LAST.get(feast, 3)), "during"
    placed = year is not None
    return Reading(
        begins=begins, ends=ends, grain="day", kind=kind, confidence=0.9 if placed else 0.7, cycle=None if placed else "year",
    )


def _lunar_date(m: re.Match[str], context: Context) -> Reading | None:
    if m["new"]:
        month, day = 1, zh_int(m["new"])
    elif not (m["mark"] or m["lm"] in _LUNAR_MONTHS or m["ld"].startswith("初")):
        return None
    else:
        month = _LUNAR_MONTHS.get(m["lm"]) or zh_int(m["lm"])
        day = zh_int(m["ld"].removeprefix("初").removesuffix("号").removesuffix("日"))
    year = year_of(m, context)

    def of(y: int) -> Interval:
        return lunar(y, month, day)

    begins, ends = of(year) if year is not None else by_tense(of, context.said, context.tense(m), near=True)
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.9 if year is not None else 0.7)


PATTERNS: Final[tuple[Pattern, ...]] = (
    pattern(
        "feast", "节夕庆旦宵明午秋阳年一至夜八二1诞大",
        rf"(?:{YEAR}的?)?(?P<feast>{words(ZH_FEASTS)})(?P<holiday>期间|假期|长假|放假|小长假|黄金周)?(?:当天|那天)?", _feast,
    ),
    pattern(
        "lunar date", "月初",
        rf"(?:{YEAR}的?)?(?:大年初(?P<new>[一二三四五六七八九十])|(?P<mark>农历|阴历)?(?P<lm>[正冬腊]|(?<![0-9零一二三四五六七八九十])(?:{DIGIT_MONTH}))月"
        rf"(?P<ld>初[一二三四五六七八九十]|{DAY_NUMBER})[日号]?)", _lunar_date,
    ),
)
