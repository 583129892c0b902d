"""Whom and what a namespace's claims speak of, by what was known at a point."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .point import Point, known_then
from .reading import ReadModel


def known_among(model: ReadModel, ns: int, names: Iterable[str], point: Point) -> list[str]:
    """Those of the (normalised) `names` that claims speak of."""
    if point.whole:
        return [row[0] for row in model.rows_named(_AMONG, names, ns)]
    return [row[0] for row in model.rows_named(_AMONG_THEN, names, *point.bounds, ns)]


def subjects_of(model: ReadModel, ns: int, point: Point, *, most: int) -> list[str] | None:
    """All of them; None where there are more than `most`."""
    if point.whole:
        found = model.rows(_ALL, ns, most + 1)
    else:
        found = model.rows(_ALL_THEN, ns, *point.bounds, most + 1)
    return None if len(found) > most else [row[0] for row in found]


_AMONG: Final = "SELECT subject_key FROM subjects WHERE subject_key IN carray(?) AND ns = ?"
_AMONG_THEN: Final = f"""SELECT subject_key FROM subjects s
    WHERE subject_key IN carray(?1) AND ns = ?4 AND {known_then('s')}"""
_ALL: Final = "SELECT subject_key FROM subjects WHERE ns = ? LIMIT ?"
_ALL_THEN: Final = f"SELECT subject_key FROM subjects s WHERE ns = ?1 AND {known_then('s')} LIMIT ?4"
