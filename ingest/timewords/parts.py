"""Parts of months and years, seasons, weekends: named intervals that are no calendar unit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from .calendar import DAY, Interval, add_months, by_tense, date, months, named
from .grammar import Context
from .lexicon import MONTH_PARTS, YEAR_PARTS
from .spans import Tense


def part_of_month(year: int, month: int, part: str) -> Interval:
    """`part` as in `MONTH_PARTS`, or `end`: the last third."""
    first, after = MONTH_PARTS["late" if part == "end" else part]
    begins, ends = months(year, month, month + 1)
    return begins + DAY * (first - 1), ends if after == 32 else begins + DAY * (after - 1)


def part_of_year(year: int, part: str) -> Interval:
    return months(year, *YEAR_PARTS[part])


def part_of_quarter(begins: datetime, part: str) -> Interval:
    """Its first, second or third month."""
    first = add_months(begins, {"early": 0, "middle": 1}.get(part, 2))
    return first, add_months(first, 1)


def season_of(year: int, first: int) -> Interval:
    begins, _ = months(year, first, first + 1)
    return begins, add_months(begins, 3)


def weekend(context: Context, tense: Tense) -> Interval:
    """Saturday and Sunday: the last begun when the tense is past, else the running or coming one."""
    begins, ends = named(context.said, "week")
    begins += DAY * 5
    if tense == "past" and begins > context.said:
        begins, ends = begins - DAY * 7, ends - DAY * 7
    return begins, ends


def directed(of: Callable[[int], Interval], steps: int, context: Context, tense: Tense) -> Interval:
    """-1: the latest that is over. 1: the first that has not begun. 0: by tense, else this year's."""
    if steps < 0:
        interval = by_tense(of, context.said, "past", near=False)
        return of(interval[0].year - 1) if interval[1] > context.said else interval
    if steps > 0:
        interval = by_tense(of, context.said, "future", near=False)
        return of(interval[0].year + 1) if interval[0] <= context.said else interval
    return of(context.said.year) if tense is None else by_tense(of, context.said, tense, near=False)


def day_of_month(day: int, context: Context, tense: Tense, weekday: int | None = None) -> Interval:
    """A bare day: the last such day when the tense is past, else today's or the next; on that weekday where one is named.

    Months without it are passed over.
    """
    first = context.today.replace(day=1)
    for offset in range(40):
        at = add_months(first, -offset if tense == "past" else offset)
        try:
            begins, ends = date(at.year, at.month, day)
        except ValueError:
            continue
        fits = begins <= context.said if tense == "past" else ends > context.said
        if fits and weekday in (None, begins.weekday()):
            return begins, ends
    raise ValueError("no such day")
