"""Whether vectors stay behind what is told: recall then finds the newest memories by their words alone, and says so."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

NAME: Final = "vectors_behind"
"""How `degraded` calls it."""
BEHIND_SECONDS: Final = 5.0
"""Vectors follow within milliseconds: so long after an event was read, they should have come to it."""
LOOK_SECONDS: Final = 1.0


@dataclass(slots=True)
class _Mark:
    """An event that was read at `since`; its vectors were not there when it was last looked, if `behind`."""

    seq: int
    since: float
    looked: float
    behind: bool = False


class VectorLag:
    """`embedded` gives the position up to which a partition's vectors are made, None where there are none to wait for.
    Safe to share between threads: a lost update is made good by the next look."""

    def __init__(
        self, embedded: Callable[[int], int | None], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._embedded = embedded
        self._clock = clock
        self._marks: dict[int, _Mark] = {}

    def behind(self, partition: int, read: int) -> bool:
        """`read` is the position up to which the partition's events are folded."""
        now = self._clock()
        mark = self._marks.get(partition)
        if mark is None:
            mark = self._marks[partition] = _Mark(read, now, now - LOOK_SECONDS)
        if now - mark.looked < LOOK_SECONDS:
            return mark.behind
        mark.looked = now
        at = self._embedded(partition)
        if at is None or at >= mark.seq:
            mark.seq, mark.since, mark.behind = read, now, False
        else:
            mark.behind = now - mark.since > BEHIND_SECONDS
        return mark.behind
