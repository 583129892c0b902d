"""Memories one by one and as a list: what is known of each, its whole life, and where it came from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from taishi.ingest.envelope import Position
from taishi.ingest.errors import NotFound, TaishiError
from taishi.ingest.instants import render
from taishi.ingest.log import EventLog
from taishi.ingest.normal import normal_value

from .cursors import decode, encode
from .items import Sources, claim_item, event_item, evidence_of_event
from .reading import ReadModel
from .rows import CLAIM_COLUMNS, ClaimRow, EventRow, NamespaceRow
from .validity import Point, Verdict, judge

PAGE: Final = 50
SCANNED: Final = 500
"""Claims judged at a time while a page fills."""
MANY: Final = 2_000
"""Claims of one subject from which its list is read in the namespace's order, not sorted."""
AFTER_CLAIM: Final = 600
"""Events behind a claim in which its extraction's end is looked for: a job closes its window in one batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRequest:
    """`statuses` None: what holds (current, contested). Instants; None is now."""

    namespace: str
    subject: str | None = None
    predicate: str | None = None
    statuses: frozenset[str] | None = None
    valid_at: int | None = None
    known_at: int | None = None
    limit: int = PAGE
    cursor: str | None = None


def list_memories(model: ReadModel, namespace: NamespaceRow | None, request: ListRequest, now: int) -> dict[str, Any]:
    """Newest first. A cursor keeps the instants of the first page, so that the pages are of one moment."""
    statuses = request.statuses or frozenset({"current", "contested"})
    asked = {
        "namespace": request.namespace,
        "subject": request.subject,
        "predicate": request.predicate,
        "statuses": sorted(statuses),
        "valid_at": request.valid_at,
        "known_at": request.known_at,
    }
    before = 1 << 62
    valid_at = now if request.valid_at is None else request.valid_at
    known_at = now if request.known_at is None else request.known_at
    past = known_at < now
    if request.cursor is not None:
        state = decode(request.cursor, asked, names=("before", "valid", "known"))
        before, valid_at, known_at = state["before"], state["valid"], state["known"]
        past = request.known_at is not None and past
    if namespace is None:
        return {"items": [], "next_cursor": None}
    point = Point(valid_at=valid_at, known_at=known_at, past_knowledge=past)
    chosen: list[tuple[ClaimRow, Verdict]] = []
    more = True
    while len(chosen) < request.limit and more:
        rows = _page(model, namespace.ns, request, before)
        more = len(rows) == SCANNED
        verdicts = judge(model, {row.seq: row for row in rows}, point)
        for row in rows:
            before = row.seq
            verdict = verdicts.get(row.seq)
            if verdict is None or verdict.into is not None or verdict.status not in statuses:
                continue
            chosen.append((row, verdict))
            if len(chosen) == request.limit:
                more = more or row is not rows[-1]
                break
    sources = Sources(model, [claim for claim, _ in chosen])
    next_cursor = encode({"before": before, "valid": valid_at, "known": known_at}, asked) if more else None
    return {"items": [claim_item(claim, verdict, sources) for claim, verdict in chosen], "next_cursor": next_cursor}


def _page(model: ReadModel, ns: int, request: ListRequest, before: int) -> list[ClaimRow]:
    where, values = "ns = ?", [ns]
    given: list[Any] = values
    index = "claims_ns"
    if request.subject is not None:
        key = normal_value(request.subject)
        known = model.one("SELECT claims FROM subjects WHERE ns = ? AND subject_key = ?", ns, key)
        where += " AND subject_key = ?"
        given.append(key)
        if known is None or known[0] < MANY or request.predicate is not None:
            index = "claims_subject"
    if request.predicate is not None:
        where += " AND predicate = ?"
        given.append(request.predicate)
        index = "claims_subject" if request.subject is not None else "claims_predicate"
    sql = f"SELECT {CLAIM_COLUMNS} FROM claims INDEXED BY {index} WHERE {where} AND seq < ? ORDER BY seq DESC LIMIT ?"
    return [ClaimRow(*row) for row in model.rows(sql, *given, before, SCANNED)]


class Found:
    """What an id names: a claim (every statement of it, and the one that stands for it at the point) or a raw event."""

    def __init__(self, model: ReadModel, namespace: NamespaceRow | None, memory_id: str, point: Point) -> None:
        """Raises NotFound."""
        self.event: EventRow | None = None
        self.statements: Sequence[ClaimRow] = ()
        if namespace is not None:
            self.statements = model.claims_by_id(namespace.ns, memory_id)
            if not self.statements:
                self.event = model.event_by_id(namespace.ns, memory_id)
        if not self.statements:
            if self.event is None:
                raise NotFound("there is no such memory in this namespace", field="id")
            return
        verdicts = judge(model, {row.seq: row for row in self.statements}, point)
        standing = next((row for row in self.statements if row.seq in verdicts and row.erased_at is None), None)
        claim = standing or self.statements[0]
        verdict = verdicts.get(claim.seq)
        if verdict is None:
            raise NotFound("this memory was not known at the asked time", field="known_at")
        if verdict.into is not None:
            claim = model.claims([verdict.into])[verdict.into]
        self.claim, self.verdict = claim, verdict


def memory(model: ReadModel, found: Found) -> dict[str, Any]:
    """An id that was merged leads to the surviving claim."""
    if found.event is not None:
        return event_item(found.event, model.partition, status=_event_status(found.event))
    return claim_item(found.claim, found.verdict, Sources(model, [found.claim]))


def _event_status(event: EventRow) -> str:
    return "forgotten" if event.text is None else "current"


def life(model: ReadModel, found: Found, point: Point) -> dict[str, Any]:
    """The whole life of a memory: what stated it, what it was believed for and when, what took whose place, its end."""
    if found.event is not None:
        return _life_of_event(model, found.event, point)
    claim = found.claim
    alike = [claim.seq, *model.equals([claim.seq])[claim.seq]]
    said = model.claims({*alike, *(row.seq for row in found.statements)})
    sources = Sources(model, list(said.values()))
    neighbours = model.claims({s for k in model.links_of(alike) for s in (k.old_claim, k.new_claim) if s is not None})
    verdicts = judge(model, neighbours, point)
    return {
        "id": claim.claim_id,
        "status": found.verdict.status,
        "statements": [_statement(model, row) for row in sorted(said.values(), key=lambda r: r.seq)],
        "beliefs": rectangles_of(model, said.values(), point),
        "chain": [
            {
                "known_at": render(k.known_at),
                "rule": k.rule,
                "old": _name(neighbours.get(k.old_claim)),
                "new": None if k.new_claim is None else _name(neighbours.get(k.new_claim)),
                "valid_from": render(k.valid_from),
                "valid_to": render(k.valid_to),
            }
            for k in model.links_of(alike)
        ],
        "neighbours": [
            {"id": row.claim_id, "text": row.text, "value": row.value, "status": verdicts[seq].status}
            for seq, row in sorted(neighbours.items())
            if seq not in said and seq in verdicts
        ],
        "evidence": [piece for row in said.values() for piece in sources.evidence(row.seq)][:20],
    }


def _life_of_event(model: ReadModel, event: EventRow, point: Point) -> dict[str, Any]:
    drawn = model.claims(row.claim for row in model.evidence_from([event.seq]))
    verdicts = judge(model, drawn, point)
    return {
        "id": event.event_id,
        "status": _event_status(event),
        "statements": [evidence_of_event(event, model.partition, None, None)],
        "claims": [
            {"id": drawn[seq].claim_id, "text": drawn[seq].text, "status": verdict.status}
            for seq, verdict in sorted(verdicts.items())
        ],
        "extraction": event.extraction,
        "erased_at": render(event.erased_at),
    }


def _statement(model: ReadModel, row: ClaimRow) -> dict[str, Any]:
    return {
        "id": row.claim_id,
        "event_id": row.event_id,
        "type": row.event_type,
        "position": str(Position(model.partition, row.seq)),
        "recorded_at": render(row.recorded_at),
        "known_from": render(row.known_from),
        "strength": row.strength,
        "correction": bool(row.correction),
        "removed_at": render(row.removed_at),
        "removed_why": row.removed_why,
        "erased_at": render(row.erased_at),
    }


def _name(row: ClaimRow | None) -> dict[str, Any] | None:
    return None if row is None else {"id": row.claim_id, "value": row.value, "text": row.text}


def rectangles_of(
    model: ReadModel, claims: Collection[ClaimRow], point: Point, *, slots: Collection[int] = ()
) -> list[dict[str, Any]]:
    """Every rectangle of some claims (or slots), oldest knowledge first; those of forgotten claims hold no word."""
    known = {row.seq: row for row in claims}
    found = model.all_rectangles(claims=() if slots else known, slots=slots)
    verdicts = judge(model, known, point)
    rows = []
    for r in found:
        claim = known.get(r.claim)
        if claim is None or r.claim not in verdicts:
            continue
        verdict = verdicts[r.claim]
        shown = verdict.status != "forgotten"
        rows.append(
            {
                "id": claim.claim_id,
                "subject": claim.subject if shown else None,
                "predicate": claim.predicate if shown else None,
                "value": claim.value if shown else None,
                "polarity": ("negative" if claim.negated else "positive") if shown else None,
                "text": claim.text if shown else None,
                "status": verdict.status,
                "valid_from": render(r.valid_from),
                "valid_to": render(r.valid_to),
                "known_from": render(r.known_from),
                "known_to": render(r.known_to),
            }
        )
    return rows


def explanation(model: ReadModel, found: Found, point: Point, log: EventLog, namespace: str) -> dict[str, Any]:
    """From the words to the belief: evidence, window and extractor, what the rules read, the chain."""
    told = life(model, found, point)
    if found.event is not None:
        closing = _closing(log, model.partition, namespace, found.event.seq, found.event.event_id)
        return {"memory": memory(model, found), "words": told["statements"], "claims": told["claims"], **closing}
    claim = found.claim
    extracted = claim.event_type == "claim.extracted"
    sources = Sources(model, [claim])
    evidence = sources.evidence(claim.seq)
    heard = evidence[0]["event_id"] if evidence else ""
    closing = _closing(log, model.partition, namespace, claim.seq, heard) if extracted else {"window": None}
    return {
        "memory": memory(model, found),
        "words": evidence,
        **closing,
        "rule": claim.rule,
        "modality": claim.modality,
        "strength": claim.strength,
        "stated": "extracted from words" if extracted else "stated outright",
        "chain": told["chain"],
        "beliefs": told["beliefs"],
    }


def _closing(log: EventLog, partition: int, namespace: str, after: int, event_id: str) -> dict[str, Any]:
    """The window that read `event_id`, by the event that closed it; nothing where the log does not say."""
    try:
        events = log.read(partition, after=after, limit=AFTER_CLAIM)
    except TaishiError:
        return {"window": None}
    for event in events:
        if event.namespace != namespace or event.type not in _CLOSING or event_id not in event.facts.get("events", ()):
            continue
        return {
            "window": {
                "id": event.facts.get("window"),
                "outcome": event.type,
                "events": list(event.facts["events"]),
                "decision": event.facts.get("decisions", {}).get(event_id),
                "position": str(event.position),
            },
            "extractor": event.facts.get("extractor"),
        }
    return {"window": None}


_CLOSING: Final = frozenset({"extraction.completed", "extraction.failed", "window.skipped"})

