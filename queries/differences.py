"""What another generation of read models would change: claims, beliefs over time, callers' words that bind no more.

Two read-model files of one partition are compared by the database itself, the second one attached to the first, in one
consistent state of each. Claims are the same where they have one id: a keyed hash of evidence, slot and value. One that
is gone and one that is new, read from the same words under the same predicate, are one claim that changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import apsw

from taishi.ingest.errors import Unavailable
from taishi.projections.schema import FOLD_VERSION

Kind = Literal["lost", "gained", "changed"]


class Said(NamedTuple):
    """A claim as one generation has it. Instants are microseconds."""

    claim_id: str
    subject: str | None
    value: str | None
    text: str | None
    valid_from: int
    valid_to: int
    modality: str | None
    qualifiers: str | None
    removed_why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`words` are those that the claim was read from, None where they are erased; `event` is their position."""

    kind: Kind
    namespace: str
    predicate: str
    before: Said | None
    after: Said | None
    partition: int
    event: int | None
    words: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPoint:
    """Beliefs that hold at the instant `at`, by slot and value: as known now, and as known then."""

    at: int
    same: int
    only_before: int
    only_after: int
    then_same: int
    then_only_before: int
    then_only_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbound:
    """Something a caller said of a memory that this generation does not have."""

    kind: str
    namespace: str
    memory_id: str


@dataclass(slots=True, kw_only=True)
class Differences:
    """Of one partition, or of all of them summed. `counts` by (namespace, predicate) and kind, "same" included.
    `readable` are memories that a tombstone names and the second generation still shows: there must be none."""

    before_seq: Mapping[int, int] = field(default_factory=dict)
    after_seq: Mapping[int, int] = field(default_factory=dict)
    counts: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    unbound: list[Unbound] = field(default_factory=list)
    tombstones: int = 0
    readable: list[str] = field(default_factory=list)
    unread: int = 0
    failed: int = 0

    def total(self, kind: str) -> int:
        return sum(counted[kind] for counted in self.counts.values())

    @property
    def share(self) -> float:
        """Of the claims that were read before: how many are gone or changed."""
        before = self.total("same") + self.total("lost") + self.total("changed")
        return (self.total("lost") + self.total("changed")) / before if before else 0.0

    def add(self, other: Differences) -> None:
        self.before_seq, self.after_seq = {**self.before_seq, **other.before_seq}, {**self.after_seq, **other.after_seq}
        for key, counted in other.counts.items():
            self.counts.setdefault(key, Counter()).update(counted)
        self.changes += other.changes
        self.unbound += other.unbound
        self.readable += other.readable
        self.tombstones += other.tombstones
        self.unread += other.unread
        self.failed += other.failed


class Pair:
    """Two files of one partition, read-only: `main` is the generation before, `b` the one after."""

    def __init__(self, before: Path, after: Path, partition: int) -> None:
        """Raises Unavailable where one is not there, or of another version."""
        self._partition = partition
        try:
            self._db = apsw.Connection(str(before), flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
            self._db.set_busy_timeout(5_000)
            self._db.execute("ATTACH ? AS b", (f"{after.absolute().as_uri()}?mode=ro",))
            self._db.execute("BEGIN")
            for name in ("main", "b"):
                version = self._db.execute(f"SELECT fold_version FROM {name}.checkpoint").get
                if version != FOLD_VERSION:
                    raise Unavailable(f"a read model of partition {partition} is of another version")
        except (apsw.CantOpenError, apsw.SQLError) as e:
            raise Unavailable(f"a read model of partition {partition} is not there") from e

    def close(self) -> None:
        self._db.close()

    def differences(self, *, most: int) -> Differences:
        """`most` bounds the changes that are told in full; all are counted."""
        found = Differences(
            before_seq={self._partition: self._get("SELECT seq FROM main.checkpoint")},
            after_seq={self._partition: self._get("SELECT seq FROM b.checkpoint")},
            tombstones=self._get("SELECT count(*) FROM b.tombstones"),
            readable=[row[0] for sql in _READABLE for row in self._db.execute(sql)],
            unbound=[
                Unbound(kind=k, namespace=n, memory_id=m) for sql in _UNBOUND for k, n, m in self._db.execute(sql)
            ],
            unread=self._get("SELECT ifnull(sum(pending), 0) FROM b.namespaces"),
            failed=self._get("SELECT ifnull(sum(failed), 0) FROM b.namespaces"),
        )
        names = dict(self._db.execute("SELECT ns, name FROM main.namespaces UNION SELECT ns, name FROM b.namespaces"))
        for ns, predicate, same in self._db.execute(_SAME):
            found.counts.setdefault((names[ns], predicate), Counter())["same"] += same
        for kind, ns, predicate, event, before, after in self._changes():
            found.counts.setdefault((names[ns], predicate), Counter())[kind] += 1
            if len(found.changes) < most:
                found.changes.append(
                    Change(
                        kind=kind, namespace=names[ns], predicate=predicate, partition=self._partition, event=event,
                        words=self._words(event), before=self._said("main", before), after=self._said("b", after),
                    )
                )  # fmt: skip
        return found

    def _get(self, sql: str) -> int:
        return int(self._db.execute(sql).get)

    def _changes(self) -> Iterator[tuple[Kind, int, str, int | None, int | None, int | None]]:
        """(kind, namespace, predicate, event, claim before, claim after), in the order of the words."""
        gone, fresh = _by_words(self._db.execute(_LOST)), _by_words(self._db.execute(_GAINED))
        left, right = next(gone, None), next(fresh, None)
        while left is not None or right is not None:
            key = min(row[0] for row in (left, right) if row is not None)
            lost = left[1] if left is not None and left[0] == key else []
            gained = right[1] if right is not None and right[0] == key else []
            (ns, event, predicate), pairs = key, min(len(lost), len(gained))
            for before, after in zip(lost, gained, strict=False):
                yield "changed", ns, predicate, event or None, before, after
            for before in lost[pairs:]:
                yield "lost", ns, predicate, event or None, before, None
            for after in gained[pairs:]:
                yield "gained", ns, predicate, event or None, None, after
            left = next(gone, None) if left is not None and left[0] == key else left
            right = next(fresh, None) if right is not None and right[0] == key else right
        for ns, predicate, event, before, after in self._db.execute(_OTHERWISE):
            yield "changed", ns, predicate, event, before, after

    def _said(self, name: str, seq: int | None) -> Said | None:
        if seq is None:
            return None
        row = self._db.execute(f"SELECT {', '.join(Said._fields)} FROM {name}.claims WHERE seq = ?", (seq,)).fetchone()
        return Said._make(row or ())

    def _words(self, event: int | None) -> str | None:
        row = self._db.execute("SELECT text FROM main.events WHERE seq = ?", (event,)).fetchone()
        return None if row is None else row[0]

    def span(self) -> tuple[int, int] | None:
        """The first and the last recorded time of raw events; None where there are none."""
        first, last = self._get(_FIRST), self._get(_LAST)
        return None if first == _NONE else (first, last)

    def at(self, instant: int) -> GridPoint:
        now = [self._count(f"{_HELD_NOW.format(x=x)} {how} {_HELD_NOW.format(x=y)}", instant) for x, y, how in _SIDES]
        then = [
            self._count(f"{_HELD_THEN.format(x=x)} {how} {_HELD_THEN.format(x=y)}", instant) for x, y, how in _SIDES
        ]
        return GridPoint(
            at=instant, same=now[0], only_before=now[1], only_after=now[2],
            then_same=then[0], then_only_before=then[1], then_only_after=then[2],
        )  # fmt: skip

    def _count(self, sql: str, instant: int) -> int:
        return int(self._db.execute(f"SELECT count(*) FROM ({sql})", {"at": instant}).get)


def grid(points: Sequence[GridPoint]) -> GridPoint:
    """The sum of several partitions at one instant."""
    names = [name for name in GridPoint.__slots__ if name != "at"]
    return GridPoint(at=points[0].at, **{name: sum(getattr(p, name) for p in points) for name in names})


_Words = tuple[int, int, str]


def _by_words(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[_Words, list[int]]]:
    """Claims grouped by (namespace, event, predicate); `rows` are in that order, with the claim last."""
    held: tuple[_Words, list[int]] | None = None
    for ns, event, predicate, claim in rows:
        if held is None or held[0] != (ns, event, predicate):
            if held is not None:
                yield held
            held = ((ns, event, predicate), [])
        held[1].append(claim)
    if held is not None:
        yield held


_NONE: Final = -(1 << 62)
_FIRST: Final = f"SELECT ifnull(min(recorded_at), {_NONE}) FROM main.events"
_LAST: Final = f"SELECT ifnull(max(recorded_at), {_NONE}) FROM main.events"
_ALIVE: Final = "c.event_type = 'claim.extracted' AND c.erased_at IS NULL"
_TWIN: Final = "{other}.claims d WHERE d.claim_id = c.claim_id AND d.ns = c.ns AND d.erased_at IS NULL"
_ONLY: Final = (
    "SELECT c.ns, ifnull((SELECT min(v.event) FROM {one}.evidence v WHERE v.claim = c.seq), 0) AS event, c.predicate,"
    f" c.seq FROM {{one}}.claims c WHERE {_ALIVE} AND NOT EXISTS (SELECT 1 FROM {_TWIN})"
    " ORDER BY c.ns, event, c.predicate, c.seq"
)
_LOST: Final = _ONLY.format(one="main", other="b")
_GAINED: Final = _ONLY.format(one="b", other="main")
_DIFFERS: Final = " OR ".join(
    f"c.{name} IS NOT d.{name}"
    for name in ("valid_from", "valid_to", "modality", "qualifiers", "text", "occurs_from", "occurs_to", "temporary")
)
_BOTH: Final = (
    f"FROM main.claims c JOIN b.claims d ON d.claim_id = c.claim_id AND d.ns = c.ns AND d.erased_at IS NULL"
    f" WHERE {_ALIVE} AND c.predicate = d.predicate"
)
_SAME: Final = f"SELECT c.ns, c.predicate, count(*) {_BOTH} AND NOT ({_DIFFERS}) GROUP BY c.ns, c.predicate"
_OTHERWISE: Final = (
    "SELECT c.ns, c.predicate, (SELECT min(v.event) FROM main.evidence v WHERE v.claim = c.seq), c.seq, d.seq"
    f" {_BOTH} AND ({_DIFFERS}) ORDER BY c.ns, c.seq"
)
_READABLE: Final = (
    "SELECT DISTINCT d.claim_id FROM main.claims c JOIN b.claims d ON d.claim_id = c.claim_id AND d.ns = c.ns"
    " WHERE c.removed_why = 'forgotten' AND c.erased_at IS NOT NULL AND d.erased_at IS NULL",
    "SELECT d.claim_id FROM b.tombstones t, json_each(t.claims) j JOIN b.claims d ON d.seq = j.value"
    " WHERE d.erased_at IS NULL OR d.text IS NOT NULL OR d.value IS NOT NULL",
    "SELECT e.event_id FROM b.tombstones t, json_each(t.events) j JOIN b.events e ON e.seq = j.value"
    " WHERE e.erased_at IS NULL OR e.text IS NOT NULL",
)
_HAS: Final = "(SELECT 1 FROM {x}.claims c WHERE c.claim_id = {id} AND c.ns = {ns})"


def _unbound(kind: str, table: str, row: str, memory: str, where: str = "1") -> str:
    """Rows of `b` whose memory is in the generation before and not in the one after."""
    has = {x: _HAS.format(x=x, id=f"{row}.{memory}", ns=f"{row}.ns") for x in ("main", "b")}
    return (
        f"SELECT {kind}, n.name, {row}.{memory} FROM b.{table} {row} JOIN b.namespaces n ON n.ns = {row}.ns"
        f" WHERE {where} AND EXISTS {has['main']} AND NOT EXISTS {has['b']}"
    )


_UNBOUND: Final = (
    _unbound("r.why", "rulings", "r", "claim_id"),
    _unbound("'confirmed'", "standing", "s", "memory_id", "s.confirmations > 0"),
    _unbound("'feedback'", "standing", "s", "memory_id", "s.helpful + s.unhelpful > 0"),
    _unbound("'winner'", "resolutions", "r", "winner", "r.winner IS NOT NULL"),
)
_KEY: Final = "SELECT s.fingerprint, c.value_fp, c.negates FROM {x}."
_JOIN: Final = " h JOIN {x}.slots s ON s.slot = h.slot JOIN {x}.claims c ON c.seq = h.claim"
_VALID: Final = " WHERE h.valid_from <= :at AND h.valid_to > :at"
_HELD_NOW: Final = f"{_KEY}beliefs{_JOIN}{_VALID}"
_HELD_THEN: Final = (
    f"SELECT * FROM ({_KEY}beliefs{_JOIN}{_VALID} AND h.known_from <= :at UNION"
    f" {_KEY}history{_JOIN}{_VALID} AND h.known_from <= :at AND h.known_to > :at)"
)
_SIDES: Final = (("main", "b", "INTERSECT"), ("main", "b", "EXCEPT"), ("b", "main", "EXCEPT"))
