"""Memories as callers see them: the fields of `items[]`, JSON-ready.

Every item carries its evidence (event id, position and quote, or `erased`), both intervals, and its place in the
supersede chain. What was forgotten is shown without a word: ids, intervals, status.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import orjson

from taishi.ingest.envelope import Position
from taishi.ingest.instants import render
from taishi.projections.rendering import spoken

from .joint import Joint
from .point import Point
from .reading import ReadModel
from .rows import ClaimRow, EventRow, Link
from .validity import Verdict

EVIDENCE: Final = 20
"""Pieces of evidence that one item names, at most; `evidence_total` tells when there are more."""
QUOTE: Final = 300
"""Characters of a raw event that stand as its quote where the claim names no span."""


class Sources:
    """Evidence and chain links of some claims, read together."""

    def __init__(
        self,
        model: ReadModel,
        claims: Collection[ClaimRow],
        *,
        more: Mapping[int, Sequence[int]] | None = None,
        point: Point | None = None,
    ) -> None:
        """`more` are further raw events (by position) of claims, such as those of equal claims folded into them. What
        was read or known only after `point` is not told."""
        self._model: Final = model
        self._partition: Final = model.partition
        self._claims = {c.seq: c for c in claims}
        self._point = point
        joint = Joint(model, claims, point=point)
        equal = joint.equals()
        said = {**self._claims, **model.claims({seq for seqs in equal.values() for seq in seqs} - self._claims.keys())}
        spans: dict[int, list[tuple[int, int | None, int | None]]] = {}
        for row in model.evidence_of(said):
            spans.setdefault(row.claim, []).append((row.event, row.start, row.stop))
        more = {} if more is None else more
        rests_on = {event for found in spans.values() for event, _, _ in found}
        self._events = model.events(rests_on.union(*more.values()))
        self._evidence = {}
        for seq in self._claims:
            alike = [said[s] for s in sorted({seq, *equal.get(seq, ())}) if s in said and self._was_told(said[s])]
            self._evidence[seq] = self._of(alike, spans, more.get(seq, ()))
        links = [k for k in joint.links() if point is None or point.knows(k.known_at)]
        others = model.claim_ids({s for k in links for s in (k.old_claim, k.new_claim) if s is not None})
        self._chain = {seq: _place(seq, links, others) for seq in self._claims}

    def _was_told(self, claim: ClaimRow) -> bool:
        return self._point is None or (self._point.read(claim.seq) and self._point.knows(claim.known_from))

    def evidence(self, claim: int) -> list[dict[str, Any]]:
        return self._evidence[claim]

    def chain(self, claim: int) -> dict[str, Any]:
        return self._chain[claim]

    def slot(self, claim: ClaimRow) -> str:
        """The fingerprint of its slot, by which a conflict is settled."""
        return self._model.fingerprints([claim.slot])[claim.slot]

    def _of(
        self,
        said: Sequence[ClaimRow],
        spans: Mapping[int, Sequence[tuple[int, int | None, int | None]]],
        more: Sequence[int],
    ) -> list[dict[str, Any]]:
        found: dict[int, dict[str, Any]] = {}
        for claim in said:
            rests_on = spans.get(claim.seq, ())
            for event, start, stop in rests_on:
                row = self._events.get(event)
                if row is not None and event not in found:
                    found[event] = evidence_of_event(row, self._partition, start, stop)
            if not rests_on and claim.seq not in found:
                found[claim.seq] = _own_evidence(claim, self._partition)
        for event in more:
            if event in self._events and event not in found:
                found[event] = evidence_of_event(self._events[event], self._partition, None, None)
        return [found[seq] for seq in sorted(found)][:EVIDENCE]


def evidence_of_event(row: EventRow, partition: int, start: int | None, stop: int | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"event_id": row.event_id, "position": str(Position(partition, row.seq))}
    if row.text is None:
        return {**entry, "erased": True}
    return {**entry, "quote": row.text[:QUOTE] if start is None or stop is None else row.text[start:stop]}


def _own_evidence(claim: ClaimRow, partition: int) -> dict[str, Any]:
    """A claim that was stated outright rests on its own event."""
    entry: dict[str, Any] = {"event_id": claim.event_id, "position": str(Position(partition, claim.seq))}
    return {**entry, "erased": True} if claim.text is None else {**entry, "quote": claim.text}


def _place(seq: int, links: Sequence[Link], ids: Mapping[int, str]) -> dict[str, Any]:
    """What the claim took the place of, and what took its place, by which rule."""

    def step(other: int | None, link: Link) -> dict[str, Any]:
        return {"id": None if other is None else ids.get(other), "rule": link.rule, "known_at": render(link.known_at)}

    before = [step(k.old_claim, k) for k in links if k.new_claim == seq]
    after = [step(k.new_claim, k) for k in links if k.old_claim == seq]
    return {name: found for name, found in (("supersedes", before), ("superseded_by", after)) if found}


def claim_item(claim: ClaimRow, verdict: Verdict, sources: Sources, *, past: int | None = None) -> dict[str, Any]:
    """A claim at the asked point. `claim` is the one that stands for it (`verdict.into` where that is another). An end
    of knowledge behind the instant `past` was not known then. What is contested names the slot that it is contested in.
    """
    shown = verdict.status != "forgotten"
    item: dict[str, Any] = {
        "kind": "claim",
        "id": claim.claim_id,
        "text": claim.text if shown else None,
        "subject": claim.subject if shown else None,
        "predicate": claim.predicate if shown else None,
        "value": claim.value if shown else None,
        "status": verdict.status,
        "valid_from": render(verdict.valid_from),
        "valid_to": render(verdict.valid_to),
        "occurs_from": render(claim.occurs_from) if shown else None,
        "occurs_to": render(claim.occurs_to) if shown else None,
        "known_from": render(verdict.known_from),
        "known_to": None if past is not None and verdict.known_to > past else render(verdict.known_to),
        "evidence": sources.evidence(claim.seq),
    }
    if shown:
        item |= {
            "polarity": "negative" if claim.negated else "positive",
            "qualifiers": {} if claim.qualifiers is None else orjson.loads(claim.qualifiers),
            "modality": claim.modality,
            "importance": claim.importance,
            "confidence": claim.confidence,
            "said_by": claim.speaker,
        }
    if verdict.status == "contested":
        item["slot"] = sources.slot(claim)
    return item


def event_item(
    event: EventRow, partition: int, *, status: str = "current", more: Sequence[EventRow] = ()
) -> dict[str, Any]:
    """A raw event. It is known from its recording on; it has no interval of validity of its own."""
    erased = event.text is None
    rows = {row.seq: row for row in (event, *more)}
    return {
        "kind": "event",
        "id": event.event_id,
        "text": None if event.text is None else spoken(event.text, event.speaker),
        "subject": None,
        "predicate": None,
        "value": None,
        "status": "forgotten" if erased else status,
        "valid_from": None,
        "valid_to": None,
        "occurs_from": render(event.said_at),
        "occurs_to": None,
        "known_from": render(event.recorded_at),
        "known_to": render(event.erased_at),
        "evidence": [evidence_of_event(rows[seq], partition, None, None) for seq in sorted(rows)],
        "session": event.session,
        "role": event.role,
        "origin": event.origin,
    }
