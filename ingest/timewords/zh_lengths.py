"""Chinese: lengths counted from now, vague words, what comes again and again."""

from __future__ import annotations

import re
from typing import Final

from . import lengths
from .calendar import Unit
from .grammar import Context, Pattern, Reading, group, pattern, words
from .lengths import Length
from .lexicon import GRAIN_OF, JUST_NOW, VAGUE, ZH_UNITS
from .numbers import ZH_DIGITS, ZH_NUMBER, zh_number
from .vague import just_now, vague

LENGTH: Final = (
    r"(?:(?P<half>半)个?(?P<u0>年|月|小时|钟头|天)"
    rf"|(?P<n>{ZH_NUMBER}|好?几|数)(?P<mid>个半|多个|来个|余个|个多|个|多|来|余)?"
    r"(?P<u>年(?!代|级|前轻)|月(?!份|亮)|周(?!年|岁|边)|星期|礼拜|天|小时|钟头|分钟|秒钟?|季度)(?P<tail>半|多)?)"
)


def _length(m: re.Match[str]) -> Length | None:
    """None where the words are no length: 三月 and 2019年 are names."""
    if m["half"]:
        return Length(ZH_UNITS[m["u0"]], 0.5)
    number, unit, mid, tail = m["n"], ZH_UNITS[m["u"]], m["mid"] or "", m["tail"] or ""
    if unit == "month" and not any(c in mid for c in "个多来余"):
        return None
    if number in {"几", "好几", "数"}:
        return Length(unit, None)
    if len(number) == 2 and number[0] in ZH_DIGITS and number[1] in ZH_DIGITS:
        return Length(unit, None, least=ZH_DIGITS[number[0]], most=ZH_DIGITS[number[1]])  # 三四天, 两三年
    count = zh_number(number)
    if count is None or (unit == "year" and count >= 1000):
        return None
    half = 0.5 if "半" in mid or tail == "半" else 0.0
    return Length(unit, count + half, any(c in mid + tail for c in "多来余"))


def _ago(m: re.Match[str], context: Context) -> Reading | None:
    length = _length(m)
    return None if length is None else lengths.away(context, length, -1)


def _later(m: re.Match[str], context: Context) -> Reading | None:
    length = _length(m)
    return None if length is None else lengths.away(context, length, 1)


def _within(m: re.Match[str], context: Context) -> Reading | None:
    length = _length(m)
    return None if length is None else lengths.within(context, length, context.tense(m))


def _past_span(m: re.Match[str], context: Context) -> Reading | None:
    length = _length(m)
    return None if length is None else lengths.behind(context, length)


def _coming_span(m: re.Match[str], context: Context) -> Reading | None:
    length = _length(m)
    return None if length is None else lengths.ahead(context, length)


def _lasting(m: re.Match[str], context: Context) -> Reading | None:
    """住了三年了 goes on; 住了三年 is past; 要住三年 begins now."""
    length = _length(m)
    if length is None or length.count is None:
        return None
    if group(m, "still"):
        return lengths.still(context, length)
    return lengths.lasting(context, length, "past" if m["done"] else context.tense(m))


def _still(m: re.Match[str], context: Context) -> Reading | None:
    """戒烟两年了, 两年没回家: it began then and holds."""
    length = _length(m)
    return None if length is None else lengths.still(context, length)


def _vague(m: re.Match[str], context: Context) -> Reading:
    return vague(m[0], context)


def _just_now(m: re.Match[str], context: Context) -> Reading:
    return just_now(context)


def _frequency(m: re.Match[str], context: Context) -> Reading:
    unit: Unit = next((u for word, u in ZH_UNITS.items() if word in m[0]), "day")
    return Reading(begins=None, ends=None, grain=GRAIN_OF[unit], confidence=0.8, kind="frequency")


_STAY: Final = (
    "持续|为期|历时|长达|延续|连续|一连|整整|足足|住|待|呆|休息?|歇|请假|出差|旅行|停|禁|戒|(?:学|干|做|等|工作|生活|坚持|用)(?=[了过])"
)
_SMALL: Final = "[0-9一二两三四五六七八九十几半]{1,2}"
_AGAIN: Final = (
    rf"每(?:[隔逢]?(?:{_SMALL})?个?(?:天|日|周|星期|礼拜|月|年|季度|小时)"
    r"(?:[一二三四五六日天末](?:[和、,]周?[一二三四五六日])*|[0-9]{1,2}[号日])?"
    rf"|[晚早]上?|个?(?:早上|晚上|周末|工作日))(?:{_SMALL}次)?"
    rf"|(?:一|两|几)(?:天|周|个?星期|个月|年){_SMALL}次|(?:周|星期)[一二三四五六日]{{2,5}}|天天(?!气)|年年|工作日|周中|平日里?"
)
_COUNT: Final = r"(?<![0-9.前后第])"
PATTERNS: Final[tuple[Pattern, ...]] = (
    pattern("just now", "刚方", words(w for w in JUST_NOW if not w.isascii()), _just_now),
    pattern("vague", "近阵段些几两久改过", words(w for w in VAGUE if not w.isascii()), _vague),
    pattern("ago", "前", rf"{_COUNT}{LENGTH}(?:之前|以前|前(?!半|几|后|天|任|台|端|面|往|期|线))(?:的今天)?", _ago),
    pattern("later", "后", rf"{_COUNT}{LENGTH}(?:之后|以后|后(?!天|面|端|期|台))", _later),
    pattern("after passing", "过", rf"(?:再过|(?<![不住待呆做干用玩吃喝看读学练养开当])过){LENGTH}(?:之后|以后|后)?", _later),
    pattern("within", "内", rf"(?:在\s?)?{LENGTH}(?:之内|以内|内(?!容|部|存|心))", _within),
    pattern(
        "past span", "去近这",
        rf"(?:在?过去的?|最近的?|(?<=[^附靠接将])近|^近|这(?=[^个]|个月)){LENGTH}(?:以来|来(?!的)|里|间|内)?", _past_span,
    ),
    pattern("coming span", "来今往", rf"(?:未来的?|接下来的?|今后的?|往后的?|将来的?){LENGTH}(?:里|间|内)?", _coming_span),
    pattern(
        "lasting", "持期时达续连整足住待呆休歇假差行停禁戒学干做等作活用",
        rf"(?:{_STAY})(?P<done>[了过])?(?:整整|将近|差不多|大概|快)?{LENGTH}(?P<still>了)?(?!前|后|之|以|内)", _lasting,
    ),
    pattern("still", "了", rf"{_COUNT}{LENGTH}了(?=\s*(?:[，。！？；,.!?;]|$))", _still),
    pattern("not for", "没", rf"(?<![0-9.这去近]){LENGTH}(?:都|多)?(?=没)", _still),
    pattern("frequency", "每天年次周星日", _AGAIN, _frequency),
)
