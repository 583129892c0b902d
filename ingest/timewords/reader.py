"""`read_times`: from a text to spans of instants."""

from __future__ import annotations

import re
from datetime import datetime, tzinfo
from typing import Final

from ..instants import BEGINNING, FOREVER, from_datetime
from . import en, en_clock, en_lengths, en_years, numeric, zh, zh_clock, zh_feasts, zh_lengths
from .glue import joined
from .grammar import Context, Grammar, Reading
from .spans import Tense, TimeSpan
from .written import normal

GRAMMAR: Final = Grammar((
    *zh_lengths.PATTERNS, *zh.PATTERNS, *zh_feasts.PATTERNS, *zh_clock.PATTERNS,
    *en_lengths.PATTERNS, *en.PATTERNS, *en_years.PATTERNS, *en_clock.PATTERNS, *numeric.PATTERNS,
))
_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz")  # a letter is a cue only as a word of its own
_WORD: Final = re.compile(r"[a-z]+")


def read_times(text: str, *, said_at: datetime, tense: Tense = None) -> list[TimeSpan]:
    """Spans in order of place, none overlapping. Never raises on any text.

    `said_at` must be aware (ValueError otherwise); local midnight and the like are taken in its own zone. Without `tense`
    each clause's own signs of tense decide between past and coming dates.
    """
    zone = said_at.tzinfo
    if zone is None:
        raise ValueError("said_at must carry its zone")
    words = normal(text)
    cues = set(words) - _LETTERS
    cues.update(_WORD.findall(words))
    cues &= GRAMMAR.cues
    if not cues:
        return []
    context = Context(text=words, raw=text, said=said_at.replace(tzinfo=None), tense=tense, offset=said_at.utcoffset())
    spans = []
    for reading in joined(GRAMMAR.found(cues, context), context):
        begins = BEGINNING if reading.begins is None else _instant(reading.begins, zone)
        ends = FOREVER if reading.ends is None else _instant(reading.ends, zone)
        if begins < ends:
            spans.append(_span(reading, begins, ends))
    return spans


def _span(reading: Reading, begins: int, ends: int) -> TimeSpan:
    return TimeSpan(
        start=reading.start, end=reading.end, begins=begins, ends=ends, grain=reading.grain, kind=reading.kind,
        confidence=round(reading.confidence, 2),
    )


def _instant(local: datetime, zone: tzinfo) -> int:
    return min(max(from_datetime(local.replace(tzinfo=zone)), BEGINNING), FOREVER)
