"""Memories as a list: what holds (or has the asked statuses) at one moment, newest first, in pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from taishi.ingest.normal import normal_value

from .cursors import decode, encode
from .items import Sources, claim_item
from .joint import names_of
from .point import Point
from .reading import ReadModel
from .rows import CLAIM_COLUMNS, ClaimRow, NamespaceRow
from .validity import Verdict, judge
from .weighed import as_weighed

PAGE: Final = 50
SCANNED: Final = 500
"""Claims judged at a time while a page fills."""
MANY: Final = 2_000
"""Claims of one subject from which its list is read in the namespace's order, not sorted."""


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
        rows = _page(model, namespace.ns, request, before, point)
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
    weighed = as_weighed(model, {claim.seq: claim for claim, _ in chosen}, point)
    sources = Sources(model, [claim for claim, _ in chosen], point=point)
    items = [claim_item(weighed[claim.seq], verdict, sources, past=point.known) for claim, verdict in chosen]
    next_cursor = encode({"before": before, "valid": valid_at, "known": known_at}, asked) if more else None
    return {"items": items, "next_cursor": next_cursor}


def _page(model: ReadModel, ns: int, request: ListRequest, before: int, point: Point) -> list[ClaimRow]:
    where, values = "ns = ?", [ns]
    given: list[Any] = values
    index = "claims_ns"
    if request.subject is not None:
        keys = names_of(model, ns, normal_value(request.subject), point=point)
        marks = ", ".join("?" * len(keys))
        sums = model.one(f"SELECT sum(claims) FROM subjects WHERE ns = ? AND subject_key IN ({marks})", ns, *keys)
        where += f" AND subject_key IN ({marks})"
        given += keys
        if sums is None or (sums[0] or 0) < MANY or request.predicate is not None:
            index = "claims_subject"
    if request.predicate is not None:
        where += " AND predicate = ?"
        given.append(request.predicate)
        index = "claims_subject" if request.subject is not None else "claims_predicate"
    sql = f"SELECT {CLAIM_COLUMNS} FROM claims INDEXED BY {index} WHERE {where} AND seq < ? ORDER BY seq DESC LIMIT ?"
    return [ClaimRow._make(row) for row in model.rows(sql, *given, before, SCANNED)]
