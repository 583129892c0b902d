"""What is due to fade: memories of one namespace that maintenance should take to be over, archive, or bring back.

A memory is a group of claims that say the same in one slot; it fades as one. Read-only; what is found here changes
nothing until events say so, and is the same for whoever looks at the same state at the same instant.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import apsw
import orjson

from taishi.ingest.fading import fading
from taishi.ingest.instants import DAY, FOREVER
from taishi.ingest.registry import default_registry

from .activation import LEAST_STRETCH, Use, activation, expires_at, faded_at, last_used
from .rendering import USER
from .store import open_connection
from .worker import model_path

PAGE: Final = 2_000
"""Claims looked at between two answers."""
SPARE: Final = 0.01
"""Of a full namespace's capacity: so much room is made at a time, so that not every run has to look at everything."""
BELIEVED_NOT: Final = 0.5
"""Times its value, of a memory that holds nowhere any more."""

Kind = Literal["claim.expired", "claim.archived", "claim.revived"]


class Due(NamedTuple):
    """`claims` and `events` (raw events that leave the index with them, or come back) are (id, position). `since` is
    from when on it was idle, or (revived) when it was said again."""

    kind: Kind
    reason: Literal["ttl", "faded", "capacity", "evidence", "confirmed"]
    claims: Sequence[tuple[str, int]]
    events: Sequence[tuple[str, int]]
    since: int
    activation: float
    predicate: str | None


class _Member(NamedTuple):
    """A claim of a group. `seq` first: the columns of `_MEMBERS`."""

    seq: int
    claim_id: str
    kept_from: int
    importance: float | None
    predicate: str | None
    subject_key: str | None
    valid_from: int
    valid_to: int
    to_inferred: int
    occurs_from: int | None
    occurs_to: int | None
    expired_at: int | None


class NamespaceToKeep(NamedTuple):
    """`fading` off: nothing of it fades."""

    ns: int
    name: str
    fading: bool
    capacity: int


class DueModel:
    """One partition of the read models in `folder`. Close it. Raises apsw.CantOpenError where there is none yet."""

    def __init__(self, folder: Path, partition: int) -> None:
        self._db = open_connection(model_path(folder, partition), read_only=True)

    def close(self) -> None:
        self._db.close()

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    def checkpoint(self) -> int:
        """Sequence number of the last event folded."""
        return int(self._rows("SELECT seq FROM checkpoint")[0][0])

    def namespaces(self) -> list[NamespaceToKeep]:
        return [_kept(*row) for row in self._rows("SELECT ns, name, settings FROM namespaces ORDER BY ns")]

    def namespace(self, name: str) -> NamespaceToKeep | None:
        rows = self._rows("SELECT ns, name, settings FROM namespaces WHERE name = ?", name)
        return _kept(*rows[0]) if rows else None

    def due(self, ns: int, *, now: int, after: int, limit: int = PAGE) -> tuple[list[Due], int | None]:
        """What has expired or faded by `now`, of the claims behind position `after`, and the position to go on from
        (None: that was all)."""
        rows = self._rows(_CANDIDATES, ns, after, now - _shortest_life(), orjson.dumps(_for_good()).decode(), limit)
        found: list[Due] = []
        gone: set[int] = set()
        for _, slot, value, negates, predicate, subject, importance, *used in rows:
            if not _may_be_due(Use(*used), predicate, importance, own=subject == USER, now=now):
                continue
            due = self._judged(self._group(slot, value, negates), now)
            if due is None:
                continue
            if due.kind == "claim.archived":
                gone |= {place for _, place in due.claims}
                due = due._replace(events=self._words_of(due.claims, gone))
            found.append(due)
        return found, rows[-1][0] if len(rows) == limit else None

    def renewed(self, ns: int, *, after: int, limit: int = PAGE) -> tuple[list[Due], int | None]:
        """What has faded and was said again since, of the claims behind position `after`."""
        rows = self._rows(_RENEWED, ns, after, limit)
        found = []
        for _, slot, value, negates, said in rows:
            claims = self._rows(_FADED, slot, value, negates)
            found.append(self._revival([(c[0], c[1]) for c in claims], "evidence", said))
        return found, rows[-1][0] if len(rows) == limit else None

    def faded(self, ns: int, claim_id: str) -> Due | None:
        """The revival of a memory that has faded and is confirmed now; None where it has not."""
        rows = self._rows(_OF_ID, claim_id, ns)
        if not rows:
            return None
        slot, value, negates, at = rows[0]
        claims = self._rows(_FADED, slot, value, negates)
        return self._revival([(c[0], c[1]) for c in claims], "confirmed", at)

    def excess(self, ns: int, *, capacity: int, now: int) -> list[Due]:
        """The least valuable memories of a namespace that holds more than its capacity. A memory's value is its
        activation times its importance; what holds nowhere any more goes before what does."""
        total = self._rows(_COUNT_ALL, ns)[0][0]
        live = 0 if total <= capacity else int(self._rows(_COUNT_LIVE, ns)[0][0])
        if live <= capacity:
            return []
        too_many = live - int(capacity * (1.0 - SPARE))
        taken: list[Due] = []
        gone: set[int] = set()
        for _, _, seq in heapq.nsmallest(too_many, self._valued(ns, now)):
            if seq in gone:
                continue
            slot, value, negates = self._rows(_SLOT_OF, seq)[0]
            members = self._group(slot, value, negates)
            claims = [(m.claim_id, m.seq) for m in members]
            gone |= {m.seq for m in members}
            use, importance, predicate, own = self._use(members)
            taken.append(
                Due(
                    "claim.archived", "capacity", claims, self._words_of(claims, gone), last_used(use, predicate),
                    activation(use, predicate, importance=importance, own=own, now=now), predicate.name,
                )
            )  # fmt: skip
            if len(gone) >= too_many:
                break
        return taken

    def _valued(self, ns: int, now: int) -> Iterator[tuple[float, int, int]]:
        registry = default_registry()
        for seq, predicate, subject, importance, said, known, read_at, reads, *verdicts, believed in self._db.execute(
            _LIVE, (ns,)
        ):
            use = Use(said, known, read_at, reads, *verdicts)
            kind = registry.predicate(predicate or "")
            weight = 0.5 if importance is None else importance
            value = weight * activation(use, kind, importance=weight, own=subject == USER, now=now)
            yield value if believed else value * BELIEVED_NOT, last_used(use, kind), seq

    # groups

    def _group(self, slot: int, value: str, negates: int) -> list[_Member]:
        return [_Member(*row) for row in self._rows(_MEMBERS, slot, value, negates)]

    def _use(self, members: Sequence[_Member]) -> tuple[Use, float, Any, bool]:
        ids = tuple(dict.fromkeys(m.claim_id for m in members))
        confirmed, read_at, reads, confirmations, helpful, unhelpful = self._rows(
            _STANDING, orjson.dumps(ids).decode(), members[0].seq
        )[0]
        said = max(max(m.kept_from, _still_ahead(m)) for m in members)
        weights = [m.importance for m in members if m.importance is not None]
        predicate = default_registry().predicate(members[0].predicate or "")
        use = Use(said, confirmed, read_at, reads, confirmations, helpful, unhelpful)
        return use, max(weights, default=0.5), predicate, members[0].subject_key == USER

    def _judged(self, members: Sequence[_Member], now: int) -> Due | None:
        if not members:
            return None
        use, importance, predicate, own = self._use(members)
        claims = [(m.claim_id, m.seq) for m in members]
        vivid = activation(use, predicate, importance=importance, own=own, now=now)
        since = last_used(use, predicate)
        at = faded_at(use, predicate, importance=importance, own=own)
        if at is not None and at <= now:
            return Due("claim.archived", "faded", claims, (), since, vivid, predicate.name)
        over = expires_at(use, predicate, importance=importance, own=own)
        open_ended = all(m.to_inferred or m.valid_to >= FOREVER for m in members)
        if over is not None and over <= now and open_ended and any(m.expired_at is None for m in members):
            return Due("claim.expired", "ttl", claims, (), since, vivid, predicate.name)
        return None

    def _revival(self, claims: Sequence[tuple[str, int]], reason: Literal["evidence", "confirmed"], at: int) -> Due:
        seqs = orjson.dumps([seq for _, seq in claims]).decode()
        events = [(row[0], row[1]) for row in self._rows(_ARCHIVED_WORDS, seqs)]
        return Due("claim.revived", reason, claims, events, at, 1.0, None)

    def _words_of(self, claims: Sequence[tuple[str, int]], gone: Iterable[int]) -> list[tuple[str, int]]:
        """Raw events all of whose claims are archived once `gone` are."""
        seqs = orjson.dumps([seq for _, seq in claims]).decode()
        return [(row[0], row[1]) for row in self._rows(_WORDS, seqs, orjson.dumps(list(gone)).decode())]


def _still_ahead(member: _Member) -> int:
    """What lies ahead is not idle: a plan until its time is over, what is not true yet until it is."""
    ends = [at for at in (member.occurs_from, member.occurs_to, member.valid_from) if at is not None and at < FOREVER]
    stated = member.valid_to if not member.to_inferred and member.valid_to < FOREVER else member.valid_from
    return max([*ends, stated])


def _kept(ns: int, name: str, settings: str) -> NamespaceToKeep:
    given = orjson.loads(settings)
    return NamespaceToKeep(ns, name, given.get("fading", "on") == "on", given.get("capacity", fading().capacity))


def _may_be_due(use: Use, predicate: str | None, importance: float | None, *, own: bool, now: int) -> bool:
    """By the newest claim of a group alone: what others of it were told or used only keeps it longer."""
    kind = default_registry().predicate(predicate or "")
    weight = 0.5 if importance is None else importance
    at = (faded_at(use, kind, importance=weight, own=own), expires_at(use, kind, importance=weight, own=own))
    return any(one is not None and one <= now for one in at)


@lru_cache(maxsize=1)
def _for_good() -> list[str]:
    return [p.name for p in default_registry() if not p.life and not p.expires]


@lru_cache(maxsize=1)
def _shortest_life() -> int:
    """No memory fades sooner after it was told, in microseconds."""
    halves = -math.log2(fading().archive_below)
    lives = [p.life * halves for p in default_registry() if p.life]
    lives += [float(p.expires) for p in default_registry() if p.expires]
    return int(min(lives) * LEAST_STRETCH * DAY)


_LIVING: Final = "removed_at IS NULL AND {0}.erased_at IS NULL AND {0}.archived_at IS NULL"
_C, _O = _LIVING.format("c"), _LIVING.format("o")
_USED: Final = """nullif(max(ifnull(s.confirmed_at, 0), ifnull(s.revived_at, 0)), 0), s.read_at, ifnull(s.reads, 0),
    ifnull(s.confirmations, 0), ifnull(s.helpful, 0), ifnull(s.unhelpful, 0)"""
_CANDIDATES: Final = f"""SELECT c.seq, c.slot, c.value_fp, c.negates, c.predicate, c.subject_key, c.importance,
    c.kept_from, {_USED}
    FROM claims c INDEXED BY claims_ns LEFT JOIN standing s ON s.ns = c.ns AND s.memory_id = c.claim_id
    WHERE c.ns = ? AND c.seq > ? AND c.kept_from < ? AND c.{_C}
    AND ifnull(c.predicate, '') NOT IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM claims o WHERE o.slot = c.slot AND o.value_fp = c.value_fp AND o.negates = c.negates
        AND o.seq > c.seq AND o.{_O})
    ORDER BY c.seq LIMIT ?"""
_MEMBERS: Final = f"""SELECT {', '.join(f'c.{name}' for name in _Member._fields)} FROM claims c
    WHERE c.slot = ? AND c.value_fp = ? AND c.negates = ? AND c.{_C} ORDER BY c.seq"""
_STANDING: Final = """SELECT nullif(max(ifnull(max(s.confirmed_at), 0), ifnull(max(s.revived_at), 0)), 0),
    max(s.read_at), ifnull(max(s.reads), 0), ifnull(sum(s.confirmations), 0), ifnull(sum(s.helpful), 0),
    ifnull(sum(s.unhelpful), 0)
    FROM json_each(?) AS wanted CROSS JOIN standing s ON s.memory_id = wanted.value
    AND s.ns = (SELECT ns FROM claims WHERE seq = ?)"""
_WORDS: Final = """SELECT DISTINCT e.event_id, e.seq FROM json_each(?) AS wanted
    CROSS JOIN evidence v ON v.claim = wanted.value JOIN events e ON e.seq = v.event
    WHERE e.erased_at IS NULL AND e.archived_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM evidence w JOIN claims c ON c.seq = w.claim WHERE w.event = e.seq AND c.archived_at IS NULL
        AND c.removed_at IS NULL AND c.seq NOT IN (SELECT value FROM json_each(?)))
    ORDER BY e.seq"""
_ARCHIVED_WORDS: Final = """SELECT DISTINCT e.event_id, e.seq FROM json_each(?) AS wanted
    CROSS JOIN evidence v ON v.claim = wanted.value JOIN events e ON e.seq = v.event
    WHERE e.erased_at IS NULL AND e.archived_at IS NOT NULL ORDER BY e.seq"""
_FADED: Final = """SELECT claim_id, seq FROM claims WHERE slot = ? AND value_fp = ? AND negates = ?
    AND faded_why IS NOT NULL AND removed_at IS NULL AND erased_at IS NULL ORDER BY seq"""
_RENEWED: Final = """SELECT c.seq, c.slot, c.value_fp, c.negates, (SELECT max(o.kept_from) FROM claims o
        WHERE o.slot = c.slot AND o.value_fp = c.value_fp AND o.negates = c.negates AND o.faded_why IS NULL
        AND o.removed_at IS NULL AND o.erased_at IS NULL) AS said
    FROM claims c INDEXED BY claims_faded WHERE c.ns = ? AND c.seq > ? AND c.faded_why IS NOT NULL
    AND c.removed_at IS NULL AND c.erased_at IS NULL AND said IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM claims f WHERE f.slot = c.slot AND f.value_fp = c.value_fp AND f.negates = c.negates
        AND f.seq > c.seq AND f.faded_why IS NOT NULL AND f.removed_at IS NULL AND f.erased_at IS NULL)
    ORDER BY c.seq LIMIT ?"""
_OF_ID: Final = """SELECT slot, value_fp, negates, max(ifnull(archived_at, 0), ifnull(expired_at, 0)) FROM claims
    WHERE claim_id = ? AND ns = ? AND faded_why IS NOT NULL AND removed_at IS NULL AND erased_at IS NULL LIMIT 1"""
_SLOT_OF: Final = "SELECT slot, value_fp, negates FROM claims WHERE seq = ?"
_COUNT_ALL: Final = "SELECT count(*) FROM claims WHERE ns = ?"
_COUNT_LIVE: Final = f"SELECT count(*) FROM claims c WHERE c.ns = ? AND c.{_C}"
_LIVE: Final = f"""SELECT c.seq, c.predicate, c.subject_key, c.importance, c.kept_from, {_USED},
    EXISTS (SELECT 1 FROM beliefs b JOIN claims k ON k.seq = b.claim WHERE b.slot = c.slot
        AND k.value_fp = c.value_fp AND k.negates = c.negates)
    FROM claims c LEFT JOIN standing s ON s.ns = c.ns AND s.memory_id = c.claim_id WHERE c.ns = ? AND c.{_C}"""


def open_due(folder: Path, partition: int) -> DueModel | None:
    """None where nothing was ever folded there."""
    try:
        return DueModel(folder, partition)
    except apsw.CantOpenError:
        return None
