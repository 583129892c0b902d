"""What stands around raw events: the session they were said in, and the turns beside them.

A session in which something answers well is likely to hold the rest of the answer; where people talk with each other,
an answer stands beside the turn that shares the question's words, and often repeats none of them. What a source is like
decides, not where it came from: a dialogue is a stretch of turns by two people or more. An assistant's turns make none:
they repeat what was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .point import Point
from .reading import ReadModel

LOOKED_AT: Final = 60
"""Best turns by people with a name beside which others are looked for: 30 microseconds each."""
AFTER: Final = (0.5, 0.1)
BEFORE: Final = (0.3, 0.1)
"""Of a turn's relevance, what the first and the second turn after it gain, and those before it. Dev halves, dialogues:
R@10 .65 without, .69 with three tenths of each direct neighbour, .72 with these; notes of one speaker lose by it."""
SESSION: Final = 0.8
"""Of how far the best of a session stands behind the best of all. Dev halves: realmem R@20 .39 without, .42 at .4, .44
at .8; prefeval R@5 .74 without, .77 at .5, .76 at .8; the others are indifferent."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """By position of a raw event: `around`, what the turns beside it add (0 and more); `session`, by how much its
    session, if it has one, stands back (0 and less); and the `turns` of dialogues among them."""

    around: Mapping[int, float] = field(default_factory=dict)
    session: Mapping[int, float] = field(default_factory=dict)
    turns: frozenset[int] = frozenset()


def surroundings(model: ReadModel, relevance: Mapping[int, float], point: Point) -> Surroundings:
    """`relevance` by position of a raw event, those read after the point left out."""
    if not relevance:
        return Surroundings()
    best: dict[str, float] = {}
    of: dict[int, str] = {}
    people: set[int] = set()
    for seq, session, speaker, role in model.rows_in(_SESSIONS, relevance, *point.bounds):
        if session is not None:
            of[seq] = session
            if speaker is not None and role == "user":
                people.add(seq)
            best[session] = max(best.get(session, 0.0), relevance[seq])
    top = max(max(relevance.values()), 0.0)
    back = {seq: SESSION * (max(best[session], 0.0) - top) for seq, session in of.items()}
    around: dict[int, float] = {}
    turns: set[int] = set()
    for seq in sorted(people, key=lambda s: (-relevance[s], -s))[:LOOKED_AT]:
        if relevance[seq] <= 0:
            break
        beside = _beside(model, seq, point)
        if len({speaker for _, speaker, _ in beside}) < 2 or any(role != "user" for _, _, role in beside):
            continue
        at = next(n for n, row in enumerate(beside) if row[0] == seq)
        for n, (other, _, _) in enumerate(beside):
            turns.add(other)
            share = AFTER[n - at - 1] if n > at else BEFORE[at - n - 1] if n < at else 0.0
            if share:
                around[other] = around.get(other, 0.0) + share * relevance[seq]
                back.setdefault(other, back.get(seq, 0.0))
    return Surroundings(around, back, frozenset(turns))


def _beside(model: ReadModel, seq: int, point: Point) -> list[tuple[int, str | None, str]]:
    """(position, speaker, role) of a turn and those beside it in its session, in order."""
    before = model.rows(_BEFORE, seq, len(BEFORE))
    after = model.rows(_AFTER, seq, len(AFTER) + 1, *point.bounds)
    found: list[tuple[int, str | None, str]] = [(row[0], row[1], row[2]) for row in [*reversed(before), *after]]
    return found


_SESSIONS: Final = """SELECT seq, session, speaker, role FROM events
    WHERE seq IN carray(?) AND recorded_at <= ? AND seq <= ?"""
_BEFORE: Final = """SELECT b.seq, b.speaker, b.role FROM events a JOIN events b
    ON b.ns = a.ns AND b.session = a.session AND b.seq < a.seq WHERE a.seq = ? ORDER BY b.seq DESC LIMIT ?"""
_AFTER: Final = """SELECT b.seq, b.speaker, b.role FROM events a JOIN events b
    ON b.ns = a.ns AND b.session = a.session AND b.seq >= a.seq
    WHERE a.seq = ?1 AND b.recorded_at <= ?3 AND b.seq <= ?4 ORDER BY b.seq LIMIT ?2"""
