"""What claims weighed, and how they had been used, at a past point: what was said again, confirmed, judged or read only
later did not count then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from taishi.ingest.importance import rules
from taishi.projections.activation import Use

from .point import Point, stood_then
from .reading import ReadModel
from .rows import ClaimRow, Standing


def as_weighed(model: ReadModel, claims: Mapping[int, ClaimRow], point: Point) -> Mapping[int, ClaimRow]:
    """`claims` with their importance at the point, as the fold would have it that had read no further."""
    if point.whole:
        return claims
    given = rules()
    weighed = dict(claims)
    for seq, own, occasions, confirmations in model.rows_in(_WEIGHTS, claims, *point.bounds):
        floors = [own]
        if occasions >= given.said:
            floors.append(given.repeated)
        if confirmations:
            floors.append(given.confirmed)
        if own is not None:
            weighed[seq] = weighed[seq]._replace(importance=max(floors))
    return weighed


def as_used(model: ReadModel, claims: Iterable[int], point: Point, *, before: int) -> dict[int, Use]:
    """How each of `claims` had been used at the point. When it was last said is looked up for those that were told
    before `before`, in whatever words of its slot say the same."""
    if point.whole:
        rows = model.rows_in(_USES, claims, before)
    else:
        rows = model.rows_in(_USES_THEN, claims, *point.bounds, before)
    return {row[0]: Use._make(row[1:]) for row in rows}


def as_judged(model: ReadModel, ns: int, memory_ids: Iterable[str], point: Point) -> list[Standing]:
    """What callers thought of memories at the point. Of the recalls of one day only the first is told there."""
    if point.whole:
        return model.standing(ns, memory_ids)
    return [Standing._make(row) for row in model.rows_named(_JUDGED, memory_ids, *point.bounds, ns)]


_EQUAL: Final = "o.slot = c.slot AND o.value_fp = c.value_fp AND o.negates = c.negates"
_VERSION: Final = """SELECT max(u.seq) FROM uses u
    WHERE u.ns = c.ns AND u.memory_id = c.claim_id AND u.at <= ?2 AND u.seq <= ?3"""
_JUDGED: Final = """SELECT u.memory_id, u.confirmations, (SELECT min(c.at) FROM uses c WHERE c.ns = u.ns
        AND c.memory_id = u.memory_id AND c.confirmations = u.confirmations AND u.confirmations > 0),
    u.helpful, u.unhelpful, u.reads, u.read_at, NULL
    FROM uses u WHERE u.memory_id IN carray(?1) AND u.ns = ?4 AND u.seq = (SELECT max(v.seq) FROM uses v
        WHERE v.ns = u.ns AND v.memory_id = u.memory_id AND v.at <= ?2 AND v.seq <= ?3)"""
_WEIGHTS: Final = f"""SELECT c.seq, c.own_importance, CASE WHEN {stood_then('c')} THEN
        (SELECT count(DISTINCT o.source) FROM claims o WHERE {_EQUAL} AND {stood_then('o')}) ELSE 0 END, s.confirmations
    FROM claims c LEFT JOIN uses s ON s.ns = c.ns AND s.memory_id = c.claim_id AND s.seq = ({_VERSION})
    WHERE c.seq IN carray(?1)"""
_USES: Final = f"""WITH wanted AS (SELECT value FROM carray(?1)) SELECT c.seq,
    CASE WHEN c.kept_from >= ?2 THEN c.kept_from ELSE ifnull((SELECT o.kept_from FROM claims o
        WHERE {_EQUAL} AND o.removed_at IS NULL ORDER BY o.seq DESC LIMIT 1), c.kept_from) END,
    nullif(max(ifnull(s.confirmed_at, 0), ifnull(s.revived_at, 0)), 0), s.read_at, ifnull(s.reads, 0),
    ifnull(s.confirmations, 0), ifnull(s.helpful, 0), ifnull(s.unhelpful, 0)
    FROM wanted CROSS JOIN claims c ON c.seq = wanted.value
    LEFT JOIN standing s ON s.ns = c.ns AND s.memory_id = c.claim_id"""
_USES_THEN: Final = f"""WITH wanted AS (SELECT value FROM carray(?1)) SELECT c.seq,
    CASE WHEN c.kept_from >= ?4 THEN c.kept_from ELSE ifnull((SELECT o.kept_from FROM claims o
        WHERE {_EQUAL} AND {stood_then('o')} ORDER BY o.seq DESC LIMIT 1), c.kept_from) END,
    s.known_at, s.read_at, ifnull(s.reads, 0), ifnull(s.confirmations, 0), ifnull(s.helpful, 0), ifnull(s.unhelpful, 0)
    FROM wanted CROSS JOIN claims c ON c.seq = wanted.value
    LEFT JOIN uses s ON s.ns = c.ns AND s.memory_id = c.claim_id AND s.seq = ({_VERSION})"""
