"""Read models as the query service sees them: SQLite files opened read-only, one consistent view per request.

Each thread keeps one connection per partition with its prepared statements. The live generation is named by the file
`current` in the models directory; when that changes, the next request opens the new generation's files. Nothing here
can write: the files are opened with SQLITE_OPEN_READONLY.
"""

from __future__ import annotations

import os
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

from taishi.ingest.errors import Unavailable
from taishi.ingest.instants import FOREVER
from taishi.projections.schema import FOLD_VERSION
from taishi.projections.worker import model_path

from .point import Point, stood_then
from .rows import (
    CLAIM_COLUMNS,
    EVENT_COLUMNS,
    ClaimRow,
    Covering,
    EventRow,
    EvidenceRow,
    Link,
    NamespaceRow,
    Rectangle,
    Settled,
    Standing,
)

_PRAGMAS: Final = (
    "PRAGMA query_only = ON",
    "PRAGMA cache_size = -16384",
    "PRAGMA mmap_size = 4294967296",
    "PRAGMA temp_store = MEMORY",
)
_BUSY_MS: Final = 2_000


class ReadModel:
    """One partition's read model through one thread's connection. Row methods give values, never cursors."""

    def __init__(self, path: Path, *, partition: int, generation: str, identity: int = 0) -> None:
        """Raises Unavailable where there is no such file yet, or one of another fold version. `identity` tells this
        file from one that took its place under the same name."""
        self.partition: Final = partition
        self.generation: Final = generation
        self.identity: Final = identity
        try:
            self._db: Final = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, statementcachesize=200)
            self._db.set_busy_timeout(_BUSY_MS)
            for pragma in _PRAGMAS:
                self._db.execute(pragma).fetchall()
            version = self._db.execute("SELECT fold_version FROM checkpoint").get
        except (apsw.CantOpenError, apsw.SQLError) as e:
            raise Unavailable(f"the read model of partition {partition} is not there yet") from e
        if version is not None and version != FOLD_VERSION:
            self._db.close()
            raise Unavailable(f"the read model of partition {partition} is of another version and is being rebuilt")

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def view(self) -> Iterator[ReadModel]:
        """One consistent state for everything read inside."""
        self._db.execute("BEGIN")
        try:
            yield self
        finally:
            self._db.execute("COMMIT")

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    def one(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        return next(iter(self._db.execute(sql, values)), None)

    def rows_in(self, sql: str, ids: Iterable[int], *values: Any) -> list[tuple[Any, ...]]:
        """`sql` has `IN carray(?)` as its first parameter. No ids, no rows."""
        listed = array("q", ids)
        return self._db.execute(sql, (apsw.carray(listed), *values)).fetchall() if listed else []

    def rows_named(self, sql: str, names: Iterable[str], *values: Any) -> list[tuple[Any, ...]]:
        """As `rows_in`, for strings. A string with NUL in it is nobody's name, and cannot be handed over."""
        listed = tuple(name for name in names if "\0" not in name)
        return self._db.execute(sql, (apsw.carray(listed), *values)).fetchall() if listed else []

    def checkpoint(self) -> int:
        """Sequence number of the last event folded, 0 if none."""
        found = self.one("SELECT seq FROM checkpoint")
        return 0 if found is None else int(found[0])

    def now(self, clock: int) -> int:
        """The instant that is now: `clock`, unless it lags behind the log's, which never goes back."""
        found = self.one("SELECT appended_at FROM checkpoint")
        return clock if found is None else max(clock, int(found[0]))

    def namespace(self, name: str) -> NamespaceRow | None:
        found = self.one("SELECT ns, timezone, settings, pending, failed FROM namespaces WHERE name = ?", name)
        return None if found is None else NamespaceRow(*found)

    def claims(self, seqs: Iterable[int]) -> dict[int, ClaimRow]:
        found = self.rows_in(f"SELECT {CLAIM_COLUMNS} FROM claims WHERE seq IN carray(?)", seqs)
        return {row[0]: ClaimRow._make(row) for row in found}

    def claims_by_id(self, ns: int, claim_id: str) -> list[ClaimRow]:
        """Every statement under that id, oldest first."""
        sql = f"SELECT {CLAIM_COLUMNS} FROM claims WHERE claim_id = ? AND ns = ? ORDER BY seq"
        return [ClaimRow._make(row) for row in self.rows(sql, claim_id, ns)]

    def claims_of_slots(self, slots: Iterable[int]) -> list[ClaimRow]:
        sql = f"SELECT {CLAIM_COLUMNS} FROM claims WHERE slot IN carray(?) ORDER BY known_from, seq"
        found = self.rows_in(sql, slots)
        return [ClaimRow._make(row) for row in found]

    def events(self, seqs: Iterable[int]) -> dict[int, EventRow]:
        found = self.rows_in(f"SELECT {EVENT_COLUMNS} FROM events WHERE seq IN carray(?)", seqs)
        return {row[0]: EventRow._make(row) for row in found}

    def told(self, events: Iterable[int]) -> dict[int, tuple[str, int]]:
        """Origin of raw events, and when each was said."""
        rows = self.rows_in("SELECT seq, origin, said_at FROM events WHERE seq IN carray(?)", events)
        return {row[0]: (row[1], row[2]) for row in rows}

    def event_by_id(self, ns: int, event_id: str) -> EventRow | None:
        found = self.one(f"SELECT {EVENT_COLUMNS} FROM events WHERE event_id = ? AND ns = ?", event_id, ns)
        return None if found is None else EventRow(*found)

    def covering(self, slots: Iterable[int], *, valid_at: int, known_at: int | None) -> list[Covering]:
        """Rectangles of `slots` that cover the point. `known_at` None: as known now."""
        wanted = list(slots)
        found = self.rows_in(_COVERING_NOW, wanted, valid_at, valid_at, _ALWAYS if known_at is None else known_at)
        if known_at is not None:
            found += self.rows_in(_COVERING_THEN, wanted, known_at, known_at, valid_at, valid_at)
        return [Covering._make(row) for row in found]

    def rectangles(self, claims: Iterable[int], *, known_at: int | None) -> list[Rectangle]:
        """Rectangles of `claims` as known at that instant. `known_at` None: as known now."""
        wanted = list(claims)
        found = self.rows_in(_RECTANGLES_NOW, wanted, _ALWAYS if known_at is None else known_at)
        if known_at is not None:
            found += self.rows_in(_RECTANGLES_THEN, wanted, known_at, known_at)
        return [Rectangle._make(row) for row in found]

    def all_rectangles(self, *, claims: Iterable[int] = (), slots: Iterable[int] = ()) -> list[Rectangle]:
        """Every rectangle ever held, by claim and by slot, in the order of known then valid time."""
        found = self.rows_in(_RECTANGLES_NOW, claims, _ALWAYS) + self.rows_in(_CLOSED_OF_CLAIMS, claims)
        found += self.rows_in(_OPEN_OF_SLOTS, slots) + self.rows_in(_CLOSED_OF_SLOTS, slots)
        rows = {Rectangle._make(row) for row in found}
        return sorted(rows, key=lambda r: (r.slot, r.known_from, r.valid_from, r.claim))

    def closed_rectangles(self, claims: Iterable[int]) -> list[Rectangle]:
        """What was believed of `claims` once and no longer is."""
        return [Rectangle._make(row) for row in self.rows_in(_CLOSED_OF_CLAIMS, claims)]

    def stand_ins(self, claims: Iterable[int], *, known_at: int | None) -> dict[int, int]:
        """For each of `claims`: the claim of its slot that says the same and is believed somewhere, if there is one.
        `known_at` None: as known now."""
        if known_at is None:
            found = self.rows_in(_STAND_INS_NOW, claims)
        else:
            found = self.rows_in(_STAND_INS_THEN, claims, known_at)
        return {row[0]: row[1] for row in found}

    def equals(self, claims: Iterable[int], *, known_at: int | None) -> dict[int, list[int]]:
        """For each of `claims`: others of its slot that say the same and hold nothing of their own, the oldest few. It
        stands for them. `known_at` None: as known now."""
        wanted = list(claims)
        found: dict[int, list[int]] = {seq: [] for seq in wanted}
        if known_at is None:
            rows = self.rows_in(_EQUALS_NOW, wanted)
        else:
            rows = self.rows_in(_EQUALS_THEN, wanted, known_at, FOREVER)
        for seq, other in rows:
            found[seq].append(other)
        return found

    def renewed(self, claims: Iterable[int], point: Point) -> set[int]:
        """Those of `claims`, which have faded, that were said again by the point: an equal claim of their slot has
        not."""
        return {row[0] for row in self.rows_in(_RENEWED, claims, *point.bounds)}

    def claim_ids(self, claims: Iterable[int]) -> dict[int, str]:
        sql = "SELECT seq, claim_id FROM claims WHERE seq IN carray(?)"
        return {row[0]: row[1] for row in self.rows_in(sql, claims)}

    def fingerprints(self, slots: Iterable[int]) -> dict[int, str]:
        return {r[0]: r[1] for r in self.rows_in("SELECT slot, fingerprint FROM slots WHERE slot IN carray(?)", slots)}

    def links_of(self, claims: Iterable[int]) -> list[Link]:
        """Chain steps from or to one of `claims`."""
        wanted = list(claims)
        found = {Link._make(row) for sql in (_LINKS_FROM, _LINKS_TO) for row in self.rows_in(sql, wanted)}
        return sorted(found, key=lambda k: (k.known_at, k.old_claim, k.valid_from))

    def standing(self, ns: int, memory_ids: Iterable[str]) -> list[Standing]:
        return [Standing._make(row) for row in self.rows_named(_STANDING, memory_ids, ns)]

    def settled(self, slots: Iterable[int]) -> list[Settled]:
        """Conflicts of `slots` that callers settled, in order."""
        return [Settled._make(row) for row in self.rows_in(_SETTLED, slots)]

    def links(self, *, slots: Iterable[int]) -> list[Link]:
        sql = f"{_LINK} slot IN carray(?) ORDER BY slot, known_at, old_claim, valid_from"
        return [Link._make(row) for row in self.rows_in(sql, slots)]

    def evidence_of(self, claims: Iterable[int]) -> list[EvidenceRow]:
        sql = "SELECT claim, event, start, stop FROM evidence WHERE claim IN carray(?) ORDER BY claim, event"
        return [EvidenceRow._make(row) for row in self.rows_in(sql, claims)]

    def evidence_from(self, events: Iterable[int]) -> list[EvidenceRow]:
        sql = "SELECT claim, event, start, stop FROM evidence WHERE event IN carray(?) ORDER BY event, claim"
        return [EvidenceRow._make(row) for row in self.rows_in(sql, events)]


_ALWAYS: Final = 1 << 62
_OPEN: Final = "b.claim, b.slot, b.valid_from, b.valid_to, b.known_from, 253402300800000000, b.accord"
_CLOSED: Final = "h.claim, h.slot, h.valid_from, h.valid_to, h.known_from, h.known_to, h.accord"
_COVERING_NOW: Final = f"""SELECT {_OPEN}, c.value_fp, c.negates FROM beliefs b CROSS JOIN claims c ON c.seq = b.claim
    WHERE b.slot IN carray(?) AND b.valid_to > ? AND b.valid_from <= ? AND b.known_from <= ?"""
_COVERING_THEN: Final = f"""SELECT {_CLOSED}, c.value_fp, c.negates
    FROM history h CROSS JOIN claims c ON c.seq = h.claim
    WHERE h.slot IN carray(?) AND h.known_to > ? AND h.known_from <= ? AND h.valid_to > ? AND h.valid_from <= ?"""
_RECTANGLES_NOW: Final = f"SELECT {_OPEN} FROM beliefs b WHERE b.claim IN carray(?) AND b.known_from <= ?"
_RECTANGLES_THEN: Final = f"""SELECT {_CLOSED} FROM history h
    WHERE h.claim IN carray(?) AND h.known_to > ? AND h.known_from <= ?"""
_CLOSED_OF_CLAIMS: Final = f"SELECT {_CLOSED} FROM history h WHERE h.claim IN carray(?)"
_HELD_THEN: Final = """(EXISTS (SELECT 1 FROM beliefs b WHERE b.claim = {0}.seq AND b.known_from <= ?2)
    OR EXISTS (SELECT 1 FROM history h WHERE h.claim = {0}.seq AND h.known_from <= ?2 AND h.known_to > ?2))"""
_STAND_INS_THEN: Final = f"""SELECT c.seq, min(k.seq) FROM claims c CROSS JOIN claims k
    ON k.slot = c.slot AND k.value_fp = c.value_fp AND k.negates = c.negates
    WHERE c.seq IN carray(?1) AND {_HELD_THEN.format('k')} GROUP BY c.seq"""
_STAND_INS_NOW: Final = """SELECT c.seq, min(b.claim) FROM claims c CROSS JOIN beliefs b ON b.slot = c.slot
    CROSS JOIN claims k ON k.seq = b.claim AND k.value_fp = c.value_fp AND k.negates = c.negates
    WHERE c.seq IN carray(?) GROUP BY c.seq"""
_EQUALS: Final = """SELECT c.seq, o.seq FROM claims c CROSS JOIN claims o ON o.seq IN (
        SELECT e.seq FROM claims e WHERE e.slot = c.slot AND e.value_fp = c.value_fp AND e.negates = c.negates
        AND e.seq <> c.seq AND {0} ORDER BY e.seq LIMIT 20)
    WHERE c.seq IN carray(?1) ORDER BY c.seq, o.seq"""
_EQUALS_NOW: Final = _EQUALS.format(
    "e.removed_at IS NULL AND NOT EXISTS (SELECT 1 FROM beliefs b WHERE b.claim = e.seq)"
)
_EQUALS_THEN: Final = _EQUALS.format(f"{stood_then('e')} AND NOT {_HELD_THEN.format('e')}")
_UNFADED_THEN: Final = """(o.expired_at IS NULL OR o.expired_at > ?2 OR o.expired_seq > ?3)
    AND (o.archived_at IS NULL OR o.archived_at > ?2 OR o.archived_seq > ?3)"""
_RENEWED: Final = f"""SELECT c.seq FROM claims c WHERE c.seq IN carray(?1) AND EXISTS (
    SELECT 1 FROM claims o WHERE o.slot = c.slot AND o.value_fp = c.value_fp AND o.negates = c.negates
    AND {_UNFADED_THEN} AND {stood_then('o')} AND o.erased_at IS NULL)"""
_STANDING: Final = """SELECT memory_id, confirmations, confirmed_at, helpful, unhelpful, reads, read_at, revived_at
    FROM standing WHERE memory_id IN carray(?) AND ns = ?"""
_SETTLED: Final = """SELECT r.seq, r.slot, r.at, r.winner,
    (SELECT min(c.seq) FROM claims c WHERE c.claim_id = r.winner AND c.slot = r.slot)
    FROM resolutions r WHERE r.slot IN carray(?) ORDER BY r.at, r.seq"""
_LINK: Final = "SELECT slot, known_at, old_claim, new_claim, valid_from, valid_to, rule FROM chains WHERE"
_LINKS_FROM: Final = f"{_LINK} old_claim IN carray(?)"
_LINKS_TO: Final = f"{_LINK} new_claim IN carray(?)"
_OPEN_OF_SLOTS: Final = f"SELECT {_OPEN} FROM beliefs b WHERE b.slot IN carray(?)"
_CLOSED_OF_SLOTS: Final = f"SELECT {_CLOSED} FROM history h WHERE h.slot IN carray(?)"


class ReadModels:
    """The live generation's files, opened on demand, once per thread and partition."""

    def __init__(
        self, directory: Path, *, partitions: int, partition_of: Callable[[str], int], pinned: str | None = None
    ) -> None:
        """`directory` holds `current` and one folder per generation; `partition_of` places a namespace. `pinned` names
        the folder of a generation that is read instead of the live one."""
        self.partitions: Final = partitions
        self.partition_of: Final = partition_of
        self._directory: Final = directory
        self._pinned: Final = pinned
        self._local: Final = threading.local()
        self._named: tuple[tuple[int, int, int], str] | None = None
        self._marker: Final = directory / "current"
        self._paths: dict[tuple[str, int], Path] = {}

    def generation(self) -> str:
        """Name of the live generation's folder. Raises Unavailable before there is one."""
        if self._pinned is not None:
            return self._pinned
        marker = self._marker
        try:
            stat = os.stat(marker)
            seen = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            named = self._named
            if named is None or named[0] != seen:
                named = (seen, marker.read_text("utf-8").strip())
                self._named = named
        except FileNotFoundError:
            raise Unavailable("there is no read model yet") from None
        return named[1]

    def of(self, namespace: str) -> ReadModel:
        """This thread's model of the namespace's partition. Raises Unavailable."""
        return self.at(self.partition_of(namespace))

    def at(self, partition: int) -> ReadModel:
        generation = self.generation()
        path = self._paths.get((generation, partition))
        if path is None:
            path = self._paths[generation, partition] = model_path(self._directory / generation, partition)
        try:
            identity = os.stat(path).st_ino
        except FileNotFoundError:
            raise Unavailable(f"the read model of partition {partition} is not there yet") from None
        opened: dict[int, ReadModel] = self._local.__dict__.setdefault("opened", {})
        model = opened.get(partition)
        if model is not None:
            if (model.generation, model.identity) == (generation, identity):
                return model
            del opened[partition]
            model.close()
        model = ReadModel(path, partition=partition, generation=generation, identity=identity)
        opened[partition] = model
        return model
