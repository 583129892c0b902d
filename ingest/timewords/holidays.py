"""Feasts, Chinese and Western, solar and lunar, as the day each year gives them.

The lunar calendar is known from 1901 to 2099; outside, a lunar feast raises ValueError.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from lunardate import LunarDate

from .calendar import DAY, Interval, date, nth_weekday, whole_day

Feast = Callable[[int], Interval]


def lunar(year: int, month: int, day: int) -> Interval:
    """The day `day` of lunar month `month` of the lunar year that begins in `year`; its twelfth month ends in the next."""
    solar = LunarDate(year, month, day).to_solar_date()
    return whole_day(datetime(solar.year, solar.month, solar.day))


def _solar(month: int, day: int) -> Feast:
    return lambda year: date(year, month, day)


def _lunar(month: int, day: int) -> Feast:
    return lambda year: lunar(year, month, day)


def _nth(month: int, weekday: int, nth: int) -> Feast:
    return lambda year: nth_weekday(year, month, weekday, nth)


def _new_years_eve(year: int) -> Interval:
    begins, ends = lunar(year, 1, 1)
    return begins - DAY, ends - DAY


def _twelfth(day: int) -> Feast:
    # Said of a year, the feasts of the twelfth lunar month are those before its spring festival.
    return lambda year: lunar(year - 1, 12, day)


def _clear_and_bright(year: int) -> Interval:
    if not 1901 <= year <= 2099:
        raise ValueError("no solar term known")
    short = year % 100
    day = int(short * 0.2422 + (4.81 if year >= 2000 else 5.59)) - (short // 4 if year >= 2000 else (short - 1) // 4)
    return date(year, 4, day)


def _winter_solstice(year: int) -> Interval:
    if not 1901 <= year <= 2099:
        raise ValueError("no solar term known")
    short = year % 100
    day = int(short * 0.2422 + (21.94 if year >= 2000 else 22.60)) - (short // 4 if year >= 2000 else (short - 1) // 4)
    return date(year, 12, day)


def _easter(shift_days: int) -> Feast:
    def feast(year: int) -> Interval:
        a, b, c = year % 19, year // 100, year % 100
        h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
        k = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
        m = (a + 11 * h + 22 * k) // 451
        month, day = divmod(h + k - 7 * m + 114, 31)
        begins, ends = date(year, month, day + 1)
        return begins + timedelta(days=shift_days), ends + timedelta(days=shift_days)

    return feast


def _black_friday(year: int) -> Interval:
    begins, ends = nth_weekday(year, 11, 3, 4)
    return begins + DAY, ends + DAY


def _memorial(year: int) -> Interval:
    return nth_weekday(year, 5, 0, -1)


_SPRING, _NATIONAL, _LABOUR = _lunar(1, 1), _solar(10, 1), _solar(5, 1)
ZH_FEASTS: Final[dict[str, Feast]] = {
    "春节": _SPRING, "农历新年": _SPRING, "过年": _SPRING, "除夕": _new_years_eve, "大年三十": _new_years_eve, "年三十": _new_years_eve,
    "年夜": _new_years_eve, "元宵节": _lunar(1, 15), "元宵": _lunar(1, 15),
    "清明节": _clear_and_bright, "清明": _clear_and_bright, "端午节": _lunar(5, 5), "端午": _lunar(5, 5), "七夕节": _lunar(7, 7),
    "七夕": _lunar(7, 7),
    "中元节": _lunar(7, 15), "中秋节": _lunar(8, 15), "中秋": _lunar(8, 15), "重阳节": _lunar(9, 9), "重阳": _lunar(9, 9),
    "冬至": _winter_solstice,
    "腊八节": _twelfth(8), "腊八": _twelfth(8), "小年": _twelfth(23), "元旦": _solar(1, 1), "情人节": _solar(2, 14), "妇女节": _solar(3, 8),
    "三八节": _solar(3, 8), "植树节": _solar(3, 12),
    "愚人节": _solar(4, 1), "劳动节": _LABOUR, "五一": _LABOUR, "五一节": _LABOUR, "五一劳动节": _LABOUR, "青年节": _solar(5, 4),
    "五四青年节": _solar(5, 4), "儿童节": _solar(6, 1), "六一儿童节": _solar(6, 1), "六一": _solar(6, 1),
    "建党节": _solar(7, 1), "建军节": _solar(8, 1), "教师节": _solar(9, 10), "国庆节": _NATIONAL, "国庆": _NATIONAL, "十一假期": _NATIONAL,
    "十一长假": _NATIONAL, "十一黄金周": _NATIONAL, "十一期间": _NATIONAL, "万圣节": _solar(10, 31), "光棍节": _solar(11, 11),
    "双十一": _solar(11, 11),
    "双11": _solar(11, 11), "双十二": _solar(12, 12), "双12": _solar(12, 12), "六一八": _solar(6, 18), "618大促": _solar(6, 18),
    "平安夜": _solar(12, 24), "圣诞节": _solar(12, 25), "圣诞": _solar(12, 25), "跨年夜": _solar(12, 31),
    "跨年": _solar(12, 31), "母亲节": _nth(5, 6, 2), "父亲节": _nth(6, 6, 3), "感恩节": _nth(11, 3, 4), "复活节": _easter(0),
}
ZH_HOLIDAYS_LAST: Final[dict[Feast, int]] = {_SPRING: 7, _NATIONAL: 7, _LABOUR: 5}
"""Days of the public holiday that begins with the feast; other holidays last three."""
_NEW_YEAR, _CHRISTMAS, _INDEPENDENCE = _solar(1, 1), _solar(12, 25), _solar(7, 4)
EN_FEASTS: Final[dict[str, Feast]] = {
    "new year's day": _NEW_YEAR, "new years day": _NEW_YEAR, "new year's eve": _solar(12, 31), "new years eve": _solar(12, 31),
    "new year": _NEW_YEAR, "new year's": _NEW_YEAR,
    "valentine's day": _solar(2, 14), "valentines day": _solar(2, 14), "valentine's": _solar(2, 14),
    "st patrick's day": _solar(3, 17), "st. patrick's day": _solar(3, 17), "april fools' day": _solar(4, 1),
    "april fool's day": _solar(4, 1),
    "good friday": _easter(-2), "easter": _easter(0), "easter sunday": _easter(0), "easter monday": _easter(1),
    "earth day": _solar(4, 22), "mother's day": _nth(5, 6, 2), "mothers day": _nth(5, 6, 2), "memorial day": _memorial,
    "father's day": _nth(6, 6, 3), "fathers day": _nth(6, 6, 3), "juneteenth": _solar(6, 19),
    "independence day": _INDEPENDENCE, "the fourth of july": _INDEPENDENCE, "fourth of july": _INDEPENDENCE,
    "labor day": _nth(9, 0, 1),
    "labour day": _LABOUR, "columbus day": _nth(10, 0, 2), "halloween": _solar(10, 31), "veterans day": _solar(11, 11),
    "thanksgiving": _nth(11, 3, 4), "thanksgiving day": _nth(11, 3, 4), "black friday": _black_friday,
    "christmas eve": _solar(12, 24), "christmas": _CHRISTMAS, "christmas day": _CHRISTMAS, "xmas": _CHRISTMAS,
    "boxing day": _solar(12, 26), "martin luther king day": _nth(1, 0, 3), "mlk day": _nth(1, 0, 3),
    "presidents' day": _nth(2, 0, 3), "presidents day": _nth(2, 0, 3), "chinese new year": _SPRING, "lunar new year": _SPRING,
    "spring festival": _SPRING, "the spring festival": _SPRING, "lantern festival": _lunar(1, 15),
    "dragon boat festival": _lunar(5, 5),
    "mid-autumn festival": _lunar(8, 15), "the mid-autumn festival": _lunar(8, 15), "national day": _NATIONAL,
    "singles' day": _solar(11, 11), "singles day": _solar(11, 11),
}
