"""Calendar arithmetic on naive local datetimes.

Intervals are half-open `(begins, ends)`. Weeks begin on Monday; winter belongs to the year its December lies in.
Every function raises ValueError or OverflowError outside the years 1..9999.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, Literal

from .spans import Tense

Unit = Literal["second", "minute", "hour", "halfday", "day", "week", "month", "quarter", "year", "decade"]
Interval = tuple[datetime, datetime]

NEAR: Final = timedelta(days=60)
"""How near a coming date must be to be meant when no tense tells."""
DAY: Final = timedelta(days=1)
_FIXED: Final = {
    "second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1),
    "halfday": timedelta(hours=12), "day": DAY, "week": timedelta(days=7),
}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


def midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def add_months(at: datetime, months: int) -> datetime:
    """The same day of another month, or that month's last day where it is shorter."""
    year, month = divmod(at.year * 12 + at.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise ValueError("year out of range")
    return at.replace(year=year, month=month + 1, day=min(at.day, monthrange(year, month + 1)[1]))


def shift(at: datetime, unit: Unit, count: float) -> datetime:
    """`count` units later (earlier when negative). Half a month is 15 days, half a week three."""
    if unit in _FIXED:
        if unit == "week":
            return at + timedelta(days=int(7 * count))
        return at + _FIXED[unit] * count
    months = _MONTHS[unit] * count
    whole = int(months)
    return add_months(at, whole) + timedelta(days=round((months - whole) * 30))


def named(at: datetime, unit: Unit, offset: int = 0) -> Interval:
    """The unit that `at` lies in, or the one `offset` units away, from its first day to the next one's."""
    day = midnight(at)
    if unit == "day":
        begins = day + DAY * offset
        return begins, begins + DAY
    if unit == "week":
        begins = day - DAY * day.weekday() + timedelta(days=7) * offset
        return begins, begins + timedelta(days=7)
    if unit in _MONTHS:
        months = _MONTHS[unit]
        first = day.replace(day=1)
        if unit == "quarter":
            first = first.replace(month=(day.month - 1) // 3 * 3 + 1)
        elif unit == "year":
            first = first.replace(month=1)
        elif unit == "decade":
            first = first.replace(month=1, year=max(1, day.year // 10 * 10))
        begins = add_months(first, months * offset)
        return begins, add_months(begins, months)
    size = _FIXED[unit]
    begins = at.replace(second=0, microsecond=0)
    if unit == "hour":
        begins = begins.replace(minute=0)
    begins += size * offset
    return begins, begins + size


def whole_day(at: datetime) -> Interval:
    return named(at, "day")


def date(year: int, month: int, day: int) -> Interval:
    return whole_day(datetime(year, month, day))


def months(year: int, first: int, after: int) -> Interval:
    """From the first day of month `first` to that of month `after` (13 is the next January)."""
    begins = datetime(year, first, 1)
    return begins, add_months(begins, after - first)


def full_year(short: int, said: datetime) -> int:
    """A two-digit year: at most ten years ahead, else of the century before."""
    year = said.year // 100 * 100 + short
    return year if year <= said.year + 10 else year - 100


def weekday_in_week(at: datetime, weekday: int, weeks: int = 0) -> Interval:
    return whole_day(named(at, "week", weeks)[0] + DAY * weekday)


def bare_weekday(said: datetime, weekday: int, tense: Tense) -> Interval:
    """The last one before today when the tense is past, else the next one after today."""
    gap = (weekday - said.weekday()) % 7 or 7
    return whole_day(said + DAY * (gap - 7 if tense == "past" and gap != 7 else -7 if tense == "past" else gap))


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> Interval:
    """`nth` from 1; -1 is the last."""
    begins, after = months(year, month, month + 1)
    if nth < 0:
        last = after - DAY
        return whole_day(last - DAY * ((last.weekday() - weekday) % 7))
    at = begins + DAY * ((weekday - begins.weekday()) % 7 + 7 * (nth - 1))
    if at >= after:
        raise ValueError("no such weekday in the month")
    return whole_day(at)


def by_tense(of: Callable[[int], Interval], said: datetime, tense: Tense, *, near: bool) -> Interval:
    """Which year's `of(year)` a name without a year means.

    Past: the latest begun. Future: the first not over. None: the latest begun, but for a day (`near`) a coming one that is
    at most `NEAR` away. Years in which the name does not exist (29 February) are passed over.
    """
    begun: Interval | None = None
    coming: Interval | None = None
    for year in range(said.year, max(0, said.year - 9), -1):
        found = _try(of, year)
        if found is not None and found[0] <= said:
            begun = found
            break
    for year in range(max(1, said.year - 1), min(10000, said.year + 9)):
        found = _try(of, year)
        if found is not None and found[1] > said:
            coming = found
            break
    if tense == "future" and coming is not None:
        return coming
    if tense is None and near and coming is not None and coming[0] - said <= NEAR:
        return coming
    chosen = begun or coming
    if chosen is None:
        raise ValueError("no such date")
    return chosen


def _try(of: Callable[[int], Interval], year: int) -> Interval | None:
    try:
        return of(year)
    except (ValueError, OverflowError):
        return None
