"""The commands' claim directory, answered from the read models: the one place where both sides meet."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from datetime import tzinfo
from typing import Final
from zoneinfo import ZoneInfo

import orjson

from taishi.commands.directory import Closure, KnownClaim, KnownEvent, KnownSlot, Scope
from taishi.commands.lifecycle import Due
from taishi.ingest.claims import Claim, ClaimFacts
from taishi.ingest.envelope import Position
from taishi.ingest.errors import Gone, NotCaughtUp, NotFound
from taishi.ingest.instants import BEGINNING, FOREVER
from taishi.ingest.log import EventLog
from taishi.projections.closure import Closures, ToErase
from taishi.projections.due import open_due
from taishi.projections.lookup import FoundClaim, Lookup

from .kept_files import KeptFiles

_POLL_SECONDS: Final = 0.001
_LONGEST_POLL_SECONDS: Final = 0.02
_EVERYTHING: Final = 2**62


class ReadModelDirectory:
    """Implements `commands.directory.ClaimDirectory`. Blocks; safe to call from several threads."""

    def __init__(self, *, log: EventLog, lookup: Lookup, kept: KeptFiles) -> None:
        self._log = log
        self._lookup = lookup
        self._kept = kept

    def settled(self, namespace: str, *, seconds: float = 5.0) -> None:
        head = self._log.namespace_head(namespace).position
        if not _until(lambda: self._lookup.checkpoint(head.partition) >= head.seq, seconds):
            raise NotCaughtUp(f"the read models are behind {head}: try again", position=str(head))

    def unread(self, namespace: str, *, upto: int, seconds: float) -> int:
        partition = self._log.partition_of(namespace)
        found = self._lookup.namespace(partition, namespace)
        if found is None:
            return 0
        _until(lambda: not self._lookup.unread(partition, found[0], upto=upto), seconds)
        return self._lookup.unread(partition, found[0], upto=upto)

    def erased(self, position: Position, *, seconds: float) -> str | None:
        partition, seq = position.partition, position.seq
        if not _until(lambda: self._kept.are_scrubbed(position), seconds) or self._kept.resting(partition):
            raise NotCaughtUp(f"what was forgotten is not yet gone everywhere: {position}", position=str(position))
        return self._lookup.chain(partition, seq)

    def remains(self, namespace: str, claims: Collection[int], events: Collection[int]) -> int:
        partition = self._log.partition_of(namespace)
        return self._kept.left(partition, claims, events)

    def _namespace(self, namespace: str) -> tuple[int, int]:
        partition = self._log.partition_of(namespace)
        found = self._lookup.namespace(partition, namespace)
        if found is None:
            raise NotFound("nothing is known in this namespace", field="namespace")
        return partition, found[0]

    def _found(self, partition: int, ns: int, memory_id: str) -> FoundClaim:
        rows = self._lookup.claims(partition, ns, memory_id)
        if not rows:
            raise NotFound("no such memory in this namespace", field="id")
        found = next((row for row in rows if row.erased_at is None), None)
        if found is None:
            raise Gone("this memory was forgotten, and stays so: remember anew what is to be known", field="id")
        return found

    def claim(self, namespace: str, memory_id: str) -> KnownClaim:
        partition, ns = self._namespace(namespace)
        found = self._found(partition, ns, memory_id)
        if found.removed_why is None:
            holders = self._lookup.holders(partition, found)
            if holders and found.seq not in {h.seq for h in holders}:
                found = holders[0]
        equals = [c.claim_id for c in self._lookup.equals(partition, found) if c.removed_why is None]
        return KnownClaim(
            claim_id=found.claim_id,
            claim=_content(found),
            facts=_facts(found),
            equals=tuple(dict.fromkeys(i for i in equals if i != found.claim_id)),
            event_id=found.event_id,
            origin=self._lookup.origin(partition, found.seq),
            recorded_at=found.recorded_at,
            position=Position(partition, found.seq),
            removed=found.removed_why,  # type: ignore[arg-type]
        )

    def event(self, namespace: str, memory_id: str) -> KnownEvent:
        partition, ns = self._namespace(namespace)
        found = self._lookup.event(partition, ns, memory_id)
        if found is None:
            raise NotFound("no such memory in this namespace", field="id")
        if found.erased_at is not None:
            raise Gone("this memory was forgotten, and stays so: remember anew what is to be known", field="id")
        return KnownEvent(
            event_id=found.event_id,
            key_id=found.key_id,
            position=Position(partition, found.seq),
            claims=tuple(self._lookup.claims_of_event(partition, found.seq)),
        )

    def closure(self, namespace: str, scope: Scope, *, upto: int | None = None) -> Closure:
        try:
            partition, ns = self._namespace(namespace)
        except NotFound:
            return Closure(claims=(), events=(), counts={"claims": 0, "events": 0})
        seen = self._lookup.checkpoint(partition)
        taken = self._taken(partition, ns, scope, _EVERYTHING if upto is None else upto)
        foreign = [row for _, row in taken.foreign]
        besides = {
            "names": taken.identities, "remarks": taken.remarks, "settings": taken.settings,
            "dead_letters": taken.parked,
        }  # fmt: skip
        rows = dict.fromkeys(
            (*taken.raw_events, *taken.claim_events, *foreign, *(r for some in besides.values() for r in some))
        )
        names: list[str] = []
        if scope.kind == "subject" and scope.subject is not None:
            names = [scope.subject, *self._lookup.names(partition, ns, scope.subject)]
        return Closure(
            claims=[*taken.claims, *((claim_id, row[1]) for claim_id, row in taken.foreign)],
            events=list(rows),
            counts={
                "claims": len(taken.claims),
                "events": len(taken.raw_events),
                **{kind: len(some) for kind, some in besides.items() if some},
            },
            values=taken.values if scope.kind == "claim" else (),
            names=names,
            seen=seen,
        )

    def _taken(self, partition: int, ns: int, scope: Scope, upto: int) -> ToErase:
        closures = Closures(self._lookup, partition, ns)
        match scope.kind:
            case "claim":
                assert scope.claim_id is not None
                return closures.of_claim(self._found(partition, ns, scope.claim_id), upto=upto)
            case "event":
                assert scope.event_id is not None
                found = self._lookup.event(partition, ns, scope.event_id)
                return closures.of_event(0 if found is None else found.seq, upto=upto)
            case "subject":
                assert scope.subject is not None
                return closures.of_subject(scope.subject, upto=upto)
            case "session":
                assert scope.session is not None
                return closures.of_session(scope.session, upto=upto)
            case "range":
                since = BEGINNING if scope.since is None else scope.since
                until = FOREVER if scope.until is None else scope.until
                return closures.of_range(since, until, upto=upto)
            case "namespace":
                return closures.of_namespace(upto=upto)

    def slot(self, namespace: str, slot: str) -> KnownSlot:
        partition, ns = self._namespace(namespace)
        found = self._lookup.live_of_slot(partition, ns, slot)
        if not found:
            raise NotFound("no such slot in this namespace", field="slot")
        claims = dict.fromkeys(c.claim_id for c in found)
        return KnownSlot(fingerprint=found[0].slot_fingerprint, claims=tuple(claims))

    def is_parked(self, namespace: str, position: Position) -> bool:
        try:
            partition, ns = self._namespace(namespace)
        except NotFound:
            return False
        return position.partition == partition and self._lookup.is_parked(partition, ns, position.seq)

    def shown(self, namespace: str, exposure: str, *, seconds: float) -> int | None:
        partition = self._log.partition_of(namespace)

        def told() -> int | None:
            found = self._lookup.namespace(partition, namespace)
            return None if found is None else self._lookup.shown(partition, found[0], exposure)

        _until(lambda: told() is not None, seconds)
        return told()

    def names(self, namespace: str, name: str) -> tuple[str, ...]:
        partition = self._log.partition_of(namespace)
        found = self._lookup.namespace(partition, namespace)
        return () if found is None else tuple(self._lookup.names(partition, found[0], name))

    def faded(self, namespace: str, claim_id: str) -> Due | None:
        partition, ns = self._namespace(namespace)
        model = open_due(self._lookup.folder(), partition)
        if model is None:
            return None
        try:
            found = model.faded(ns, claim_id)
        finally:
            model.close()
        return None if found is None else Due(namespace=namespace, **found._asdict())

    def zone(self, namespace: str) -> tzinfo:
        found = self._lookup.namespace(self._log.partition_of(namespace), namespace)
        return ZoneInfo("UTC" if found is None else found[1])


def _until(done: Callable[[], bool], seconds: float) -> bool:
    """Waits until `done`, at most `seconds`. Whether it is."""
    deadline = time.monotonic() + seconds
    pause = _POLL_SECONDS
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_POLL_SECONDS)
    return True


def _content(found: FoundClaim) -> Claim:
    """The claim as far as a correction of it needs it; its quote stays with its own event."""
    assert found.subject is not None and found.predicate is not None and found.value is not None
    return Claim(
        subject=found.subject,
        predicate=found.predicate,
        value=found.value,
        negated=bool(found.negated),
        qualifiers=orjson.loads(found.qualifiers) if found.qualifiers else {},
        modality=found.modality,  # type: ignore[arg-type]
        valid_from=found.valid_from,
        valid_to=None if found.valid_to >= FOREVER else found.valid_to,
        to_inferred=bool(found.to_inferred),
        grain=found.grain,  # type: ignore[arg-type]
        occurs_from=found.occurs_from,
        occurs_to=found.occurs_to,
        temporary=bool(found.temporary),
        importance=0.5 if found.importance is None else found.importance,
        confidence=1.0 if found.confidence is None else found.confidence,
        said_by=found.speaker,
    )


def _facts(found: FoundClaim) -> ClaimFacts:
    return ClaimFacts(
        claim_id=found.claim_id,
        slot=found.slot_fingerprint,
        value=found.value_fp,
        negates=bool(found.negates),
        valid_from=found.valid_from,
        valid_to=found.valid_to,
        to_inferred=bool(found.to_inferred),
        known_from=found.known_from,
        strength=found.strength,
        correction=bool(found.correction),
    )
