"""A log that reads from a `History`, one partition, as the port promises."""

from __future__ import annotations

import time

from taishi.ingest.envelope import Event
from tests.support.history import History
from tests.support.memory_log import MemoryKeys, MemoryLog


class HistoryLog(MemoryLog):
    """`erased` True: bodies of forgotten events are gone, as for a reader that comes after their keys were destroyed.
    `reads` counts what was read."""

    def __init__(self, history: History) -> None:
        super().__init__(MemoryKeys())
        self.history = history
        self.events = history.events
        self.erased = False
        self.reads = 0

    def read(self, partition: int, *, after: int, limit: int = 500) -> list[Event]:
        events = self.history.after_erasure() if self.erased else self.history.events
        self.reads += 1
        return events[after : after + limit]

    def wait(self, after: dict[int, int], *, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while len(self.history.events) <= after[0]:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True
