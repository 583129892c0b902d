"""Builds the events of one partition as a reader of the log would see them, without a server."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any
from uuid import UUID

from taishi.ingest.claims import Claim, Quote
from taishi.ingest.envelope import Actor, Event, Position
from taishi.ingest.registry import default_registry
from taishi.ingest.slots import Fingerprints, bind

FINGERPRINTS = Fingerprints(b"test" * 8)


class History:
    """Appends events with growing positions. `recorded_at` is the position in seconds unless given; with a `clock`
    (an instant, to be set forward) events are appended and recorded at its time."""

    def __init__(self, namespace: str = "ns", *, clock: int | None = None) -> None:
        self.namespace = namespace
        self.clock = clock
        self.events: list[Event] = []

    def add(self, type_: str, *, namespace: str | None = None, recorded_at: int | None = None, **more: Any) -> Event:
        seq = len(self.events) + 1
        at = seq * 1_000_000 if self.clock is None else self.clock + seq
        event = Event(
            position=Position(0, seq),
            event_id=more.pop("event_id", str(UUID(int=seq))),
            type=type_,
            schema_version=1,
            namespace=namespace or self.namespace,
            session=more.pop("session", None),
            actor=more.pop("actor", Actor()),
            origin=more.pop("origin", "user_direct"),
            session_kind="chat",
            appended_at=at,
            recorded_at=at if recorded_at is None else recorded_at,
            occurred_at=more.pop("occurred_at", None),
            occurred_offset=None,
            generation=more.pop("generation", None),
            correlation_id=None,
            causation_id=None,
            evidence=tuple(more.pop("evidence", ())),
            facts=more.pop("facts", {}),
            body=more.pop("body", {}),
            key_id=seq,
            digest=hashlib.sha256(str(seq).encode()).digest(),
        )
        assert not more, more
        self.events.append(event)
        return event

    def say(self, text: str, **more: Any) -> Event:
        return self.add("message.recorded", body={"text": text}, **more)

    def claim(
        self,
        subject: str,
        predicate: str,
        value: str,
        *,
        said: Event | None = None,
        namespace: str | None = None,
        recorded_at: int | None = None,
        strength: int = 40,
        correction: bool = False,
        targets: tuple[str, ...] = (),
        was: Any = None,
        type_: str | None = None,
        event_id: str | None = None,
        generation: int | None = None,
        **content: Any,
    ) -> Event:
        """An asserted claim, or an extracted one when `said` is the event whose words state it."""
        quote = None
        if said is not None:
            text = (said.body or {"text": ""})["text"]
            quote = Quote(event_id=said.event_id, start=0, end=len(text), text=text)
        claim = Claim(subject=subject, predicate=predicate, value=value, quote=quote, **content)
        own = event_id or str(UUID(int=len(self.events) + 1))
        facts = bind(
            claim,
            namespace=namespace or self.namespace,
            evidence=[said.event_id] if said else [own],
            known_from=said.recorded_at if said else None,
            strength=strength,
            registry=default_registry(),
            fingerprints=FINGERPRINTS,
            correction=correction,
            targets=targets,
            was=was,
        )
        return self.add(
            type_ or ("claim.extracted" if said else "claim.asserted"),
            namespace=namespace,
            recorded_at=recorded_at,
            event_id=own,
            generation=generation,
            evidence=[said.event_id] if said else [],
            facts={"claim": facts.to_header()},
            body=claim.to_body(),
        )

    def extracted(self, *said: Event, failed: bool = False, decisions: dict[str, str] | None = None) -> Event:
        facts = {
            "window": "w",
            "events": [e.event_id for e in said],
            "claims": 0,
            "decisions": decisions or {},
            "extractor": "rules@1",
        }
        if failed:
            return self.add("extraction.failed", facts={"window": "w", "events": facts["events"], "error": "timeout"})
        return self.add("extraction.completed", facts=facts)

    def confirm(self, claim: Event) -> Event:
        return self.add("claim.confirmed", facts={"claim": claim_id(claim)})

    def resolve(self, *claims: Event, winner: Event | None = None, recorded_at: int | None = None) -> Event:
        """Settles the slot of `claims`: the winner holds, or all coexist."""
        facts = {
            "slot": claims[0].facts["claim"]["slot"],
            "winner": None if winner is None else claim_id(winner),
            "coexist": winner is None,
            "claims": [claim_id(c) for c in claims],
        }
        return self.add("conflict.resolved", facts=facts, recorded_at=recorded_at)

    def recalled(self, exposure: str, *shown: Event, session: str | None = None) -> Event:
        ids = [claim_id(e) if e.type.startswith("claim.") else e.event_id for e in shown]
        kinds = ["claim" if e.type.startswith("claim.") else "event" for e in shown]
        facts = {"exposure": exposure, "items": ids, "kinds": kinds, "seqs": [], "reader": {}}
        return self.add("memory.recalled", session=session, facts=facts)

    def feedback(self, exposure: str, helpful: bool) -> Event:
        return self.add("feedback.given", facts={"exposure": exposure, "helpful": helpful})

    def forget(self, *gone: Event, kind: str = "claim") -> Event:
        """Forgets claim events and raw events, as the command would name them."""
        claims = [[claim_id(e), e.position.seq] for e in gone if e.type.startswith("claim.")]
        return self.add(
            "claim.forgotten",
            facts={
                "kind": kind,
                "claims": claims,
                "events": [[e.event_id, e.position.seq] for e in gone],
                "keys": [e.key_id for e in gone],
            },
        )

    def after_erasure(self) -> list[Event]:
        """The same events as a rebuild reads them: bodies whose keys were destroyed are gone."""
        erased = {seq for e in self.events if e.type.endswith(".forgotten") for _, seq in e.facts["events"]}
        return [replace(e, body=None) if e.position.seq in erased else e for e in self.events]


def claim_id(event: Event) -> str:
    return str(event.facts["claim"]["claim_id"])
