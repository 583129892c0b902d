"""Looking things up in the read models, for those who validate commands: single rows, and what a forget must take.

Read-only, one connection a thread and partition. Every answer is about one namespace.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw

from taishi.ingest.instants import FOREVER
from taishi.ingest.normal import normal_value

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


class ToErase(NamedTuple):
    """Claims by (claim_id, seq); raw events, and those that state claims or who is who, by (event_id, seq, key_id)."""

    claims: list[tuple[str, int]]
    raw_events: list[tuple[str, int, int]]
    claim_events: list[tuple[str, int, int]]


_CLAIM: Final = (
    "SELECT "
    + ", ".join("s.fingerprint" if name == "slot_fingerprint" else f"c.{name}" for name in FoundClaim._fields)
    + " FROM claims c JOIN slots s ON s.slot = c.slot WHERE "
)
_EVENT: Final = f"SELECT {', '.join(FoundEvent._fields)} FROM events WHERE "


class Lookup:
    """Read access to `folder()`'s read models; `folder` names the live generation at the time of asking."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder
        self._local = threading.local()

    def _connection(self, partition: int) -> apsw.Connection | None:
        """None as long as nothing was ever folded there."""
        path = model_path(self._folder(), partition)
        try:
            identity = path.stat().st_ino
        except FileNotFoundError:
            return None
        opened: dict[int, tuple[int, apsw.Connection]] = self._local.__dict__.setdefault("opened", {})
        known = opened.get(partition)
        if known is None or known[0] != identity:
            known = opened[partition] = (identity, open_connection(path, read_only=True))
        return known[1]

    def _rows(self, partition: int, sql: str, *values: Any) -> list[tuple[Any, ...]]:
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
        rows = self._rows(partition, "SELECT seq FROM checkpoint")
        return int(rows[0][0]) if rows else 0

    def namespace(self, partition: int, name: str) -> tuple[int, str] | None:
        """(number, time zone), or None where the namespace has no event."""
        rows = self._rows(partition, "SELECT ns, timezone FROM namespaces WHERE name = ?", name)
        return (rows[0][0], rows[0][1]) if rows else None

    def claims(self, partition: int, ns: int, claim_id: str) -> list[FoundClaim]:
        """The rows of one claim id (more than one where a later generation read the same), oldest first."""
        return [
            FoundClaim(*r)
            for r in self._rows(partition, _CLAIM + "c.claim_id = ? AND c.ns = ? ORDER BY c.seq", claim_id, ns)
        ]

    def equals(self, partition: int, claim: FoundClaim) -> list[FoundClaim]:
        """Every claim of the slot that says the same and whose words are still there, itself included, oldest first."""
        where = "c.slot = ? AND c.value_fp = ? AND c.negates = ? AND c.erased_at IS NULL ORDER BY c.seq"
        return [
            FoundClaim(*r) for r in self._rows(partition, _CLAIM + where, claim.slot, claim.value_fp, claim.negates)
        ]

    def holders(self, partition: int, claim: FoundClaim) -> list[FoundClaim]:
        """Those of `equals` that are believed somewhere in valid time now."""
        return [
            c
            for c in self.equals(partition, claim)
            if self._rows(partition, "SELECT 1 FROM beliefs WHERE claim = ?", c.seq)
        ]

    def live_of_slot(self, partition: int, ns: int, slot: str) -> list[FoundClaim]:
        """The live claims of a slot, by its fingerprint or by the id of a claim in it."""
        where = (
            "c.ns = ?1 AND c.erased_at IS NULL AND c.removed_at IS NULL AND c.slot IN (SELECT slot FROM slots WHERE"
            " fingerprint = ?2 UNION SELECT slot FROM claims WHERE claim_id = ?2) ORDER BY c.seq"
        )
        return [FoundClaim(*r) for r in self._rows(partition, _CLAIM + where, ns, slot)]

    def event(self, partition: int, ns: int, event_id: str) -> FoundEvent | None:
        rows = self._rows(partition, _EVENT + "event_id = ? AND ns = ?", event_id, ns)
        return FoundEvent(*rows[0]) if rows else None

    def is_parked(self, partition: int, ns: int, seq: int) -> bool:
        sql = "SELECT 1 FROM dead_letters WHERE ns = ? AND seq = ? AND state != 'skipped'"
        return bool(self._rows(partition, sql, ns, seq))

    def origin(self, partition: int, claim_seq: int) -> str:
        """The origin of the words a claim rests on; `user_direct` where it was stated outright."""
        sql = "SELECT e.origin FROM claims c JOIN events e ON e.seq = c.source WHERE c.seq = ?"
        rows = self._rows(partition, sql, claim_seq)
        return str(rows[0][0]) if rows else "user_direct"

    def claims_of_event(self, partition: int, event_seq: int) -> list[str]:
        sql = (
            "SELECT c.claim_id FROM evidence v JOIN claims c ON c.seq = v.claim"
            " WHERE v.event = ? AND c.erased_at IS NULL ORDER BY c.seq"
        )
        return [r[0] for r in self._rows(partition, sql, event_seq)]

    # what a forget takes (DESIGN §6)

    def closure_of_claims(self, partition: int, claims: Iterable[FoundClaim], *, upto: int) -> ToErase:
        """Each claim with its equals, every event that states one of them, whole, the other claims drawn from
        overlapping quotes of those words, and what a command made of them."""
        wanted: set[int] = set()
        for claim in claims:
            wanted.update(c.seq for c in self.equals(partition, claim) if c.seq <= upto)
        raw: set[int] = set()
        also: set[int] = set()
        for seq in wanted:
            for event, start, stop in self._rows(
                partition, "SELECT event, start, stop FROM evidence WHERE claim = ?", seq
            ):
                raw.add(event)
                for other, a, b in self._rows(
                    partition, "SELECT claim, start, stop FROM evidence WHERE event = ?", event
                ):
                    if start is None or a is None or (a < stop and start < b):
                        also.add(other)
        for seq in wanted | also:
            also.update(r[0] for r in self._rows(partition, "SELECT seq FROM claims WHERE made_from = ?", seq))
        return self._to_erase(partition, wanted | also, raw, upto)

    def closure_of_events(self, partition: int, events: Iterable[int], claims: Iterable[int], *, upto: int) -> ToErase:
        """Raw events (by seq) with every claim that quotes them, and further claims (by seq)."""
        raw, wanted = set(events), set(claims)
        for seq in raw:
            wanted.update(r[0] for r in self._rows(partition, "SELECT claim FROM evidence WHERE event = ?", seq))
        return self._to_erase(partition, wanted, raw, upto)

    def of_subject(self, partition: int, ns: int, subject: str, *, upto: int) -> ToErase:
        """All claims about a subject, and the raw events that name it or that it spoke (not for `user`, the one whose
        memory this is)."""
        keys = {normal_value(subject), *(normal_value(name) for name in self.names(partition, ns, subject))}
        where = "c.ns = ? AND c.subject_key = ? AND c.erased_at IS NULL"
        found = [FoundClaim(*r) for key in sorted(keys) for r in self._rows(partition, _CLAIM + where, ns, key)]
        taken = self.closure_of_claims(partition, found, upto=upto)
        named = self._identities(partition, ns, "1", (), upto, keys=keys)
        keys.discard("user")
        if not keys:
            return taken._replace(claim_events=[*taken.claim_events, *named])
        naming = {
            seq
            for seq, text, speaker in self._rows(
                partition, "SELECT seq, text, speaker FROM events WHERE ns = ? AND erased_at IS NULL", ns
            )
            if any(key in normal_value(text or "") for key in keys) or normal_value(speaker or "") in keys
        }
        claims = {seq for _, seq in taken.claims}
        gone = self._to_erase(partition, claims, naming | {seq for _, seq, _ in taken.raw_events}, upto)
        return gone._replace(claim_events=[*gone.claim_events, *named])

    def names(self, partition: int, ns: int, name: str) -> list[str]:
        """All names of the entity that goes by `name`, its main one first; none where it has no others."""
        rows = self._rows(
            partition,
            "SELECT b.name FROM names a JOIN names b ON b.ns = a.ns AND b.entity = a.entity AND b.known_to = a.known_to"
            " WHERE a.ns = ? AND a.name_key = ? AND a.known_to = ? ORDER BY b.main DESC, b.known_from, b.name_key",
            ns, normal_value(name), FOREVER,
        )  # fmt: skip
        return [r[0] for r in rows]

    def _identities(
        self, partition: int, ns: int, where: str, values: tuple[int, ...], upto: int, *, keys: set[str] | None = None
    ) -> list[tuple[str, int, int]]:
        """Events that say who is who, as (event_id, seq, key_id); with `keys`, those that say it of one of them."""
        sql = f"SELECT event_id, seq, key_id, name, other FROM identities WHERE ns = ? AND {where} AND seq <= ?"
        return [
            (event_id, seq, key_id)
            for event_id, seq, key_id, name, other in self._rows(partition, sql, ns, *values, upto)
            if keys is None or normal_value(name) in keys or normal_value(other or "") in keys
        ]

    def of_session(self, partition: int, ns: int, session: str, *, upto: int) -> ToErase:
        rows = self._rows(partition, "SELECT seq FROM events WHERE ns = ? AND session = ?", ns, session)
        return self.closure_of_events(partition, [r[0] for r in rows], [], upto=upto)

    def of_range(self, partition: int, ns: int, since: int, until: int, *, upto: int) -> ToErase:
        """Words said, and claims stated outright, within [since, until)."""
        events = self._rows(
            partition, "SELECT seq FROM events WHERE ns = ? AND said_at >= ? AND said_at < ?", ns, since, until
        )
        claims = self._rows(
            partition,
            "SELECT seq FROM claims WHERE ns = ? AND source = seq AND recorded_at >= ? AND recorded_at < ?",
            ns, since, until,
        )  # fmt: skip
        taken = self.closure_of_events(partition, [r[0] for r in events], [r[0] for r in claims], upto=upto)
        named = self._identities(partition, ns, "at >= ? AND at < ?", (since, until), upto)
        return taken._replace(claim_events=[*taken.claim_events, *named])

    def of_namespace(self, partition: int, ns: int, *, upto: int) -> ToErase:
        events = self._rows(partition, "SELECT seq FROM events WHERE ns = ?", ns)
        claims = self._rows(partition, "SELECT seq FROM claims WHERE ns = ?", ns)
        taken = self._to_erase(partition, {r[0] for r in claims}, {r[0] for r in events}, upto)
        named = self._identities(partition, ns, "1", (), upto)
        return taken._replace(claim_events=[*taken.claim_events, *named])

    def _to_erase(self, partition: int, claims: set[int], raw: set[int], upto: int) -> ToErase:
        """Rows of these claims and raw events that are not erased already and stand at or before `upto`."""

        def alive(table: str, columns: str, seqs: set[int]) -> list[Sequence[Any]]:
            found: list[Sequence[Any]] = []
            sql = f"SELECT {columns} FROM {table} WHERE seq = ? AND erased_at IS NULL"
            for seq in sorted(s for s in seqs if s <= upto):
                found += self._rows(partition, sql, seq)
            return found

        found = alive("claims", "claim_id, seq, event_id, key_id", claims)
        return ToErase(
            claims=[(c[0], c[1]) for c in found],
            raw_events=[(e[0], e[1], e[2]) for e in alive("events", "event_id, seq, key_id", raw)],
            claim_events=[(c[2], c[1], c[3]) for c in found],
        )
