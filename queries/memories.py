"""One memory: what is known of it now, and its whole life."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from taishi.ingest.envelope import Position
from taishi.ingest.errors import NotFound
from taishi.ingest.instants import FOREVER, render

from .items import Sources, claim_item, event_item, evidence_of_event
from .joint import Joint
from .point import Point
from .reading import ReadModel
from .rows import ClaimRow, EventRow, NamespaceRow, Standing
from .validity import judge
from .weighed import as_judged, as_weighed


class Found:
    """What an id names: a claim (every statement of it, and the one that stands for it at the point) or a raw event."""

    def __init__(self, model: ReadModel, namespace: NamespaceRow | None, memory_id: str, point: Point) -> None:
        """Raises NotFound."""
        self.ns = 0 if namespace is None else namespace.ns
        self.point = point
        self.event: EventRow | None = None
        self.statements: Sequence[ClaimRow] = ()
        if namespace is not None:
            self.statements = model.claims_by_id(namespace.ns, memory_id)
            if not self.statements:
                self.event = model.event_by_id(namespace.ns, memory_id)
        if not self.statements:
            if self.event is None:
                raise NotFound("there is no such memory in this namespace", field="id")
            if not (point.knows(self.event.recorded_at) and point.read(self.event.seq)):
                raise NotFound("this memory was not known at the asked time", field="known_at")
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
    """As it was at the point that it was found at. An id that was merged leads to the surviving claim."""
    point = found.point
    if found.event is not None:
        item = event_item(found.event, model.partition, status=_event_status(found.event))
        return item | standing(model, found.ns, [found.event.event_id], point)
    claim = as_weighed(model, {found.claim.seq: found.claim}, point)[found.claim.seq]
    item = claim_item(claim, found.verdict, Sources(model, [claim], point=point), past=point.known)
    return item | standing(model, found.ns, _ids(model, claim, point), point)


def _ids(model: ReadModel, claim: ClaimRow, point: Point) -> list[str]:
    """The ids under which the claim and its equals go."""
    alike = Joint(model, [claim], point=point).equals()[claim.seq]
    return list(dict.fromkeys([claim.claim_id, *model.claim_ids(alike).values()]))


def standing(model: ReadModel, ns: int, memory_ids: Iterable[str], point: Point) -> dict[str, Any]:
    """How often callers confirmed a memory (under any of its ids) or found it helpful when it was recalled, and on how
    many days it was: by the point."""
    found: Sequence[Standing] = as_judged(model, ns, memory_ids, point)
    confirmed = [s.confirmed_at for s in found if s.confirmed_at is not None]
    return {
        "confirmations": sum(s.confirmations for s in found),
        "confirmed_at": render(max(confirmed)) if confirmed else None,
        "helpful": sum(s.helpful for s in found),
        "unhelpful": sum(s.unhelpful for s in found),
        "reads": sum(s.reads for s in found),
        "read_at": render(max((s.read_at for s in found if s.read_at is not None), default=None)),
    }


def _event_status(event: EventRow) -> str:
    return "forgotten" if event.text is None else "current"


def life(model: ReadModel, found: Found, point: Point) -> dict[str, Any]:
    """The whole life of a memory: what stated it, what it was believed for and when, what took whose place, its end."""
    if found.event is not None:
        return _life_of_event(model, found.event, point)
    claim = found.claim
    alike = [claim.seq, *Joint(model, [claim], point=point).equals()[claim.seq]]
    stated = [row.seq for row in found.statements if point.knows(row.known_from) and point.read(row.seq)]
    said = model.claims({*alike, *stated})
    sources = Sources(model, list(said.values()), point=point)
    links = Joint(model, [said[seq] for seq in alike if seq in said], point=point).links()
    links = [k for k in links if point.knows(k.known_at)]
    neighbours = model.claims({s for k in links for s in (k.old_claim, k.new_claim) if s is not None})
    verdicts = judge(model, neighbours, point)
    return {
        "id": claim.claim_id,
        "status": found.verdict.status,
        "statements": [_statement(model, row, point) for row in sorted(said.values(), key=lambda r: r.seq)],
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
            for k in links
        ],
        "neighbours": [
            {"id": row.claim_id, "text": row.text, "value": row.value, "status": verdicts[seq].status}
            for seq, row in sorted(neighbours.items())
            if seq not in said and seq in verdicts
        ],
        "evidence": [piece for row in said.values() for piece in sources.evidence(row.seq)][:20],
        "settled": settled(model, [claim.slot], point),
        **standing(model, found.ns, dict.fromkeys(row.claim_id for row in said.values()), point),
    }


def settled(model: ReadModel, slots: Collection[int], point: Point) -> list[dict[str, Any]]:
    """Conflicts of the slots that callers settled, as far as was known."""
    return [
        {
            "at": render(s.at),
            "position": str(Position(model.partition, s.seq)),
            "winner": s.winner,
            "coexist": s.winner is None,
        }
        for s in model.settled(slots)
        if point.knows(s.at)
    ]


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
        "decision": event.decision,
        "erased_at": render(event.erased_at),
    }


def _statement(model: ReadModel, row: ClaimRow, point: Point) -> dict[str, Any]:
    back = row.removed_at is not None and point.knows(row.removed_at)
    return {
        "id": row.claim_id,
        "event_id": row.event_id,
        "type": row.event_type,
        "position": str(Position(model.partition, row.seq)),
        "recorded_at": render(row.recorded_at),
        "known_from": render(row.known_from),
        "strength": row.strength,
        "correction": bool(row.correction),
        "removed_at": render(row.removed_at) if back else None,
        "removed_why": row.removed_why if back else None,
        "erased_at": render(row.erased_at),
    }


def _name(row: ClaimRow | None) -> dict[str, Any] | None:
    return None if row is None else {"id": row.claim_id, "value": row.value, "text": row.text}


def rectangles_of(
    model: ReadModel, claims: Collection[ClaimRow], point: Point, *, slots: Collection[int] = ()
) -> list[dict[str, Any]]:
    """Every rectangle of some claims (or slots) that was known by the point, oldest knowledge first; those of forgotten
    claims hold no word."""
    known = {row.seq: row for row in claims}
    found = model.all_rectangles(claims=() if slots else known, slots=slots)
    verdicts = judge(model, known, point)
    fingerprints = model.fingerprints({known[seq].slot for seq, v in verdicts.items() if v.status == "contested"})
    rows: list[dict[str, Any]] = []
    for r in found:
        claim = known.get(r.claim)
        if claim is None or r.claim not in verdicts or not point.knows(r.known_from):
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
                "known_to": render(r.known_to if point.knows(r.known_to) else FOREVER),
                **({"slot": fingerprints[claim.slot]} if verdict.status == "contested" else {}),
            }
        )
    return rows
