"""Switching: which generation is live, going back, and what is kept.

The switch is one file replaced: every request reads one generation from its beginning to its end. A generation is
switched to when it has folded all that the live one has, so that nobody reads backwards in time.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Final

from taishi.ingest.errors import NotCaughtUp, NotFound
from taishi.projections.lookup import Lookup

from .amounts import amount
from .generations import Generation, Generations, Notice, Register, finished, generation_folder, now

CATCH_UP_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.02


def behind(generations: Generations, one: Generation, other: Generation, *, partitions: int) -> int:
    """How many events `other` has folded and `one` has not."""
    mine, theirs = (Lookup(partial(generation_folder, generations.home, g)) for g in (one, other))
    return sum(max(theirs.checkpoint(p) - mine.checkpoint(p), 0) for p in range(partitions))


def activate(
    generations: Generations, number: int, *, partitions: int, seconds: float = CATCH_UP_SECONDS
) -> Generation:
    """Makes a generation the live one, once it has caught up. Raises NotFound, Conflict where it is not finished,
    NotCaughtUp where it does not follow the log (is Taishi running?)."""
    wanted = finished(generations.read().generation(number))
    _catch_up(generations, wanted, partitions=partitions, seconds=seconds)

    def step(register: Register) -> Register:
        before, fresh = register.live, finished(register.generation(number))
        if before.number == number:
            return register
        at = now()
        notice = Notice(type="generation.activated", generation=number, extraction=fresh.extraction, at=at)
        changed = register.put(replace(before, state="kept"), replace(fresh, state="live", activated_at=at))
        return replace(changed, notices=(*changed.notices, notice))

    return generations.change(step).live


def _catch_up(generations: Generations, wanted: Generation, *, partitions: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    while left := behind(generations, wanted, generations.read().live, partitions=partitions):
        if time.monotonic() > until:
            raise NotCaughtUp(f"{wanted.name} is {amount(left, 'event')} behind the live one: is Taishi running?")
        time.sleep(_POLL_SECONDS)


def previous(register: Register) -> Generation:
    """The generation that was live before this one. Raises NotFound."""
    kept = [g for g in register.generations.values() if g.state == "kept"]
    if not kept:
        raise NotFound("no generation that was live before is kept")
    return max(kept, key=lambda g: g.activated_at or 0)


def prune(generations: Generations, *, keep: int, ready: bool = False) -> list[Generation]:
    """Drops failed generations and, of those that were live, all but the live one and the `keep - 1` newest; with
    `ready`, those that never were live count, too, and go first. The live one never goes. Files are removed by the
    process that follows generations, when it has let go of them."""
    dropped: list[Generation] = []

    def step(register: Register) -> Register:
        every = register.generations.values()
        others = [g for g in every if g.state == "kept" or (ready and g.state == "ready")]
        others.sort(key=lambda g: (g.state == "kept", g.activated_at or g.ready_at or 0), reverse=True)
        dropped[:] = [*(g for g in every if g.state == "failed"), *others[max(keep - 1, 0) :]]
        for generation in dropped:
            register = register.without(generation.number)
        return register

    generations.change(step)
    return dropped
