"""Following the log: a loop that steps through partitions until told to stop, whatever happens to one of them.

A log whose server was away may come back as another one (a file that lost its end): what stands on it is looked at
before anything is read, and a follower whose checkpoints do not fit ends, so that it is started anew and replays.

A partition whose log is damaged, whose keys are missing, whose disk is full or whose next event is of a newer version
than this code reads stands still and says so; the others go on, and it is looked at again later.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Container, Mapping
from typing import Final

import apsw

from taishi.ingest.envelope import Position
from taishi.ingest.errors import LogDamaged, LogRolledBack, NotFound, TaishiError, Unavailable, UnknownEventVersion
from taishi.ingest.log import EventLog

from .store import CheckpointMoved

log_ = logging.getLogger(__name__)

IDLE_SECONDS: Final = 1.0
RETRY_SECONDS: Final = 0.2
HELD_SECONDS: Final = 5.0
"""How long a partition that stands still waits before it is looked at again."""


def is_held(log: EventLog, partition: int, seq: int, digest: bytes) -> bool:
    """Whether the log still holds the event that a checkpoint names. One that was read once and is damaged since counts
    as held: it stops those who read it anew, not those who stand behind it."""
    if seq == 0:
        return True
    if log.head(partition) < seq:
        return False
    try:
        return log.fetch(Position(partition, seq)).digest == digest
    except NotFound:
        return False
    except (LogDamaged, UnknownEventVersion) as e:
        log_.error("p%d: what was read last cannot be read again: %s", partition, e.message)
        return True


class Follower(ABC):
    """`run` returns when `stop` is set, with every step it began finished."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    @abstractmethod
    def step(self, partition: int) -> bool:
        """Does what is next of a partition. True if there may be more to do at once."""

    @abstractmethod
    def positions(self) -> Mapping[int, int]:
        """Of each partition, the sequence number behind which something new is worth a step."""

    @abstractmethod
    def stands(self, partition: int) -> bool:
        """Whether the log still holds the event that the partition's checkpoint names."""

    def patience(self) -> float:
        """Seconds after which the partitions are looked at though nothing new came."""
        return IDLE_SECONDS

    def catch_up(self) -> None:
        """Steps until every partition is at its head, or rests."""
        for partition in self.positions():
            while self.step(partition):
                pass

    def run(self, stop: threading.Event) -> None:
        """Raises LogRolledBack where the log came back as another one."""
        held: dict[int, float] = {}
        doubtful = False
        while not stop.is_set():
            held = {p: until for p, until in held.items() if until > time.monotonic()}
            try:
                if doubtful:
                    self._stand()
                    doubtful = False
                for p in self._round(without=held):
                    held[p] = time.monotonic() + HELD_SECONDS
                watched = {p: seq for p, seq in self.positions().items() if p not in held}
                if watched:
                    self._log.wait(watched, seconds=self.patience())
                else:
                    stop.wait(RETRY_SECONDS)
            except (Unavailable, apsw.BusyError) as e:
                log_.warning("waiting: %s", type(e).__name__)
                doubtful = doubtful or isinstance(e, Unavailable)
                stop.wait(RETRY_SECONDS)

    def _stand(self) -> None:
        for partition in self.positions():
            if not self.stands(partition):
                raise LogRolledBack(f"p{partition} is not the log that was read before its server was away")

    def _round(self, *, without: Container[int]) -> list[int]:
        """A step of each partition in turn until nothing is left to do at once. The partitions that stand still."""
        stuck: list[int] = []
        going = [p for p in self.positions() if p not in without]
        while going:
            for partition in list(going):
                try:
                    more = self.step(partition)
                except (LogDamaged, UnknownEventVersion, CheckpointMoved, apsw.FullError, apsw.IOError) as e:
                    said = e.message if isinstance(e, TaishiError) else type(e).__name__
                    log_.error("p%d stands still: %s", partition, said)
                    stuck.append(partition)
                    more = False
                if not more:
                    going.remove(partition)
        return stuck
