"""An event log and a key store in memory, for tests of what stands on the ports."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

import orjson

from taishi.ingest.envelope import RAW_TYPES, UNORDERED_TYPES, Event, NewEvent, Position
from taishi.ingest.errors import EventIdConflict, EvidenceErased, Gone, NotFound, RecordedBehind
from taishi.ingest.log import Appended, Batch, EventLog, NamespaceHead, Recorded


class MemoryKeys:
    def __init__(self) -> None:
        self.destroyed: set[int] = set()

    def take(self, count: int) -> Sequence[tuple[int, bytes]]:
        raise AssertionError("the memory log needs no keys")

    def keys(self, key_ids: Collection[int]) -> Mapping[int, bytes | None]:
        return {key_id: None if key_id in self.destroyed else bytes(32) for key_id in key_ids}

    def destroy(self, key_ids: Collection[int], *, at: int) -> int:
        fresh = set(key_ids) - self.destroyed
        self.destroyed |= fresh
        return len(fresh)

    def secret(self, name: str) -> bytes:
        return sha256(name.encode()).digest()


class MemoryLog(EventLog):
    """One partition. A body's key id is its position. `down`, when set, is raised by every append."""

    def __init__(self, keys: MemoryKeys) -> None:
        self.events: list[Event] = []
        self.exchanges: list[int] = []
        self.down: Exception | None = None
        self._keys = keys
        self._erased: set[tuple[str, str]] = set()
        self._recorded: dict[str, int] = {}

    @property
    def partitions(self) -> int:
        return 1

    def partition_of(self, namespace: str) -> int:
        return 0

    def append(self, batch: Batch) -> Appended:
        known: dict[str, Recorded] = {}
        for event in batch.events:
            if (event.namespace, event.event_id) in self._erased:
                raise Gone("erased")
            stored = self._find(event.namespace, event.event_id)
            if stored is not None:
                if stored.body != event.body:
                    raise EventIdConflict("known with another body")
                known[event.event_id] = Recorded(event_id=event.event_id, position=stored.position, duplicate=True)
        refused = [i for i, e in enumerate(batch.events) if any((e.namespace, x) in self._erased for x in e.evidence)]
        if refused:
            raise EvidenceErased("evidence was erased", refused=refused)
        return Appended(recorded=[known.get(event.event_id) or self._add(event) for event in batch.events])

    def _add(self, new: NewEvent) -> Recorded:
        now = time.time_ns() // 1_000
        recorded = now if new.recorded_at is None else new.recorded_at
        if new.type not in UNORDERED_TYPES:
            if recorded < self._recorded.get(new.namespace, recorded):
                raise RecordedBehind("behind", earliest=self._recorded[new.namespace])
            self._recorded[new.namespace] = recorded
        seq = len(self.events) + 1
        body = orjson.loads(orjson.dumps(new.body))
        event = Event(
            position=Position(0, seq), event_id=new.event_id, type=new.type, schema_version=1, namespace=new.namespace,
            session=new.session, actor=new.actor, origin=new.origin, session_kind=new.session_kind, appended_at=now,
            recorded_at=recorded, occurred_at=new.occurred_at, occurred_offset=new.occurred_offset, generation=None,
            correlation_id=new.correlation_id, causation_id=new.causation_id, evidence=new.evidence,
            facts=orjson.loads(orjson.dumps(new.facts)), body=body, key_id=seq, digest=sha256(b"%d" % seq).digest(),
        )  # fmt: skip
        self.events.append(event)
        self._erased |= {(new.namespace, event_id) for event_id in new.erases}
        return Recorded(event_id=new.event_id, position=event.position)

    def _find(self, namespace: str, event_id: str) -> Event | None:
        return next((e for e in self.events if e.namespace == namespace and e.event_id == event_id), None)

    def append_many(self, batches: Sequence[Batch]) -> list[Appended | Exception]:
        if self.down is not None:
            raise self.down
        self.exchanges.append(len(batches))
        outcomes: list[Appended | Exception] = []
        for batch in batches:
            try:
                outcomes.append(self.append(batch))
            except Exception as error:
                outcomes.append(error)
        return outcomes

    def read(self, partition: int, *, after: int, limit: int = 500) -> list[Event]:
        return [self._opened(event) for event in self.events[after : after + limit]]

    def _opened(self, event: Event) -> Event:
        return replace(event, body=None) if event.key_id in self._keys.destroyed else event

    def wait(self, after: dict[int, int], *, seconds: float) -> bool:
        return len(self.events) > after[0]

    def fetch(self, position: Position) -> Event:
        if not 0 < position.seq <= len(self.events):
            raise NotFound("no such event")
        return self._opened(self.events[position.seq - 1])

    def locate(self, namespace: str, event_ids: Sequence[str]) -> list[Position | None]:
        found = (self._find(namespace, event_id) for event_id in event_ids)
        return [None if event is None else event.position for event in found]

    def head(self, partition: int) -> int:
        return len(self.events)

    def namespace_head(self, namespace: str) -> NamespaceHead:
        own = [e for e in self.events if e.namespace == namespace]
        raw = [e.position.seq for e in own if e.type in RAW_TYPES]
        last = own[-1].position if own else Position(0, 0)
        return NamespaceHead(position=last, raw_seq=raw[-1] if raw else 0, recorded_at=self._recorded.get(namespace, 0))
