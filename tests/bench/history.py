"""A long history in a log, made up: messages in two languages, what was read of them, corrections and forgetting.

200 namespaces, one of which holds half of all. Three events a message on average: the words, the claim, the closing of
its window; one message in fifty is corrected, one in two hundred forgotten. A namespace has a new speaker every 400
messages. Seeded; appended in process, in batches of one namespace.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from taishi.ingest.claims import Claim, Quote
from taishi.ingest.derived import claim_event, completed_event
from taishi.ingest.envelope import Actor, Event, NewEvent, Position
from taishi.ingest.ids import new_id
from taishi.ingest.instants import SECOND
from taishi.ingest.keys import KeyStore
from taishi.ingest.log import Batch, EventLog
from taishi.ingest.registry import default_registry
from taishi.ingest.slots import Fingerprints, bind
from taishi.ingest.windows import window_id
from tests.bench.corpus import Message, messages

NAMESPACES = 200
BATCH = 33
"""Messages of one batch."""
SPEAKER = 400
"""Messages of one speaker."""
_AT_ONCE = 8
_BEGAN = 1_700_000_000 * SECOND


@dataclass(slots=True)
class _Namespace:
    name: str
    clock: int = _BEGAN
    said: int = 0
    lately: list[tuple[str, str, Claim]] = field(default_factory=list)


class HistoryWriter:
    """Appends about `events` events. With `raw`, messages alone (to be read by an extractor)."""

    def __init__(self, log: EventLog, keys: KeyStore, *, events: int, raw: bool = False, seed: int = 7) -> None:
        self._log = log
        self._keys = keys
        self._left = events
        self._raw = raw
        self._rng = random.Random(seed)
        self._messages = messages(seed)
        self._fingerprints = Fingerprints(keys.secret("fingerprint"))
        self._registry = default_registry()
        self._spaces = [_Namespace(f"tenant-{number}") for number in range(NAMESPACES)]

    def write(self) -> Iterator[int]:
        """How many were appended, after each exchange."""
        done = 0
        while self._left > 0:
            half = self._spaces[0]
            spaces = [half if self._rng.random() < 0.5 else self._rng.choice(self._spaces[1:]) for _ in range(_AT_ONCE)]
            batches = [Batch(events=self._batch(space)) for space in spaces]
            for outcome in self._log.append_many(batches):
                if isinstance(outcome, Exception):
                    raise outcome
            count = sum(len(batch.events) for batch in batches)
            if not self._raw and self._rng.random() < 0.4:
                count += self._forget(self._rng.choice(spaces))
            self._left -= count
            done += count
            yield done

    def _batch(self, space: _Namespace) -> list[NewEvent]:
        events: list[NewEvent] = []
        for message in (next(self._messages) for _ in range(BATCH)):
            space.clock += self._rng.randint(1, 600) * SECOND
            space.said += 1
            said = NewEvent(
                event_id=new_id(), type="message.recorded", namespace=space.name, session=f"s{space.said // 40}",
                actor=Actor(id="u", role="user"), body={"text": message.text}, recorded_at=space.clock,
            )  # fmt: skip
            events.append(said)
            if not self._raw:
                events += self._read(space, said, message)
        return events

    def _read(self, space: _Namespace, said: NewEvent, message: Message) -> Sequence[NewEvent]:
        source = _as_read(said)
        window = window_id(space.name, [said.event_id])
        speaker = f"speaker {space.said // SPEAKER}"
        claim = Claim(
            subject=speaker if message.subject == "user" else message.subject,
            predicate=message.predicate, value=message.value, negated=message.negated,
            quote=Quote(event_id=said.event_id, start=0, end=len(message.text), text=message.text), rule="bench",
        )  # fmt: skip
        facts = bind(
            claim, namespace=space.name, evidence=[said.event_id], known_from=space.clock, strength=40,
            registry=self._registry, fingerprints=self._fingerprints,
        )  # fmt: skip
        stated = claim_event(claim, facts, source=source, window_id=window, evidence=[said.event_id], generation=1)
        closed = completed_event(
            namespace=space.name, session=said.session, window_id=window, event_ids=[said.event_id], claims=1,
            decisions={}, extractor="bench@1", generation=1,
        )  # fmt: skip
        space.lately = [*space.lately[-20:], (facts.claim_id, said.event_id, claim)]
        events = [stated, closed]
        if self._rng.random() < 0.02:
            events.append(self._correct(space))
        return events

    def _correct(self, space: _Namespace) -> NewEvent:
        claim_id, _, claim = self._rng.choice(space.lately)
        own = new_id()
        right = Claim(subject=claim.subject, predicate=claim.predicate, value=f"{claim.value} 2")
        facts = bind(
            right, namespace=space.name, evidence=[own], known_from=None, strength=40, registry=self._registry,
            fingerprints=self._fingerprints, correction=True, targets=[claim_id], was="wrong",
        )  # fmt: skip
        return NewEvent(
            event_id=own, type="claim.corrected", namespace=space.name, body=right.to_body(),
            facts={"claim": facts.to_header()}, recorded_at=space.clock,
        )  # fmt: skip

    def _forget(self, space: _Namespace) -> int:
        if len(space.lately) < 3:
            return 0
        claim_id, event_id, _ = space.lately.pop(0)
        (place,) = self._log.locate(space.name, [event_id])
        if place is None:
            return 0
        said, stated = (self._log.fetch(Position(place.partition, seq)) for seq in (place.seq, place.seq + 1))
        gone = [said, stated]
        space.clock += SECOND
        tombstone = NewEvent(
            event_id=new_id(), type="claim.forgotten", namespace=space.name, body={}, recorded_at=space.clock,
            facts={
                "kind": "claim", "claims": [[claim_id, stated.position.seq]],
                "events": [[e.event_id, e.position.seq] for e in gone], "keys": [e.key_id for e in gone],
            },
            erases=tuple(e.event_id for e in gone),
        )  # fmt: skip
        self._log.append(Batch(events=[tombstone]))
        self._keys.destroy([e.key_id for e in gone], at=space.clock)
        return 1


def _as_read(said: NewEvent) -> Event:
    """As far as what is derived from it needs it."""
    assert said.recorded_at is not None
    return Event(
        position=Position(0, 1), event_id=said.event_id, type=said.type, schema_version=1, namespace=said.namespace,
        session=said.session, actor=said.actor, origin=said.origin, session_kind=said.session_kind,
        appended_at=said.recorded_at, recorded_at=said.recorded_at, occurred_at=None, occurred_offset=None,
        generation=None, correlation_id=None, causation_id=None, evidence=(), facts={}, body=said.body, key_id=0,
        digest=b"",
    )  # fmt: skip
