"""Lengths of time counted from the moment of speech, for both languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .calendar import Unit, shift, whole_day
from .grammar import Context, Reading
from .lexicon import FEW, GRAIN_OF
from .spans import Kind, Tense

_SHORT: Final = frozenset({"second", "minute", "hour"})


@dataclass(frozen=True, slots=True)
class Length:
    """`count` units; None: between `least` and `most` of them."""

    unit: Unit
    count: float | None
    rough: bool = False
    least: float = FEW[1]
    most: float = FEW[0]

    @property
    def reach(self) -> float:
        return self.most if self.count is None else self.count


def away(context: Context, length: Length, sign: int) -> Reading:
    """The calendar day that lies so far away; for hours and less the moment itself; the span of a few units."""
    unit, count = length.unit, length.count
    if count is None:
        return _few_away(context, length, sign)
    at = shift(context.said, unit, sign * count)
    confidence = 0.6 if length.rough else 0.9
    if unit in _SHORT or (unit == "day" and count != int(count)):
        step: Unit = "minute" if unit in {"minute", "second"} else "hour"
        begins = at.replace(second=0, microsecond=0)
        return Reading(begins=begins, ends=shift(begins, step, 1), grain=GRAIN_OF[step], confidence=confidence)
    begins, ends = whole_day(at)
    return Reading(begins=begins, ends=ends, grain="day", confidence=confidence)


def _few_away(context: Context, length: Length, sign: int) -> Reading:
    near, far = shift(context.said, length.unit, sign * length.least), shift(context.said, length.unit, sign * length.most)
    begins, ends = min(near, far), max(near, far)
    if length.unit not in _SHORT:
        begins, ends = whole_day(begins)[0], whole_day(ends)[1]
    return Reading(begins=begins, ends=ends, grain=GRAIN_OF[length.unit], confidence=0.4, kind="vague")


def behind(context: Context, length: Length, *, kind: Kind = "during", confidence: float = 0.8) -> Reading:
    """The span that ends now; from local midnight of its first day where it counts days or more."""
    begins = shift(context.said, length.unit, -length.reach)
    if length.unit not in _SHORT:
        begins = whole_day(begins)[0]
    confidence = confidence if length.count is not None else confidence - 0.3
    return Reading(begins=begins, ends=context.said, grain=GRAIN_OF[length.unit], confidence=confidence, kind=kind)


def ahead(context: Context, length: Length, *, kind: Kind = "during", confidence: float = 0.8) -> Reading:
    """The span that begins now."""
    ends = shift(context.said, length.unit, length.reach)
    confidence = confidence if length.count is not None else confidence - 0.3
    return Reading(begins=context.said, ends=ends, grain=GRAIN_OF[length.unit], confidence=confidence, kind=kind)


def still(context: Context, length: Length) -> Reading:
    """It has lasted so long and goes on."""
    reading = behind(context, length, kind="since", confidence=0.7)
    reading.ends, reading.grain = None, "day"
    return reading


def within(context: Context, length: Length, tense: Tense) -> Reading:
    """A deadline; of something past, the span in which it happened."""
    return behind(context, length, confidence=0.6) if tense == "past" else ahead(context, length, kind="until")


def lasting(context: Context, length: Length, tense: Tense) -> Reading:
    """For so long: from now on; of something past, a guess, since its place is not told."""
    return behind(context, length, confidence=0.3) if tense == "past" else ahead(context, length, confidence=0.6)
