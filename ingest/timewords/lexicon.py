"""Words and what they stand for. Data alone: a new word is a row here."""

from __future__ import annotations

from typing import Final, NamedTuple

from ..claims import Grain
from .calendar import Unit

GRAIN_OF: Final[dict[Unit, Grain]] = {
    "second": "minute", "minute": "minute", "hour": "hour", "halfday": "hour", "day": "day", "week": "week", "month": "month",
    "quarter": "season", "year": "year", "decade": "decade",
}

ZH_UNITS: Final[dict[str, Unit]] = {
    "年": "year", "月": "month", "周": "week", "星期": "week", "礼拜": "week", "天": "day", "日": "day", "小时": "hour",
    "钟头": "hour", "分钟": "minute", "秒钟": "second", "秒": "second", "季度": "quarter",
}
EN_UNITS: Final[dict[str, Unit]] = {
    "second": "second", "sec": "second", "minute": "minute", "min": "minute", "hour": "hour", "hr": "hour", "day": "day",
    "night": "day", "week": "week", "fortnight": "week", "month": "month", "quarter": "quarter", "year": "year", "yr": "year",
    "decade": "decade",
}

ZH_DAYS: Final = {"昨": -1, "今": 0, "明": 1, "前": -2, "后": 2}
ZH_YEARS: Final = {
    "今": 0, "本": 0, "去": -1, "上": -1, "上一": -1, "前": -2, "大前": -3, "明": 1, "下": 1, "下一": 1, "来": 1, "后": 2, "大后": 3,
}
ZH_WEEKDAYS: Final = {c: i for i, c in enumerate("一二三四五六日")} | {"天": 6} | {str(i): i - 1 for i in range(1, 8)}

EN_WEEKDAYS: Final = {
    "monday": 0, "mon": 0, "tuesday": 1, "tue": 1, "tues": 1, "wednesday": 2, "wed": 2, "thursday": 3, "thu": 3, "thur": 3,
    "thurs": 3,
    "friday": 4, "fri": 4, "saturday": 5, "sat": 5, "sunday": 6, "sun": 6,
}
EN_MONTHS: Final = {
    name: i
    for i, names in enumerate(
        (
            "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct"
            "|november nov|december dec"
        ).split("|"), 1,
    )
    for name in names.split()
}

SEASONS: Final = {
    "春": 3, "夏": 6, "秋": 9, "冬": 12, "spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12,
}
"""First month; each lasts three."""


class DayPart(NamedTuple):
    """Hours since midnight; `pm`: an hour below 12 said with it is twelve later; `next_day`: small hours are tomorrow's."""

    begins: int
    ends: int
    pm: bool = False
    next_day: bool = False


ZH_PARTS: Final = {
    "凌晨": DayPart(0, 6), "清晨": DayPart(5, 8), "清早": DayPart(5, 8), "一大早": DayPart(5, 9), "大清早": DayPart(5, 8),
    "早晨": DayPart(6, 9),
    "早上": DayPart(6, 10), "早": DayPart(6, 10), "晨": DayPart(6, 9), "上午": DayPart(8, 12), "中午": DayPart(11, 14, pm=True),
    "正午": DayPart(12, 13, pm=True),
    "午后": DayPart(12, 15, pm=True), "下午": DayPart(12, 18, pm=True), "傍晚": DayPart(17, 20, pm=True),
    "晚上": DayPart(18, 24, pm=True),
    "晚间": DayPart(18, 24, pm=True), "晚": DayPart(18, 24, pm=True), "夜里": DayPart(20, 28, pm=True, next_day=True),
    "夜": DayPart(20, 28, pm=True, next_day=True), "夜间": DayPart(20, 28, pm=True, next_day=True),
    "深夜": DayPart(22, 28, pm=True, next_day=True), "半夜": DayPart(22, 28, pm=True, next_day=True),
    "午夜": DayPart(23, 25, pm=True, next_day=True),
}
EN_PARTS: Final = {
    "morning": DayPart(6, 12), "afternoon": DayPart(12, 18, pm=True), "evening": DayPart(18, 24, pm=True),
    "night": DayPart(18, 30, pm=True, next_day=True), "noon": DayPart(12, 13, pm=True), "midday": DayPart(12, 13, pm=True),
    "lunchtime": DayPart(12, 14, pm=True),
}

# A month's and a year's parts: the first and the day or month after the last.
MONTH_PARTS: Final = {"early": (1, 11), "middle": (11, 21), "late": (21, 32), "first half": (1, 16), "second half": (16, 32)}
YEAR_PARTS: Final = {
    "early": (1, 4), "middle": (5, 9), "late": (10, 13), "end": (11, 13),
    "first half": (1, 7), "second half": (7, 13),
}
ZH_PART_NAMES: Final = {
    "初": "early", "头": "early", "上旬": "early", "中": "middle", "中旬": "middle", "底": "end", "末": "end", "尾": "end", "下旬": "late",
    "上半": "first half", "下半": "second half", "前半": "first half", "后半": "second half", "中期": "middle", "后期": "late",
    "前期": "early", "初期": "early",
    "末期": "end",
}
EN_PART_NAMES: Final = {
    "early": "early", "beginning": "early", "start": "early", "first few days": "early", "mid": "middle", "middle": "middle",
    "late": "late", "end": "end",
    "last few days": "end", "later part": "late", "first half": "first half", "second half": "second half",
}

# Days before and after the day of speech, for words whose bounds are a guess.
VAGUE: Final[dict[str, tuple[float, float]]] = {
    "最近": (-30, 0), "近来": (-30, 0), "近期": (-30, 0), "近日": (-14, 0), "这阵子": (-30, 0), "这段时间": (-30, 0), "这段日子": (-30, 0),
    "这些天": (-7, 0), "这几天": (-3, 1), "这两天": (-2, 1),
    "前阵子": (-60, -7), "前段时间": (-60, -7), "前一阵子": (-60, -7), "前一段时间": (-60, -7), "前些日子": (-60, -7), "前些天": (-14, -1),
    "前不久": (-30, -1), "不久前": (-30, -1), "前几天": (-7, -1),
    "前两天": (-3, -1), "前几周": (-42, -7), "前几个月": (-180, -30), "前几年": (-2555, -365), "前两年": (-1095, -365), "前些年": (-3650, -365),
    "过几天": (2, 8), "过两天": (1, 4), "过些天": (2, 14),
    "过阵子": (7, 60), "过段时间": (7, 60), "过一阵子": (7, 60), "过一段时间": (7, 60), "改天": (1, 30), "不久后": (1, 30), "不久的将来": (1, 180),
    "不久之后": (1, 30),
    "recently": (-30, 0), "lately": (-30, 0), "these days": (-30, 0), "of late": (-30, 0), "the other day": (-7, -1),
    "the other week": (-21, -7), "the other night": (-7, -1), "a while ago": (-180, -7), "a while back": (-180, -7),
    "not long ago": (-30, -1), "not too long ago": (-30, -1), "some time ago": (-365, -7), "soon": (0, 30),
    "in the near future": (0, 90), "someday soon": (0, 90), "in the coming days": (0, 7), "the past few days": (-6, 0),
}
JUST_NOW: Final = ("刚才", "刚刚", "方才", "just now", "a moment ago", "moments ago", "a minute ago", "a second ago")
FEW: Final = (6, 2)
"""Few of a unit: at most and at least this many."""

NOT_AFTER_DAY: Final = (
    "floor", "grade", "quarter", "time", "year", "street", "avenue", "place", "round", "edition", "anniversary", "birthday",
    "chapter", "century", "generation", "attempt", "row", "percentile", "season", "episode", "version", "try", "hole",
)
"""Nouns that make "the 4th" no day of the month."""
NOT_OF_FEAST: Final = (
    "tree", "trees", "gift", "gifts", "present", "presents", "magic", "spirit", "card", "cards", "song", "songs", "carol", "carols",
    "movie", "movies", "lights", "decorations", "ornament", "ornaments", "sweater", "tradition", "traditions", "cookies",
)
"""Nouns that make "Christmas" no day."""
GIVEN_NAMES: Final = frozenset({"国庆", "元旦", "中秋", "冬至"})
SURNAMES: Final = frozenset(
    "赵王李张刘陈杨黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯董程曹袁邓许傅沈彭吕苏卢蒋蔡贾丁魏薛叶余潘杜戴夏汪田姜范石姚谭廖邹熊陆郝孔崔康毛邱秦史顾侯邵孟段钱汤尹黎乔贺赖龚"
)
"""赵国庆 is a person."""
