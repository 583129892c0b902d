"""The timeline: every rectangle of the slots of a subject or predicate, in both times."""

from __future__ import annotations

from typing import Any, Final

from taishi.ingest.normal import normal_value

from .joint import names_of
from .memories import rectangles_of
from .point import Point, known_then
from .reading import ReadModel
from .rows import NamespaceRow

SLOTS: Final = 500
"""Slots that one answer shows, those with the newest claims; `truncated` says when there are more."""


def timeline(
    model: ReadModel, namespace: NamespaceRow | None, *, subject: str | None, predicate: str | None, point: Point
) -> dict[str, Any]:
    """Rectangles in the order of slot, known time, valid time, as far as known at the asked point, with the status that
    their claims have there, as in every other answer. A forgotten claim's is there, without a word."""
    if namespace is None:
        return {"items": [], "truncated": False}
    where = f"ns = ? AND {known_then('claims', at='?', upto='?')}"
    given: list[Any] = [namespace.ns, *point.bounds]
    if subject is not None:
        keys = names_of(model, namespace.ns, normal_value(subject), point=point)
        where += f" AND subject_key IN ({', '.join('?' * len(keys))})"
        given += keys
    if predicate is not None:
        where += " AND predicate = ?"
        given.append(predicate)
    sql = f"SELECT slot FROM claims WHERE {where} GROUP BY slot ORDER BY max(seq) DESC LIMIT ?"
    slots = [row[0] for row in model.rows(sql, *given, SLOTS + 1)]
    shown = slots[:SLOTS]
    claims = model.claims_of_slots(shown)
    rows = rectangles_of(model, claims, point, slots=shown)
    return {"items": rows, "truncated": len(slots) > SLOTS}
