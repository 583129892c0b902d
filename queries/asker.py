"""Who asks, where a question speaks of the one who asks and its caller does not tell who that is.

Whoever is recorded with an id or a name is the subject of his own words by that name, and `user` is who is recorded
with none. A namespace in which one person alone speaks of himself is that person's memory: "where do I live" is asked
of him. In a chat of several nobody is taken for the one who asks. An agent that asks by a name of its own, of which
nothing is known, asks of the user, unless it says "I".
"""

from __future__ import annotations

from typing import Final

from taishi.ingest.normal import normal_value

from .reading import ReadModel

SUBJECTS: Final = 200
"""Subjects that are looked through, those with the most claims first."""
LOOKED_AT: Final = 8
"""Claims of a subject, of which one has to be said by himself."""


def only_speaker(model: ReadModel, namespace: str) -> str | None:
    """The claim subject of the one person who speaks of himself in a namespace; None where that is `user`, or where
    several or none do."""
    with model.view():
        known = model.namespace(namespace)
        if known is None or model.one(_IS_SUBJECT, known.ns, "user") is not None:
            return None
        found = model.rows(_SPEAKERS, known.ns, SUBJECTS, LOOKED_AT)
    return str(found[0][0]) if len(found) == 1 else None


def is_subject(model: ReadModel, namespace: str, name: str) -> bool:
    """Whether anything is known of someone by that name."""
    with model.view():
        known = model.namespace(namespace)
        return known is not None and model.one(_IS_SUBJECT, known.ns, normal_value(name)) is not None


_IS_SUBJECT: Final = "SELECT 1 FROM subjects WHERE ns = ? AND subject_key = ?"
_SPEAKERS: Final = """SELECT u.subject_key
    FROM (SELECT ns, subject_key FROM subjects WHERE ns = ? ORDER BY claims DESC, subject_key LIMIT ?) u
    WHERE EXISTS (
        SELECT 1 FROM (
            SELECT c.source, c.subject, c.speaker FROM claims c
            WHERE c.ns = u.ns AND c.subject_key = u.subject_key LIMIT ?
        ) c JOIN events e ON e.seq = c.source
        WHERE c.speaker = c.subject AND e.role = 'user'
    ) LIMIT 2"""
