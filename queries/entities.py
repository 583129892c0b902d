"""Who is who, as callers said it: entities that go by several names, and since when that is known."""

from __future__ import annotations

from typing import Any, Final

from taishi.ingest.instants import FOREVER, render
from taishi.ingest.normal import normal_value

from .reading import ReadModel
from .rows import NamespaceRow

ENTITIES: Final = 1_000
"""Entities that one answer shows, those named last; `truncated` says when there are more."""


def entities(model: ReadModel, namespace: NamespaceRow | None, *, name: str | None) -> dict[str, Any]:
    """Each entity with its names; `history` are names that it went by once. `name` asks for the one it belongs to."""
    if namespace is None:
        return {"items": [], "truncated": False}
    where, values = "ns = ?", [namespace.ns]
    given: list[Any] = values
    if name is not None:
        where += " AND entity IN (SELECT entity FROM names WHERE ns = ? AND name_key = ?)"
        given += [namespace.ns, normal_value(name)]
    sql = f"SELECT entity FROM names WHERE {where} GROUP BY entity ORDER BY max(known_from) DESC, entity LIMIT ?"
    found = [row[0] for row in model.rows(sql, *given, ENTITIES + 1)]
    rows = model.rows_in(_NAMES, found[:ENTITIES], namespace.ns)
    items = []
    for entity in found[:ENTITIES]:
        mine = [row for row in rows if row[0] == entity]
        main = next((row[1] for row in sorted(mine, key=lambda r: (-r[4], not r[2], r[3]))), None)
        items.append(
            {
                "name": main,
                "names": [{"name": r[1], "known_from": render(r[3])} for r in mine if r[4] == FOREVER],
                "history": [
                    {"name": r[1], "known_from": render(r[3]), "known_to": render(r[4])}
                    for r in mine
                    if r[4] != FOREVER
                ],
            }
        )
    return {"items": items, "truncated": len(found) > ENTITIES}


_NAMES: Final = """SELECT entity, name, main, known_from, known_to FROM names
    WHERE entity IN carray(?) AND ns = ? ORDER BY entity, known_from, name_key"""
