"""Activation: how vivid a memory still is, in 0..1, by its age and its use.

    activation = 2 ** (-idle / half_life)
    half_life  = life x scope x (1 + by_importance x (2 importance - 1)) x use

The exponential with a half-life that practice prolongs is half-life regression (Settles and Meeder, "A trainable spaced
repetition model for language learning", ACL 2016), with factors that are stated (`ingest/fading.toml`), not trained.
That reads count by the day, not by the call, is the spacing effect, which ACT-R's base-level learning (Anderson and
Schooler 1991) has as well; its power law was not taken since it never ends and needs every time of use.

All functions are pure. Instants and lengths are whole microseconds.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from taishi.ingest.fading import Fading, fading
from taishi.ingest.instants import DAY
from taishi.ingest.registry import Predicate


class Use(NamedTuple):
    """`said_at` is when Taishi last came to hold words that say it, `known_at` when a caller last confirmed or revived
    it (None: never), `read_at` the last recall that showed it, `reads` on how many days one did."""

    said_at: int
    known_at: int | None = None
    read_at: int | None = None
    reads: int = 0
    confirmations: int = 0
    helpful: int = 0
    unhelpful: int = 0


def practice(use: Use, *, rules: Fading | None = None) -> float:
    """How much it was used beyond being told and shown once, in 0..1 (0 for what was just brought in)."""
    given = fading() if rules is None else rules
    times = (
        max(use.reads - 1, 0)
        + given.helpful * max(use.helpful - use.unhelpful, 0)
        + given.confirmed * use.confirmations
    )
    return times / (times + given.half_used)


def stretch(importance: float, *, own: bool, use: Use) -> float:
    """Times its predicate's life."""
    given = fading()
    used = 1.0 + (given.most - 1.0) * practice(use, rules=given)
    against = max(use.unhelpful - use.helpful, 0)
    if against:
        used = max(given.least, used * 0.5 ** (against / 2))
    return (given.own if own else given.others) * (1.0 + given.by_importance * (2.0 * importance - 1.0)) * used


def last_used(use: Use, predicate: Predicate) -> int:
    """From when on it is idle. Being read counts from the day's beginning (UTC), the more the more days it was, and by
    itself only for some lives after words or callers said so."""
    said = use.said_at if use.known_at is None else max(use.said_at, use.known_at)
    if use.read_at is None:
        return said
    given = fading()
    later = min(max(use.read_at // DAY * DAY - said, 0), given.read_lives * max(predicate.life, 1) * DAY)
    return said + round(later * use.reads / (use.reads + given.half_read))


def activation(use: Use, predicate: Predicate, *, importance: float, own: bool, now: int) -> float:
    """1 for what is kept for good (`life` 0) and for what was used within a day; idleness counts in whole days."""
    if not predicate.life:
        return 1.0
    idle = max(now - last_used(use, predicate), 0) // DAY
    return math.exp2(-idle / (predicate.life * stretch(importance, own=own, use=use)))


def faded_at(use: Use, predicate: Predicate, *, importance: float, own: bool) -> int | None:
    """The instant at which its activation falls below `archive_below`; None: never."""
    if not predicate.life:
        return None
    lives = -math.log2(fading().archive_below) * stretch(importance, own=own, use=use)
    return last_used(use, predicate) + round(lives * predicate.life * DAY)


def expires_at(use: Use, predicate: Predicate, *, importance: float, own: bool) -> int | None:
    """The instant from which it is no longer taken to be true, where nobody said or used it since; None: never."""
    if not predicate.expires:
        return None
    return last_used(use, predicate) + round(predicate.expires * stretch(importance, own=own, use=use) * DAY)


def _shortest() -> float:
    given = fading()
    return min(given.own, given.others) * (1.0 - given.by_importance) * given.least


LEAST_STRETCH: Final = _shortest()
"""No memory's life is stretched by less."""
