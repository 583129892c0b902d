"""What claims weighed at a past point: what was said again, or confirmed, only later did not weigh then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from taishi.ingest.importance import rules
from taishi.ingest.instants import FOREVER

from .reading import ReadModel
from .rows import ClaimRow
from .validity import Point


def as_weighed(model: ReadModel, claims: Mapping[int, ClaimRow], point: Point) -> Mapping[int, ClaimRow]:
    """`claims` with their importance at the point, as the fold would have it that had read no further."""
    if point.whole:
        return claims
    given = rules()
    known_at = point.known_at if point.past_knowledge else FOREVER
    last = FOREVER if point.position is None else point.position
    weighed = dict(claims)
    for seq, own, occasions, confirmed_at in model.rows_in(_WEIGHTS, claims, known_at, last):
        floors = [own]
        if occasions >= given.said:
            floors.append(given.repeated)
        if confirmed_at is not None and confirmed_at <= known_at:
            floors.append(given.confirmed)
        if own is not None:
            weighed[seq] = weighed[seq]._replace(importance=max(floors))
    return weighed


_WEIGHTS: Final = """SELECT c.seq, c.own_importance, (SELECT count(DISTINCT o.source) FROM claims o
        WHERE o.slot = c.slot AND o.value_fp = c.value_fp AND o.negates = c.negates AND o.known_from <= ?2
        AND o.seq <= ?3 AND (o.removed_at IS NULL OR o.removed_at > ?2 OR o.removed_seq > ?3)),
    (SELECT s.confirmed_first FROM standing s WHERE s.ns = c.ns AND s.memory_id = c.claim_id)
    FROM claims c WHERE c.seq IN carray(?1)"""
