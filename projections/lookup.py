"""Looking things up in the read models, for those who validate commands: single rows (`closure`: what a forget takes).

Read-only, one connection a thread and partition. Every answer is about one namespace.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw

from taishi.ingest.instants import FOREVER
from taishi.ingest.normal import normal_value

from .schema import document_of_claim, document_of_event
from .store import open_connection
from .worker import model_path


class FoundClaim(NamedTuple):
    """A claim's row: facts first, then content (None where erased). Instants are whole microseconds."""

    seq: int
    claim_id: str
    event_id: str
    slot: int
    slot_fingerprint: str
    value_fp: str
    negates: int
    valid_from: int
    valid_to: int
    to_inferred: int
    known_from: int
    source: int
    recorded_at: int
    strength: int
    correction: int
    removed_why: str | None
    erased_at: int | None
    subject: str | None
    predicate: str | None
    value: str | None
    negated: int | None
    qualifiers: str | None
    modality: str | None
    speaker: str | None
    importance: float | None
    confidence: float | None
    occurs_from: int | None
    occurs_to: int | None
    grain: str | None
    temporary: int | None


class FoundEvent(NamedTuple):
    seq: int
    event_id: str
    key_id: int
    origin: str
    erased_at: int | None


_CLAIM: Final = (
    "SELECT "
    + ", ".join("s.fingerprint" if name == "slot_fingerprint" else f"c.{name}" for name in FoundClaim._fields)
    + " FROM claims c JOIN slots s ON s.slot = c.slot WHERE "
)
_EVENT: Final = f"SELECT {', '.join(FoundEvent._fields)} FROM events WHERE "


class Lookup:
    """Read access to `folder()`'s read models; `folder` names the live generation at the time of asking."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self.folder = folder
        self._local = threading.local()

    def _connection(self, partition: int) -> apsw.Connection | None:
        """None as long as nothing was ever folded there."""
        path = model_path(self.folder(), partition)
        try:
            identity = path.stat().st_ino
        except FileNotFoundError:
            return None
        opened: dict[int, tuple[int, apsw.Connection]] = self._local.__dict__.setdefault("opened", {})
        known = opened.get(partition)
        if known is None or known[0] != identity:
            known = opened[partition] = (identity, open_connection(path, read_only=True))
        return known[1]

    def rows(self, partition: int, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """None where nothing was folded yet."""
        connection = self._connection(partition)
        if connection is None:
            return []
        try:
            return connection.execute(sql, values).fetchall()
        except apsw.SQLError as e:
            if "no such table" in str(e):  # the projector is just making the file
                return []
            raise

    def checkpoint(self, partition: int) -> int:
        rows = self.rows(partition, "SELECT seq FROM checkpoint")
        return int(rows[0][0]) if rows else 0

    def namespace(self, partition: int, name: str) -> tuple[int, str] | None:
        """(number, time zone), or None where the namespace has no event."""
        rows = self.rows(partition, "SELECT ns, timezone FROM namespaces WHERE name = ?", name)
        return (rows[0][0], rows[0][1]) if rows else None

    def claims(self, partition: int, ns: int, claim_id: str) -> list[FoundClaim]:
        """The rows of one claim id (more than one where a later generation read the same), oldest first."""
        return [
            FoundClaim(*r)
            for r in self.rows(partition, _CLAIM + "c.claim_id = ? AND c.ns = ? ORDER BY c.seq", claim_id, ns)
        ]

    def equals(self, partition: int, claim: FoundClaim) -> list[FoundClaim]:
        """Every claim of the slot that says the same and whose words are still there, itself included, oldest first."""
        return self.saying(partition, claim.slot, claim)

    def saying(self, partition: int, slot: int, claim: FoundClaim) -> list[FoundClaim]:
        """As `equals`, of any slot."""
        where = "c.slot = ? AND c.value_fp = ? AND c.negates = ? AND c.erased_at IS NULL ORDER BY c.seq"
        return [FoundClaim(*r) for r in self.rows(partition, _CLAIM + where, slot, claim.value_fp, claim.negates)]

    def about(self, partition: int, ns: int, subject_key: str) -> list[FoundClaim]:
        """Every claim about a subject whose words are still there."""
        where = "c.ns = ? AND c.subject_key = ? AND c.erased_at IS NULL"
        return [FoundClaim(*r) for r in self.rows(partition, _CLAIM + where, ns, subject_key)]

    def holders(self, partition: int, claim: FoundClaim) -> list[FoundClaim]:
        """Those of `equals` that are believed somewhere in valid time now."""
        return [
            c
            for c in self.equals(partition, claim)
            if self.rows(partition, "SELECT 1 FROM beliefs WHERE claim = ?", c.seq)
        ]

    def live_of_slot(self, partition: int, ns: int, slot: str) -> list[FoundClaim]:
        """The live claims of a slot, by its fingerprint or by the id of a claim in it."""
        where = (
            "c.ns = ?1 AND c.erased_at IS NULL AND c.removed_at IS NULL AND c.slot IN (SELECT slot FROM slots WHERE"
            " fingerprint = ?2 UNION SELECT slot FROM claims WHERE claim_id = ?2) ORDER BY c.seq"
        )
        return [FoundClaim(*r) for r in self.rows(partition, _CLAIM + where, ns, slot)]

    def event(self, partition: int, ns: int, event_id: str) -> FoundEvent | None:
        rows = self.rows(partition, _EVENT + "event_id = ? AND ns = ?", event_id, ns)
        return FoundEvent(*rows[0]) if rows else None

    def is_parked(self, partition: int, ns: int, seq: int) -> bool:
        sql = "SELECT 1 FROM dead_letters WHERE ns = ? AND seq = ? AND state != 'skipped'"
        return bool(self.rows(partition, sql, ns, seq))

    def shown(self, partition: int, ns: int, exposure: str) -> int | None:
        """How many memories a recall showed; None where it is not among the last ones."""
        sql = "SELECT json_array_length(items) FROM exposures WHERE exposure = ? AND ns = ?"
        rows = self.rows(partition, sql, exposure, ns)
        return int(rows[0][0]) if rows else None

    def origin(self, partition: int, claim_seq: int) -> str:
        """The origin of the words a claim rests on; `user_direct` where it was stated outright."""
        sql = "SELECT e.origin FROM claims c JOIN events e ON e.seq = c.source WHERE c.seq = ?"
        rows = self.rows(partition, sql, claim_seq)
        return str(rows[0][0]) if rows else "user_direct"

    def claims_of_event(self, partition: int, event_seq: int) -> list[str]:
        sql = (
            "SELECT c.claim_id FROM evidence v JOIN claims c ON c.seq = v.claim"
            " WHERE v.event = ? AND c.erased_at IS NULL ORDER BY c.seq"
        )
        return [r[0] for r in self.rows(partition, sql, event_seq)]

    def read_from(self, partition: int, event_seq: int) -> list[tuple[int, tuple[int, int] | None]]:
        """Where the claims stand that were read from a raw event, each with the tombstone (position, recorded time)
        that took its words, if one did."""
        sql = (
            "SELECT c.seq, c.erased_at, (SELECT min(t.seq) FROM tombstones t WHERE t.ns = c.ns AND t.at = c.erased_at)"
            " FROM evidence v JOIN claims c ON c.seq = v.claim"
            " WHERE v.event = ? AND c.event_type = 'claim.extracted' ORDER BY c.seq"
        )
        rows = self.rows(partition, sql, event_seq)
        return [(seq, None if erased_at is None else (tombstone, erased_at)) for seq, erased_at, tombstone in rows]

    def names(self, partition: int, ns: int, name: str) -> list[str]:
        """All names of the entity that goes by `name`, its main one first; none where it has no others."""
        rows = self.rows(
            partition,
            "SELECT b.name FROM names a JOIN names b ON b.ns = a.ns AND b.entity = a.entity AND b.known_to = a.known_to"
            " WHERE a.ns = ? AND a.name_key = ? AND a.known_to = ? ORDER BY b.main DESC, b.known_from, b.name_key",
            ns, normal_value(name), FOREVER,
        )  # fmt: skip
        return [r[0] for r in rows]

    def unread(self, partition: int, ns: int, *, upto: int) -> int:
        """How many raw events at or before `upto` no extractor has read yet."""
        sql = "SELECT count(*) FROM events WHERE ns = ? AND extraction = 'pending' AND seq <= ?"
        rows = self.rows(partition, sql, ns, upto)
        return int(rows[0][0]) if rows else 0

    def scrubbed(self, partition: int) -> int:
        """Position up to which nothing that was forgotten is left on any page of the read model."""
        rows = self.rows(partition, "SELECT scrubbed FROM checkpoint")
        return int(rows[0][0]) if rows else 0

    def chain(self, partition: int, tombstone: int) -> str | None:
        """The hash chain's value after a tombstone, in hex; None where it was not folded."""
        rows = self.rows(partition, "SELECT chain FROM tombstones WHERE seq = ?", tombstone)
        return rows[0][0].hex() if rows and rows[0][0] is not None else None

    def left(self, partition: int, claims: Iterable[int], events: Iterable[int]) -> int:
        """Rows that still hold words of claims and events at these positions, in tables or the index."""
        found = 0
        for seq in claims:
            found += len(self.rows(partition, "SELECT 1 FROM claims WHERE seq = ? AND text IS NOT NULL", seq))
            found += len(self.rows(partition, "SELECT 1 FROM tokens WHERE doc = ?", document_of_claim(seq)))
        for seq in events:
            found += len(self.rows(partition, "SELECT 1 FROM events WHERE seq = ? AND text IS NOT NULL", seq))
            for table in ("identities", "settings", "dictionaries"):
                found += len(self.rows(partition, f"SELECT 1 FROM {table} WHERE seq = ?", seq))
            found += len(self.rows(partition, "SELECT 1 FROM tokens WHERE doc = ?", document_of_event(seq)))
        return found
