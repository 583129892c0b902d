"""A log that is read from a `History`: one partition of events as a test wrote them down, poison among them, which no
real log would take. What is announced to it is written down behind them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from taishi.ingest.envelope import RAW_TYPES, Event, Position
from taishi.ingest.errors import NotFound
from taishi.ingest.log import Appended, Batch, EventLog, NamespaceHead, Recorded
from tests.support.history import History


class HistoryLog(EventLog):
    """`erased` True: bodies of forgotten events are gone, as for a reader that comes after their keys were destroyed.
    `reads` counts what was read."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.erased = False
        self.reads = 0

    @property
    def partitions(self) -> int:
        return 1

    def partition_of(self, namespace: str) -> int:
        return 0

    @property
    def events(self) -> list[Event]:
        return self.history.events

    def append(self, batch: Batch) -> Appended:
        recorded = []
        for new in batch.events:
            (place,) = self.locate(new.namespace, [new.event_id])
            known = place is not None
            if place is None:
                place = self.history.add(
                    new.type, namespace=new.namespace, event_id=new.event_id, facts=new.facts, body=new.body
                ).position
            recorded.append(Recorded(event_id=new.event_id, position=place, duplicate=known))
        return Appended(recorded=recorded)

    def append_many(self, batches: Sequence[Batch]) -> list[Appended | Exception]:
        return [self.append(batch) for batch in batches]

    def read(self, partition: int, *, after: int, limit: int = 500) -> list[Event]:
        self.reads += 1
        return self._events[after : after + limit]

    @property
    def _events(self) -> list[Event]:
        return self.history.after_erasure() if self.erased else self.history.events

    def wait(self, after: dict[int, int], *, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while len(self.history.events) <= after[0]:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True

    def fetch(self, position: Position) -> Event:
        if not 0 < position.seq <= len(self.history.events):
            raise NotFound("no such event")
        return self._events[position.seq - 1]

    def locate(self, namespace: str, event_ids: Sequence[str]) -> list[Position | None]:
        places = {e.event_id: e.position for e in self.history.events if e.namespace == namespace}
        return [places.get(event_id) for event_id in event_ids]

    def head(self, partition: int) -> int:
        return len(self.history.events)

    def namespace_head(self, namespace: str) -> NamespaceHead:
        own = [e for e in self.history.events if e.namespace == namespace]
        raw = [e.position.seq for e in own if e.type in RAW_TYPES]
        last = own[-1].position if own else Position(0, 0)
        return NamespaceHead(
            position=last, raw_seq=raw[-1] if raw else 0, recorded_at=max((e.recorded_at for e in own), default=0)
        )
