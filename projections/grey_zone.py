"""Pairs of claims that may say the same in other words, and on which nobody has given a verdict.

Only values of one many-valued predicate of one subject are compared, and only where they share enough (`is_grey`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from .dedup import OBJECT, is_grey
from .store import open_connection
from .worker import model_path

MOST_VALUES: Final = 200
"""Of one subject and predicate, the newest, that are compared with each other."""


class GreyPair(NamedTuple):
    """Two claims by id, as subject, predicate and their two values. `events` are those that state them."""

    namespace: str
    claims: tuple[str, str]
    events: tuple[str, str]
    subject: str
    predicate: str
    values: tuple[str, str]


def grey_pairs(folder: Path, partition: int, *, namespace: str | None = None) -> Iterator[GreyPair]:
    """Of one partition of a generation's read models, by namespace, subject and predicate; claim ids in order."""
    path = model_path(folder, partition)
    if not path.exists():
        return
    connection = open_connection(path, read_only=True)
    try:
        rows: list[tuple[Any, ...]] = connection.execute(_VALUES, (OBJECT, namespace)).fetchall()
        judged = set(connection.execute("SELECT ns, claim_a, claim_b FROM verdicts"))
    finally:
        connection.close()
    for _, group in groupby(rows, key=lambda row: row[:3]):
        for a, b in combinations(list(group)[:MOST_VALUES], 2):
            one, other = sorted((a, b), key=lambda row: str(row[4]))
            if is_grey(a[8], b[8]) and (a[0], one[4], other[4]) not in judged:
                yield GreyPair(
                    one[3], (one[4], other[4]), (one[5], other[5]), one[6], one[7], (one[8], other[8])
                )


_VALUES: Final = """SELECT s.ns, s.subject, substr(s.rest, 1, instr(s.rest, ?1)) AS head, n.name,
    c.claim_id, c.event_id, c.subject, c.predicate, c.value
    FROM slots s JOIN namespaces n ON n.ns = s.ns JOIN claims c ON c.slot = s.slot
    WHERE instr(s.rest, ?1) AND (?2 IS NULL OR n.name = ?2) AND c.value IS NOT NULL AND c.removed_at IS NULL
    AND c.archived_at IS NULL AND c.seq = (SELECT max(l.seq) FROM claims l WHERE l.slot = s.slot
        AND l.value IS NOT NULL AND l.removed_at IS NULL AND l.archived_at IS NULL)
    ORDER BY s.ns, s.subject, head, c.seq DESC"""
