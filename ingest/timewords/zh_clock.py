"""Chinese parts of the day and clock times."""

from __future__ import annotations

import re
from typing import Final

from .clock import at_clock, at_part
from .grammar import Context, Pattern, Reading, pattern, words
from .lexicon import ZH_PARTS
from .numbers import zh_int

_HOUR: Final = r"2[0-4]|1[0-9]|0?[0-9]|二十[一二三四]?|十[一二三四五六七八九]?|[零一二两三四五六七八九]"
_MINUTE: Final = r"[0-5]?[0-9]|[二三四五]?十[一二三四五六七八九]?|零?[一二三四五六七八九]"
_PART: Final = words(w for w in ZH_PARTS if w not in {"早", "晚", "夜", "晨"})
_MINUTES: Final = {"整": 0, "一刻": 15, "半": 30, "三刻": 45}
_AFTER_BARE: Final = r"见|开|出发|到|集合|起床|下班|上班|吃|睡|走|结束|左右|前|之前|以前|后|之后|以后|多(?!少|了)|钟|整|约|叫|接|送|回"


def _part(m: re.Match[str], context: Context) -> Reading:
    return at_part(ZH_PARTS[m["part"]], context, tense=context.tense(m), confidence=0.5)


def _clock(m: re.Match[str], context: Context) -> Reading | None:
    hour = zh_int(m["h"])
    minute = zh_int(m["mi"]) if m["mi"] else _MINUTES.get(m["half"])
    part = ZH_PARTS[m["part"]] if m["part"] else None
    if part is None and m["unit"] == "时" and minute is None:
        return None
    bare = part is None and minute is None and m["sure"] is None
    return at_clock(hour, minute, part, context, tense=context.tense(m), weak=bare)


def _offset_clock(m: re.Match[str], context: Context) -> Reading | None:
    """`晚上8:30`"""
    return at_clock(int(m["h"]), int(m["mi"]), ZH_PARTS[m["part"]], context, tense=context.tense(m), weak=False)


PATTERNS: Final[tuple[Pattern, ...]] = (
    pattern(
        "part", "早上晨午晚夜",
        rf"(?:(?<![一整个半每])(?<!当天)(?<!那天)(?<!次日)(?<!第二天)(?P<part>{_PART})|(?<=[昨今明前后天日号一二三四五六])(?P<short>[早晚夜晨](?![餐饭点上会年期报婚安出]"
        r"|班)))(?:里|间)?",
        lambda m, c: at_part(ZH_PARTS[m["part"] or m["short"]], c, tense=c.tense(m), confidence=0.5),
    ),
    pattern(
        "clock", "点时",
        rf"(?:(?P<part>{_PART}|(?<=[昨今明前后天日号])[早晚])的?\s?)?(?<![0-9.:第零一二两三四五六七八九十有差])(?P<h>{_HOUR})\s?(?P<unit>[点时])"
        rf"(?![0-9]*[点.]|[子儿击赞评]|到为止|代|候|间|刻)(?:(?P<half>半|一刻|三刻|整)|过?(?P<mi>{_MINUTE})分?(?![0-9个天年月元块次点时]))?(?P<sure>钟|"
        rf"(?={_AFTER_BARE}))?",
        _clock,
    ),
    pattern(
        "part and clock", ":",
        rf"(?P<part>{_PART}|(?<=[昨今明前后天日号])[早晚])\s?(?P<h>[01]?[0-9]|2[0-3]):(?P<mi>[0-5][0-9])(?![0-9])", _offset_clock,
    ),
)
