"""Who asks, where a question speaks of the one who asks and its caller does not tell who that is.

Whoever is recorded with an id or a name is the subject of his own words by that name, and `user` is who is recorded
with none. A namespace in which one person alone speaks of himself is that person's memory: "where do I live" is asked
of him. In a chat of several nobody is taken for the one who asks. An agent that asks by a name of its own, of which
nothing is known, asks of the user, unless it says "I".
"""

from __future__ import annotations

from typing import Final

from taishi.ingest.normal import normal_value, normalise

from .point import Point, known_then
from .reading import ReadModel
from .subjects import known_among
from .understand import in_own_name, of_asker

SUBJECTS: Final = 200
"""Subjects that are looked through, those first that were spoken of first: which they are does not change."""
LOOKED_AT: Final = 8
"""Claims of a subject, of which one has to be said by himself."""


def asker_of(model: ReadModel, ns: int, query: str, given: str | None, point: Point) -> str | None:
    """The claim subject for which "I" and "the user" stand in the question, by what was known at the point; None where
    that is `user`. `given` is the name of the asking actor."""
    words = normalise(query)
    if not of_asker(words):
        return given
    if given is not None and (in_own_name(words) or known_among(model, ns, [normal_value(given)], point)):
        return given
    return _only_speaker(model, ns, point)


def _only_speaker(model: ReadModel, ns: int, point: Point) -> str | None:
    """The one person who speaks of himself in a namespace; None where that is `user`, or where several or none do."""
    if known_among(model, ns, ["user"], point):
        return None
    found = model.rows(_SPEAKERS, ns, *point.bounds, SUBJECTS, LOOKED_AT)
    return str(found[0][0]) if len(found) == 1 else None


_SPEAKERS: Final = f"""SELECT u.subject_key
    FROM (SELECT ns, subject_key FROM subjects s WHERE ns = ?1 AND {known_then('s')} ORDER BY seq LIMIT ?4) u
    WHERE EXISTS (
        SELECT 1 FROM (
            SELECT c.source, c.subject, c.speaker FROM claims c
            WHERE c.ns = u.ns AND c.subject_key = u.subject_key AND {known_then('c')} LIMIT ?5
        ) c JOIN events e ON e.seq = c.source
        WHERE c.speaker = c.subject AND e.role = 'user'
    ) LIMIT 2"""
