"""Words whose bounds are a guess, for both languages. The guesses are data in `lexicon`."""

from __future__ import annotations

from datetime import timedelta

from .grammar import Context, Reading
from .lexicon import VAGUE


def vague(word: str, context: Context) -> Reading:
    """Whole days around the day of speech; a side at 0 days is the moment of speech itself."""
    first, last = VAGUE[word]
    begins = context.said if first == 0 else context.today + timedelta(days=first)
    ends = context.said if last == 0 else context.today + timedelta(days=last)
    return Reading(begins=begins, ends=ends, grain="day", confidence=0.3, kind="vague")


def just_now(context: Context) -> Reading:
    return Reading(begins=context.said - timedelta(hours=1), ends=context.said, grain="hour", confidence=0.5, kind="vague")
