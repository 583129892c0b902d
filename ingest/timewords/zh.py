"""Chinese: days, weeks, months, years and ranges of them."""

from __future__ import annotations

import re
from typing import Final

from .calendar import (
    DAY,
    Interval,
    add_months,
    bare_weekday,
    by_tense,
    date,
    full_year,
    months,
    named,
    nth_weekday,
    weekday_in_week,
    whole_day,
)
from .grammar import Context, Pattern, Reading, group, pattern
from .lexicon import SEASONS, ZH_DAYS, ZH_PART_NAMES, ZH_WEEKDAYS, ZH_YEARS
from .numbers import zh_int
from .parts import day_of_month, directed, part_of_month, part_of_year, season_of, weekend
from .spans import Kind, Tense

_Y4: Final = r"[12][0-9]{3}|[一二][零〇一二三四五六七八九]{3}"
YEAR: Final = (
    rf"(?:(?<![0-9.])(?:(?P<y>{_Y4})|(?P<yy>[0-9]{{2}}))\s?年"
    r"|(?P<ry>大前|(?<![以之目])前|(?<![过出回进])去|今|(?<![根成基样副文])本|(?<![说证表标注声])明|大后|(?<![以之最然])后|(?<![以])上一?|(?<![以])下一?|来)年)"
)
DIGIT_MONTH: Final = r"1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]"
MONTH: Final = rf"(?<![0-9.零〇一二三四五六七八九十第])(?P<m>{DIGIT_MONTH})\s?月份?(?![天球饼])"
_DIRECTION: Final = r"(?<![马以晚早路网线地身史加])上+|(?<![以一等楼时])下+|这|本(?!身|人)|当"
REL_MONTH: Final = rf"(?P<rm>{_DIRECTION})(?:一?个)?月份?(?!球|饼|经)"
DAY_NUMBER: Final = r"[12][0-9]|3[01]|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|廿[一二三四五六七八九]?|[一二三四五六七八九]"
_MONTH_DAY: Final = (
    rf"(?:(?P<d>{DAY_NUMBER})\s?[日号](?!线|楼)|(?P<d2>[0-9]{{1,2}})(?![0-9.:：点时个天年月周次人块元%/-])"
    r"|(?P<p>上旬|中旬|下旬|初(?!一|二|三|四|五|六|七|八|九|十)|头(?!条)|中(?![国文秋心学午间关医餐奖])|底|末|尾)"
    r"|(?P<edge>第一天|最后一天|最后一周)"
    r"|第(?P<wk>[一二三四五])个?(?:周|星期|礼拜)(?P<wkd>[一二三四五六日天])?)"
)
_WEEK: Final = r"(?:周|星期|礼拜)"
_WEEKDAY: Final = r"(?P<wd>[一二三四五六日]|(?<!周)天|[1-7](?![0-9.]))(?!鸣|杰|凡)"
def _day(m: re.Match[str], context: Context) -> Reading:
    word = m["day"]
    sign = ZH_DAYS[word[-1]]
    begins, ends = whole_day(context.said + DAY * (sign + (word.count("大") if sign > 0 else -word.count("大"))))
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.95)


def _steps(direction: str) -> int:
    return len(direction) if direction.startswith("下") else -len(direction) if direction.startswith("上") else 0


def _week(m: re.Match[str], context: Context) -> Reading:
    steps = _steps(m["dir"])
    if m["wd"]:
        begins, ends = weekday_in_week(context.said, ZH_WEEKDAYS[m["wd"]], steps)
        return Reading(begins=begins, ends=ends, grain="day", confidence=0.95)
    begins, ends = named(context.said, "week", steps)
    if m["end"]:
        return Reading(begins=begins + DAY * 5, ends=ends, grain="day", confidence=0.9)
    return Reading(begins=begins, ends=ends, grain="week", confidence=0.9, kind="when" if steps else "during")


def _weekday(m: re.Match[str], context: Context) -> Reading:
    begins, ends = bare_weekday(context.said, ZH_WEEKDAYS[m["wd"]], context.tense(m))
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.7, cycle="week")


def _bare_weekend(m: re.Match[str], context: Context) -> Reading:
    begins, ends = weekend(context, context.tense(m))
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.4, kind="vague", cycle="week")


def year_of(m: re.Match[str], context: Context) -> int | None:
    four, two, relative = group(m, "y"), group(m, "yy"), group(m, "ry")
    if four:
        return zh_int(four)
    if two:
        return full_year(int(two), context.said)
    return context.said.year + ZH_YEARS[relative] if relative else None


def _month(m: re.Match[str], context: Context) -> Reading | None:
    """A month, named or relative, with an optional year before and a day or part after."""
    month_word, direction = group(m, "m"), group(m, "rm")
    if month_word:
        month = zh_int(month_word)
        year = year_of(m, context)
    else:
        at = add_months(context.today.replace(day=1), _steps(direction or ""))
        year, month = at.year, at.month
    day_word = m["d"] or m["d2"]
    day = zh_int(day_word) if day_word else None
    part = ZH_PART_NAMES[m["p"]] if m["p"] else None

    def of(y: int) -> Interval:
        if day is not None:
            return date(y, month, day)
        if part is not None:
            return part_of_month(y, month, part)
        if m["wkd"]:
            return nth_weekday(y, month, ZH_WEEKDAYS[m["wkd"]], zh_int(m["wk"]))
        if m["edge"]:
            begins, ends = months(y, month, month + 1)
            return whole_day(begins) if m["edge"] == "第一天" else (ends - DAY * (7 if m["edge"] == "最后一周" else 1), ends)
        if m["wk"]:
            first = date(y, month, 7 * zh_int(m["wk"]) - 6)[0]
            return first, min(first + DAY * 7, months(y, month, month + 1)[1])
        return months(y, month, month + 1)

    exact = day is not None or bool(m["wkd"]) or (m["edge"] or "").endswith("天")
    if year is None:
        tense = context.tense(m)
        begins, ends = by_tense(of, context.said, tense, near=exact)
        confidence = 0.8 if tense else 0.6
    else:
        begins, ends = of(year)
        confidence = 0.7 if group(m, "yy") else 0.95
    whole = not exact and part is None and not m["wk"] and not m["edge"]
    kind: Kind = "during" if direction and whole and _steps(direction) == 0 else "when"
    return Reading(
        begins=begins, ends=ends, grain="day" if exact else "month" if whole else "week", confidence=confidence, kind=kind,
        closes=part == "end", cycle="year" if year is None else None,
    )


def _bare_part_of_month(m: re.Match[str], context: Context) -> Reading:
    part = ZH_PART_NAMES[m["p"]]
    tense = context.tense(m)
    at = context.today.replace(day=1)
    begins, ends = part_of_month(at.year, at.month, part)
    if tense == "past" and begins > context.said:
        at = add_months(at, -1)
    elif tense == "future" and ends <= context.said:
        at = add_months(at, 1)
    begins, ends = part_of_month(at.year, at.month, part)
    return Reading(begins=begins, ends=ends, grain="week", confidence=0.7, closes=part == "end", cycle="month")


def _bare_part_of_year(m: re.Match[str], context: Context) -> Reading:
    part = ZH_PART_NAMES[m["p"]]
    tense = context.tense(m)
    year = context.said.year
    begins, ends = part_of_year(year, part)
    if tense == "past" and begins > context.said:
        year -= 1
    elif tense == "future" and ends <= context.said:
        year += 1
    begins, ends = part_of_year(year, part)
    return Reading(begins=begins, ends=ends, grain="season", confidence=0.7, closes=part == "end", cycle="year")


def _year(m: re.Match[str], context: Context) -> Reading | None:
    """A year, with an optional season, half, quarter or part."""
    year = year_of(m, context)
    if year is None:
        return None
    confidence = 0.95
    weak = False
    season, quarter, part_name = group(m, "s"), group(m, "q") or group(m, "q4"), group(m, "p")
    if season:
        begins, ends = season_of(year, SEASONS[season])
        if m["ry"] in {"去", "上", "上一"} and ends > context.said:
            begins, ends = season_of(year - 1, SEASONS[season])
        return Reading(begins=begins, ends=ends, grain="season", confidence=0.85)
    if quarter:
        first = zh_int(quarter) * 3 - 2
        begins, ends = months(year, first, first + 3)
        return Reading(begins=begins, ends=ends, grain="season", confidence=confidence)
    if part_name:
        part = ZH_PART_NAMES[part_name]
        begins, ends = part_of_year(year, part)
        return Reading(begins=begins, ends=ends, grain="season", confidence=0.85, closes=part == "end")
    if m["yy"]:
        weak, confidence = not (m["yy"][0] == "0" or m["yy"] >= "80" or group(m, "then") is not None), 0.6
    begins, ends = months(year, 1, 13)
    kind: Kind = "during" if m["ry"] in {"今", "本"} else "when"
    return Reading(begins=begins, ends=ends, grain="year", confidence=confidence, kind=kind, weak=weak)


def _this_season(m: re.Match[str], context: Context) -> Reading:
    first = SEASONS[m["s"]]
    tense: Tense = "past" if context.tense(m) == "past" else "future"
    begins, ends = directed(lambda y: season_of(y, first), _steps(m["dir"]), context, tense)
    return Reading(begins=begins, ends=ends, grain="season", confidence=0.8)


def _quarter(m: re.Match[str], context: Context) -> Reading:
    if m["qdir"]:
        begins, ends = named(context.said, "quarter", _steps(m["qdir"]))
        return Reading(begins=begins, ends=ends, grain="season", kind="when" if _steps(m["qdir"]) else "during")
    first = zh_int(m["q"]) * 3 - 2
    begins, ends = by_tense(lambda y: months(y, first, first + 3), context.said, context.tense(m), near=False)
    return Reading(begins=begins, ends=ends, grain="season", confidence=0.7, cycle="year")


def _bare_half(m: re.Match[str], context: Context) -> Reading:
    begins, ends = part_of_year(context.said.year, ZH_PART_NAMES[m["p"]])
    return Reading(begins=begins, ends=ends, grain="season", confidence=0.7, cycle="year")


def _decade(m: re.Match[str], context: Context) -> Reading:
    digits = zh_int(m["dec"])
    if m["y"]:
        year = int(m["y"]) * 100 + digits
    else:
        year = (2000 if (m["c"] or "").startswith("本") else 1900) + digits
    begins, ends = months(year, 1, 13)[0], months(year + 9, 1, 13)[1]
    part = ZH_PART_NAMES.get(m["p"] or "")
    if part == "early":
        ends = months(year + 3, 1, 13)[0]
    elif part == "middle":
        begins, ends = months(year + 3, 1, 13)[0], months(year + 7, 1, 13)[0]
    elif part in {"late", "end"}:
        begins = months(year + 7, 1, 13)[0]
    return Reading(begins=begins, ends=ends, grain="decade", confidence=0.8)


def _day_of_month(m: re.Match[str], context: Context) -> Reading:
    begins, ends = day_of_month(zh_int(m["d"]), context, context.tense(m))
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.6, cycle="month", weak=m["mark"] == "日")


def _now(m: re.Match[str], context: Context) -> Reading:
    return Reading(begins=context.said, ends=context.said, grain="instant", role="now", weak=True)


def _years_range(m: re.Match[str], context: Context) -> Reading | None:
    first, last = zh_int(m["a"]), zh_int(m["b"])
    if first > last:
        return None
    return Reading(begins=months(first, 1, 13)[0], ends=months(last, 1, 13)[1], grain="year", confidence=0.85, kind="during")


def _months_range(m: re.Match[str], context: Context) -> Reading:
    first, last = zh_int(m["a"]), zh_int(m["b"])
    year = year_of(m, context)

    def of(y: int) -> Interval:
        return months(y, first, first + 1)[0], months(y if last >= first else y + 1, last, last + 1)[1]

    begins, ends = of(year) if year is not None else by_tense(of, context.said, context.tense(m), near=False)
    return Reading(begins=begins, ends=ends, grain="month", confidence=0.85, kind="during")


def _days_range(m: re.Match[str], context: Context) -> Reading:
    month, first, last = zh_int(m["m"]), zh_int(m["a"]), zh_int(m["b"])
    year = year_of(m, context)

    def of(y: int) -> Interval:
        return date(y, month, first)[0], date(y, month, last)[1]

    begins, ends = of(year) if year is not None else by_tense(of, context.said, context.tense(m), near=True)
    if begins >= ends:
        raise ValueError("a reversed range")
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.9, kind="during")


_TO: Final = r"\s*(?:到|至|-|~|–|—|－|～)\s*"
PATTERNS: Final[tuple[Pattern, ...]] = (
    pattern(
        "day", "天日晚早夜儿晨",
        r"(?P<day>(?<![以之目提])大{0,3}前(?=天(?!气)|晚|夜)|昨(?=[天日晚早夜儿])|今(?=[天日晚早夜儿晨])|明(?=[天日晚早夜儿晨])|(?<![以之然最今先])大{0,3}后(?=天|晚))"
        r"(?:[天日儿](?!头条|方舟)|(?=[晚早夜晨]))", _day,
    ),
    pattern("week", "周期拜", rf"(?P<dir>{_DIRECTION})(?:一?个)?{_WEEK}(?:{_WEEKDAY}|(?P<end>末))?(?!期|年(?!前)|边|围|长|密|折|岁|刊)", _week),
    pattern("weekday", "周期拜", rf"(?<![0-9零一二两三四五六七八九十几每半第]){_WEEK}{_WEEKDAY}(?!期)", _weekday),
    pattern("weekend", "周", r"周末(?:两天)?", _bare_weekend),
    pattern("month", "月", rf"(?:{YEAR}的?\s?)?{MONTH}(?:的?\s?{_MONTH_DAY})?", _month),
    pattern("relative month", "月", rf"{REL_MONTH}(?:的?\s?{_MONTH_DAY})?", _month),
    pattern("part of month", "月", r"(?<![0-9零一二三四五六七八九十个正腊岁上下])月(?P<p>初|底|末|中旬?|上旬|下旬)(?![一国秋])", _bare_part_of_month),
    pattern("part of year", "年", r"(?<![0-9零一二三四五六七八九十个今明去前后大小])年(?P<p>初|底|末|中)(?![一国秋])", _bare_part_of_year),
    pattern(
        "year", "年",
        rf"{YEAR}(?!前|后|代|级|轻|纪|龄)(?:的?(?:(?P<s>[春夏秋冬])[天季]?|(?:第?(?P<q>[一二三四1-4])季度|q(?P<q4>[1-4])(?![0-9]))|年?(?P<p>初|底|末|中"
        r"(?![国文秋学])|上半|下半)年?)|(?P<then>(?=毕业|入职|结婚|出生|加入|离开|搬|买|就|开始|来的|去的)))?", _year,
    ),
    pattern("year before", "年", rf"{YEAR}(?=以?前|之前|以?后|之后)", _year),
    pattern("season", "春夏秋冬", r"(?P<dir>[这今上下])(?:一?个)?(?P<s>[春夏秋冬])[天季]?", _this_season),
    pattern("quarter", "季", rf"(?:第(?P<q>[一二三四1-4])个?季度|(?P<qdir>{_DIRECTION})(?:一?个)?季度)", _quarter),
    pattern("half year", "年", r"(?P<p>上半|下半)年(?!度)", _bare_half),
    pattern(
        "decade", "代",
        r"(?P<c>上个?世纪|本世纪|二十世纪|20世纪)?(?P<y>(?:19|20)(?=[0-9]0))?(?P<dec>[0-9]0|[一二三四五六七八九]十)年代(?P<p>初期?|末期?|中期?|后期|前期)?", _decade,
    ),
    pattern(
        "day of month", "号日",
        rf"(?<![0-9a-z零一二三四五六七八九十第路街弄巷道栋座.#-])(?P<d>{DAY_NUMBER})(?P<mark>号(?!线|楼|店|门|院|机|房|桌|位|选|码|电|球|种|公|桩|馆|台|文|舰|航|厅|会|仓"
        r"|车|柜|床|字|铺|染)|日(?![本元语文报常历]))", _day_of_month,
    ),
    pattern("now", "现今目至此", r"现在|如今|目前|此刻|(?<=至)今|今(?=以?后|起)|现今", _now),
    pattern("years range", "到至-~–—－～", rf"(?<![0-9.-])(?P<a>{_Y4})年?{_TO}(?P<b>{_Y4})(?:年|(?![0-9.-]))", _years_range),
    pattern(
        "months range", "月",
        rf"(?:{YEAR}的?)?(?<![0-9.])(?P<a>{DIGIT_MONTH})月?份?{_TO}(?P<b>{DIGIT_MONTH})月(?:份(?!额)|(?![0-9]))", _months_range,
    ),
    pattern("days range", "月", rf"(?:{YEAR}的?)?{MONTH}(?P<a>{DAY_NUMBER})[日号]?{_TO}(?P<b>{DAY_NUMBER})[日号]", _days_range),
)
