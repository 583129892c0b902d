"""Why a memory is there, or why words became none: words → window → extractor → decision or rule → chain → fate, and
who read it.

The read model keeps for each raw event what was decided and the position of the event that says so; the window itself
is read back from the log, and where the log does not answer, what the read model knows is told without it.
"""

from __future__ import annotations

from typing import Any, Final

from taishi.ingest.envelope import Position
from taishi.ingest.errors import TaishiError
from taishi.ingest.instants import render
from taishi.ingest.log import EventLog
from taishi.ingest.provenance import gate
from taishi.ingest.registry import default_registry
from taishi.projections.activation import activation, expires_at, faded_at
from taishi.projections.rendering import USER

from .items import Sources
from .memories import Found, life, memory
from .point import Point
from .reading import ReadModel
from .reads import reads
from .rows import ClaimRow, EventRow
from .weighed import as_used

READINGS: Final = 20
"""Statements, and events that state it, that are told of one by one."""


def explanation(model: ReadModel, found: Found, point: Point, log: EventLog) -> dict[str, Any]:
    """Of a raw event: what was read from it, or why nothing was. Of a claim: from its words to what became of it."""
    told = life(model, found, point)
    if found.event is not None:
        return {
            "memory": memory(model, found),
            "words": told["statements"],
            **_reading(model, found.event, log),
            "claims": told["claims"],
            "fate": {"status": told["status"], "erased_at": told["erased_at"]},
            "reads": reads(model, found.ns, [found.event.event_id], log),
        }
    claim = found.claim
    heard = model.events(row.event for row in model.evidence_of([claim.seq]))
    first = heard[min(heard)] if heard and claim.event_type == "claim.extracted" else None
    return {
        "memory": memory(model, found),
        "words": Sources(model, [claim], point=point).evidence(claim.seq),
        **({"window": None, "decision": None} if first is None else _reading(model, first, log)),
        "readings": [
            {"event_id": event.event_id, "position": str(Position(model.partition, seq)), **_reading(model, event, log)}
            for seq, event in sorted(heard.items())[:READINGS]
        ],
        "statements": [row | _statement(model, row["position"], log) for row in told["statements"][:READINGS]],
        "rule": claim.rule,
        "modality": claim.modality,
        "strength": claim.strength,
        "stated": "stated outright" if first is None else "extracted from words",
        "chain": told["chain"],
        "beliefs": told["beliefs"],
        "settled": told["settled"],
        "fate": {
            **_fate(claim, told, point), "removed_by": _remover(model, claim, point, log),
            "fading": _fading(model, claim, point),
        },
        "reads": reads(model, found.ns, list(dict.fromkeys(row["id"] for row in told["statements"])), log),
    }  # fmt: skip


def _statement(model: ReadModel, position: str, log: EventLog) -> dict[str, Any]:
    """Who stated it, by which event: as the log tells it, nothing where it does not answer."""
    try:
        event = log.fetch(Position.parse(position))
    except TaishiError:
        return {}
    return {
        "actor": {"id": event.actor.id, "role": event.actor.role},
        "origin": event.origin,
        "session": event.session,
        "appended_at": render(event.appended_at),
        "generation": event.generation,
        "schema_version": event.schema_version,
        "reason": (event.body or {}).get("reason"),
    }


def _remover(model: ReadModel, claim: ClaimRow, point: Point, log: EventLog) -> dict[str, Any] | None:
    """The event by which a claim is not believed any more (a correction, a retraction, a forgetting), who was behind
    it, for what reason, and the memory it put in the claim's place; None where the claim was not removed."""
    if claim.removed_seq is None or _by(claim.removed_at, point) is None:
        return None
    position = Position(model.partition, claim.removed_seq)
    instead = model.claims([claim.removed_seq]).get(claim.removed_seq)
    told = {
        "position": str(position),
        "type": None,
        "memory": None if instead is None else {"id": instead.claim_id, "value": instead.value, "text": instead.text},
    }
    try:
        event = log.fetch(position)
    except TaishiError:
        return told
    actor, reason = {"id": event.actor.id, "role": event.actor.role}, (event.body or {}).get("reason")
    return told | {"type": event.type, "actor": actor, "reason": reason}


def _reading(model: ReadModel, event: EventRow, log: EventLog) -> dict[str, Any]:
    """The window that read the event, by whom, and what was decided; `window` None as long as none was closed."""
    verdict = gate(event.origin, event.session_kind, event.text or "")
    told: dict[str, Any] = {
        "provenance": {
            "origin": event.origin, "session_kind": event.session_kind, "strength": verdict.strength,
            "first_person_is_user": verdict.first_person,
        },
        "extraction": event.extraction,
        "extractor": event.extractor,
        "decision": event.decision,
        "window": None,
    }  # fmt: skip
    if event.closing is None:
        return told
    position = Position(model.partition, event.closing)
    window: dict[str, Any] = {"id": None, "outcome": None, "decision": event.decision, "position": str(position)}
    try:
        closing = next(iter(log.read(model.partition, after=event.closing - 1, limit=1)), None)
    except TaishiError:
        closing = None
    if closing is not None:
        facts = closing.facts
        window |= {
            "id": facts.get("window"),
            "outcome": closing.type,
            "events": list(facts.get("events", ())),
            "claims": facts.get("claims"),
            "closed_at": render(closing.appended_at),
        }
    return told | {"window": window}


def _fading(model: ReadModel, claim: ClaimRow, point: Point) -> dict[str, Any]:
    """How vivid it is at the point, as it had been used by then, and what becomes of it if nothing happens."""
    use = as_used(model, [claim.seq], point, before=point.known_at)[claim.seq]
    kind = default_registry().predicate(claim.predicate or "")
    weight, own = 0.5 if claim.importance is None else claim.importance, claim.subject_key == USER
    return {
        "activation": round(activation(use, kind, importance=weight, own=own, now=point.known_at), 4),
        "expires_at": render(expires_at(use, kind, importance=weight, own=own)),
        "archives_at": render(faded_at(use, kind, importance=weight, own=own)),
    }


def _by(at: int | None, point: Point) -> int | None:
    """The instant, if what happened then was known at the point."""
    return at if at is not None and point.knows(at) else None


def _fate(claim: ClaimRow, told: dict[str, Any], point: Point) -> dict[str, Any]:
    """What had become of it by the point."""
    removed, expired, archived = (_by(at, point) for at in (claim.removed_at, claim.expired_at, claim.archived_at))
    mine = {row["id"] for row in told["statements"]}
    after = [
        {"by": None if k["new"] is None else k["new"]["id"], "rule": k["rule"], "known_at": k["known_at"]}
        for k in told["chain"]
        if k["old"] is not None and k["old"]["id"] in mine and (k["new"] is None or k["new"]["id"] not in mine)
    ]
    return {
        "status": told["status"],
        "superseded": after,
        "removed_at": render(removed),
        "removed_why": None if removed is None else claim.removed_why,
        "expired_at": render(expired),
        "archived_at": render(archived),
        "faded_why": None if expired is None and archived is None else claim.faded_why,
        "erased_at": render(claim.erased_at),
    }
