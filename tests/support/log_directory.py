"""A claim directory that knows what a test's log says, without any read model: small logs only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

from taishi.commands.directory import ClaimDirectory, Closure, KnownClaim, KnownEvent, KnownSlot, Scope
from taishi.commands.lifecycle import Due
from taishi.ingest.claims import Claim, ClaimFacts
from taishi.ingest.envelope import CLAIM_TYPES, RAW_TYPES, Event, Position
from taishi.ingest.errors import Gone, NotFound
from taishi.ingest.instants import FOREVER
from taishi.ingest.log import EventLog
from taishi.ingest.normal import normal_value
from taishi.projections.entities import Identity, names

_LIFE = frozenset({"claim.expired", "claim.archived", "claim.revived"})


class LogDirectory(ClaimDirectory):
    """Reads the whole log for each answer."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.behind: Exception | None = None
        self.parked: set[Position] = set()

    def settled(self, namespace: str, *, seconds: float = 5.0) -> None:
        if self.behind is not None:
            raise self.behind

    def is_parked(self, namespace: str, position: Position) -> bool:
        return position in self.parked

    def unread(self, namespace: str, *, upto: int, seconds: float) -> int:
        return 0

    def erased(self, position: Position, *, seconds: float) -> str | None:
        return None

    def remains(self, namespace: str, claims: Collection[int], events: Collection[int]) -> int:
        return 0

    def _events(self, namespace: str) -> list[Event]:
        found: list[Event] = []
        partition, after = self._log.partition_of(namespace), 0
        while batch := self._log.read(partition, after=after):
            after = batch[-1].position.seq
            found += [event for event in batch if event.namespace == namespace]
        return found

    def _gone(self, namespace: str) -> set[str]:
        return {row[0] for e in self._events(namespace) if e.type.endswith(".forgotten") for row in e.facts["events"]}

    def _claims(self, namespace: str) -> list[KnownClaim]:
        gone = self._gone(namespace)
        wrong: dict[str, str] = {}
        found: list[KnownClaim] = []
        for event in self._events(namespace):
            if event.type == "claim.retracted":
                wrong |= dict.fromkeys(event.facts["targets"], "wrong")
            if event.type not in CLAIM_TYPES:
                continue
            facts = ClaimFacts.from_header(event.facts["claim"])
            if facts.was == "wrong":
                wrong |= dict.fromkeys(facts.targets, "wrong")
            if event.event_id in gone or event.body is None:
                continue
            if facts.valid_from is None:
                facts = replace(facts, valid_from=event.recorded_at)
            found.append(
                KnownClaim(
                    claim_id=facts.claim_id, claim=Claim.from_body(event.body), facts=facts, equals=(),
                    event_id=event.event_id, origin=event.origin, recorded_at=event.recorded_at,
                    position=event.position,
                )
            )  # fmt: skip
        return [replace(c, removed=wrong.get(c.claim_id)) for c in found]  # type: ignore[arg-type]

    def claim(self, namespace: str, memory_id: str) -> KnownClaim:
        claims = self._claims(namespace)
        known = next((c for c in claims if c.claim_id == memory_id), None)
        if known is None:
            stated = {row[0] for e in self._events(namespace) for row in e.facts.get("claims", ())}
            raise Gone("forgotten") if memory_id in stated else NotFound("no such memory")
        same = (known.facts.slot, known.facts.value, known.facts.negates)
        equals = [
            c.claim_id
            for c in claims
            if (c.facts.slot, c.facts.value, c.facts.negates) == same and c.removed is None and c is not known
        ]
        return replace(known, equals=tuple(equals))

    def event(self, namespace: str, memory_id: str) -> KnownEvent:
        for event in self._events(namespace):
            if event.type in RAW_TYPES and event.event_id == memory_id:
                if memory_id in self._gone(namespace):
                    raise Gone("forgotten")
                return KnownEvent(event_id=memory_id, key_id=event.key_id, position=event.position)
        raise NotFound("no such event")

    def closure(self, namespace: str, scope: Scope, *, upto: int | None = None) -> Closure:
        bound = 2**62 if upto is None else upto
        gone = self._gone(namespace)
        raw = [e for e in self._events(namespace) if e.type in RAW_TYPES and e.event_id not in gone]
        claims = self._claims(namespace)
        if scope.kind == "claim":
            known = self.claim(namespace, scope.claim_id or "")
            claims, raw = [c for c in claims if c.claim_id in (known.claim_id, *known.equals)], []
        elif scope.kind == "subject":
            claims, raw = [c for c in claims if c.claim.subject == scope.subject], []
        elif scope.kind == "event":
            claims, raw = [], [e for e in raw if e.event_id == scope.event_id]
        elif scope.kind == "session":
            claims, raw = [], [e for e in raw if e.session == scope.session]
        elif scope.kind == "range":
            since, until = scope.since or 0, scope.until or 2**62
            claims, raw = [], [e for e in raw if since <= e.said_at < until]
        claims = [c for c in claims if c.position.seq <= bound]
        raw = [e for e in raw if e.position.seq <= bound]
        settings = [] if scope.kind != "namespace" else self._settings(namespace, bound, gone)
        keys = {e.event_id: e.key_id for e in self._events(namespace)}
        return Closure(
            claims=[(c.claim_id, c.position.seq) for c in claims],
            events=[(e.event_id, e.position.seq, e.key_id) for e in raw]
            + [(c.event_id, c.position.seq, keys[c.event_id]) for c in claims]
            + [(e.event_id, e.position.seq, e.key_id) for e in settings],
            counts={"claims": len(claims), "events": len(raw), **({"settings": len(settings)} if settings else {})},
            values=list(dict.fromkeys((c.facts.slot, c.facts.value, c.facts.negates) for c in claims))
            if scope.kind == "claim"
            else (),
            names=[scope.subject] if scope.subject is not None else [],
            seen=self._log.head(self._log.partition_of(namespace)),
        )

    def _settings(self, namespace: str, bound: int, gone: set[str]) -> list[Event]:
        set_up = [e for e in self._events(namespace) if e.type == "namespace.configured" and e.event_id not in gone]
        return [e for e in set_up if e.position.seq <= bound]

    def slot(self, namespace: str, slot: str) -> KnownSlot:
        claims = self._claims(namespace)
        wanted = {slot, *(c.facts.slot for c in claims if c.claim_id == slot)}
        found = [c for c in claims if c.facts.slot in wanted]
        if not found:
            raise NotFound("no such slot")
        return KnownSlot(fingerprint=found[0].facts.slot, claims=tuple(c.claim_id for c in found))

    def shown(self, namespace: str, exposure: str, *, seconds: float) -> int | None:
        told = [e.facts for e in self._events(namespace) if e.type == "memory.recalled"]
        return next((len(facts["items"]) for facts in told if facts["exposure"] == exposure), None)

    def names(self, namespace: str, name: str) -> tuple[str, ...]:
        said = [
            Identity(
                e.position.seq, e.type.removeprefix("entity."), e.recorded_at, e.body["name"],
                e.body.get("of") or e.body.get("into"),
            )
            for e in self._events(namespace)
            if e.type.startswith("entity.") and e.body
        ]  # fmt: skip
        known = [row for row in names(said) if row.known_to == FOREVER]
        mine = {row.entity for row in known if row.key == normal_value(name)}
        return tuple(row.name for row in sorted(known, key=lambda r: not r.main) if row.entity in mine)

    def faded(self, namespace: str, claim_id: str) -> Due | None:
        """As the last event that speaks of it says."""
        told = [
            e for e in self._events(namespace) if e.type in _LIFE and any(c[0] == claim_id for c in e.facts["claims"])
        ]
        if not told or told[-1].type == "claim.revived":
            return None
        return Due(
            namespace=namespace, kind="claim.revived", reason="confirmed", claims=told[-1].facts["claims"],
            events=told[-1].facts["events"], since=told[-1].recorded_at, activation=1.0, predicate=None,
        )  # fmt: skip

    def zone(self, namespace: str) -> tzinfo:
        names = [e.body["timezone"] for e in self._events(namespace) if e.type == "namespace.configured" and e.body]
        return ZoneInfo(names[-1]) if names else UTC
