"""What a forget takes (DESIGN §6): claims, the events that state them, and whatever else repeats their words.

Everything is bounded by `upto`: a claim counts by where its words stand, not by when they were read, so that words at
or before the bound go with all that was made of them since.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

import orjson

from taishi.ingest.instants import FOREVER
from taishi.ingest.normal import normal_value
from taishi.ingest.owed import Owed

from .lookup import FoundClaim, Lookup

Row = tuple[str, int, int]
"""(event_id, seq, key_id)"""


class ToErase(NamedTuple):
    """Claims by (claim_id, seq) with the events that state them; raw events; what callers said of them: who is who,
    reasons and notes, what the namespace was set up with, and what could not be folded. `values` are what the claims
    asked for say: (slot, value, negates). `foreign` are the claims that other extraction generations made of the same
    words, with the events that state them: they go along and are not counted.
    """

    claims: list[tuple[str, int]]
    claim_events: list[Row]
    raw_events: list[Row]
    identities: list[Row]
    remarks: list[Row]
    settings: list[Row]
    parked: list[Row]
    values: list[tuple[str, str, bool]]
    foreign: list[tuple[str, Row]]


_JOINT: Final = (
    "SELECT o.slot FROM slots s JOIN slots o ON o.ns = s.ns AND o.subject = s.subject AND o.rest = s.rest"
    " WHERE s.slot = ?1 AND s.rest IS NOT NULL",
    "SELECT o.slot FROM slots s JOIN names a ON a.ns = s.ns AND a.name_key = s.subject AND a.known_to = ?2"
    " JOIN names b ON b.ns = a.ns AND b.entity = a.entity AND b.known_to = ?2"
    " JOIN slots o ON o.ns = b.ns AND o.subject = b.name_key AND o.rest = s.rest"
    " WHERE s.slot = ?1 AND s.rest IS NOT NULL",
    "SELECT y.slot FROM claims x JOIN verdicts v ON v.ns = x.ns AND v.same AND x.claim_id IN (v.claim_a, v.claim_b)"
    " JOIN claims y ON y.ns = v.ns AND y.claim_id IN (v.claim_a, v.claim_b) WHERE x.slot = ?1",
)
"""Slots that recall folds together with a slot: near copies, names of one entity, and what was judged the same."""


class Closures:
    """`lookup` answers from one partition's read model; every method is about one namespace of it."""

    def __init__(self, lookup: Lookup, partition: int, ns: int) -> None:
        self._lookup = lookup
        self._partition = partition
        self._ns = ns

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._lookup.rows(self._partition, sql, *values)

    def of_claim(self, claim: FoundClaim, *, upto: int) -> ToErase:
        return self._of_claims([claim], upto=upto, raw=())

    def of_event(self, seq: int, *, upto: int) -> ToErase:
        return self._of_events([seq], [], upto=upto)

    def of_subject(self, subject: str, *, upto: int) -> ToErase:
        """All claims about a subject, and the words that name it or that it spoke (not for `user`, the one whose memory
        this is)."""
        keys = {normal_value(subject), *map(normal_value, self._lookup.names(self._partition, self._ns, subject))}
        claims = [claim for key in sorted(keys) for claim in self._lookup.about(self._partition, self._ns, key)]
        identities = self._identities("1", (), upto, keys=keys)
        names = keys - {"user"}
        if not names:
            return self._of_claims(claims, upto=upto, raw=())._replace(identities=identities)
        strangers = [
            row
            for key in sorted(names)
            for row in self._rows("SELECT seq FROM foreign_claims WHERE ns = ? AND subject_key = ?", self._ns, key)
        ]
        named = _mention(names)
        raw = [
            seq
            for seq, text, speaker in self._rows(
                "SELECT seq, text, speaker FROM events WHERE ns = ? AND erased_at IS NULL", self._ns
            )
            if named.search(normal_value(text or "")) or normal_value(speaker or "") in names
        ]
        repeating = [
            seq
            for seq, text, value in self._rows(
                "SELECT seq, text, value FROM claims WHERE ns = ? AND erased_at IS NULL", self._ns
            )
            if named.search(normal_value(f"{text}\n{value}"))
        ]
        taken = self._of_claims(claims, upto=upto, raw=raw, also=repeating)._replace(identities=identities)
        foreign = self._foreign_rows({*(row[0] for row in strangers), *self._foreign_from(raw)}, upto)
        return taken._replace(foreign=list(dict.fromkeys((*taken.foreign, *foreign))))

    def of_session(self, session: str, *, upto: int) -> ToErase:
        rows = self._rows("SELECT seq FROM events WHERE ns = ? AND session = ?", self._ns, session)
        return self._of_events([r[0] for r in rows], [], upto=upto)

    def of_range(self, since: int, until: int, *, upto: int) -> ToErase:
        """Words said, and claims stated outright, within [since, until)."""
        events = self._rows(
            "SELECT seq FROM events WHERE ns = ? AND said_at >= ? AND said_at < ?", self._ns, since, until
        )
        claims = self._rows(
            "SELECT seq FROM claims WHERE ns = ? AND source = seq AND recorded_at >= ? AND recorded_at < ?",
            self._ns, since, until,
        )  # fmt: skip
        taken = self._of_events([r[0] for r in events], [r[0] for r in claims], upto=upto)
        within = "at >= ? AND at < ?"
        return taken._replace(
            identities=self._identities(within, (since, until), upto),
            remarks=_merged(taken.remarks, self._remarks(within, (since, until), upto)),
        )

    def of_namespace(self, *, upto: int) -> ToErase:
        events = self._rows("SELECT seq FROM events WHERE ns = ?", self._ns)
        claims = self._rows("SELECT seq FROM claims WHERE ns = ?", self._ns)
        foreign = self._rows("SELECT seq FROM foreign_claims WHERE ns = ?", self._ns)
        taken = self._to_erase({r[0] for r in claims}, {r[0] for r in events}, upto, {r[0] for r in foreign})
        parked = self._rows("SELECT event_id, seq, key_id FROM dead_letters WHERE ns = ? AND seq <= ?", self._ns, upto)
        settings = self._rows("SELECT event_id, seq, key_id FROM settings WHERE ns = ? AND seq <= ?", self._ns, upto)
        return taken._replace(
            identities=self._identities("1", (), upto),
            remarks=self._remarks("1", (), upto),
            settings=[(event_id, seq, key_id) for event_id, seq, key_id in settings],
            parked=[(event_id, seq, key_id) for event_id, seq, key_id in parked],
        )

    def alike(self, claim: FoundClaim) -> list[FoundClaim]:
        """Every claim that recall shows as this one: equals, also in slots that are joint with its own."""
        fresh, seen = [claim.slot], {claim.slot}
        while fresh:
            found = {row[0] for slot in fresh for sql in _JOINT for row in self._rows(sql, *_known(sql, slot))}
            fresh = sorted(found - seen)
            seen |= found
        return [c for slot in sorted(seen) for c in self._lookup.saying(self._partition, slot, claim)]

    def _of_claims(
        self, claims: Iterable[FoundClaim], *, upto: int, raw: Iterable[int], also: Iterable[int] = ()
    ) -> ToErase:
        """Each claim with those that say the same, every event that states one of them, whole, the other claims drawn
        from overlapping quotes of those words, and what a command made of them."""
        wanted: dict[int, FoundClaim] = {}
        for claim in claims:
            if claim.seq not in wanted:
                wanted |= {c.seq: c for c in self.alike(claim) if c.source <= upto}
        events, taken = set(raw), {*wanted, *also}
        foreign: set[int] = set()
        for seq in wanted:
            for event, start, stop in self._rows("SELECT event, start, stop FROM evidence WHERE claim = ?", seq):
                events.add(event)
                taken |= self.overlapping(event, start, stop)
                foreign |= self.overlapping(event, start, stop, table="foreign_evidence")
        values = dict.fromkeys((c.slot_fingerprint, c.value_fp, bool(c.negates)) for c in wanted.values())
        return self._to_erase(taken, events, upto, foreign)._replace(values=list(values))

    def overlapping(self, event: int, start: int | None, stop: int | None, *, table: str = "evidence") -> set[int]:
        """Claims drawn from words that overlap [start, stop) of a raw event; where either span is unknown, any."""
        return {
            other
            for other, a, b in self._rows(f"SELECT claim, start, stop FROM {table} WHERE event = ?", event)
            if start is None or stop is None or a is None or (a < stop and start < b)
        }

    def _of_events(self, events: Iterable[int], claims: Iterable[int], *, upto: int) -> ToErase:
        """Raw events with every claim that quotes them, and further claims."""
        raw, wanted = set(events), set(claims)
        wanted.update(r[0] for r in self._among("SELECT claim FROM evidence WHERE event", raw))
        return self._to_erase(wanted, raw, upto, self._foreign_from(raw))

    def _foreign_from(self, raw: Iterable[int]) -> set[int]:
        """What other generations read from these raw events."""
        return {row[0] for row in self._among("SELECT claim FROM foreign_evidence WHERE event", raw)}

    def _foreign_rows(self, seqs: Iterable[int], upto: int) -> list[tuple[str, Row]]:
        """Of foreign claims whose words stand at or before `upto`."""
        sql = (
            "SELECT claim_id, event_id, seq, key_id FROM foreign_claims f WHERE seq = ?"
            " AND ifnull((SELECT min(event) FROM foreign_evidence v WHERE v.claim = f.seq), seq) <= ?"
        )
        rows = (row for seq in sorted(seqs) for row in self._rows(sql, seq, upto))
        return [(claim_id, (event_id, seq, key_id)) for claim_id, event_id, seq, key_id in rows]

    def _to_erase(
        self, claims: Collection[int], raw: Collection[int], upto: int, foreign: Collection[int] = ()
    ) -> ToErase:
        """Rows of these claims, of what was made from them, and of raw events that are not erased already and whose
        words stand at or before `upto`; with what was remarked on them, and what waits for them unfolded."""
        every = set(claims) | self._taking(claims, foreign)
        every.update(r[0] for r in self._among("SELECT seq FROM claims WHERE made_from", every))
        found = self._alive("SELECT claim_id, seq, event_id, key_id FROM claims", "source <= ?", every, upto)
        words = self._alive("SELECT event_id, seq, key_id FROM events", "seq <= ?", raw, upto)
        twins = self._among("SELECT seq, ns FROM foreign_claims WHERE claim_id", [c[0] for c in found])
        strangers = {seq for seq, ns in twins if ns == self._ns} | set(foreign)
        names = {*(c[0] for c in found), *(c[2] for c in found), *(e[0] for e in words)}
        return ToErase(
            claims=[(c[0], c[1]) for c in found],
            claim_events=[(c[2], c[1], c[3]) for c in found],
            raw_events=[(e[0], e[1], e[2]) for e in words],
            identities=[],
            remarks=self._remarks_on(dict.fromkeys(c[0] for c in found), upto),
            settings=[],
            parked=self._parked(names, upto),
            values=[],
            foreign=self._foreign_rows(strangers, upto),
        )

    def _taking(self, claims: Iterable[int], foreign: Iterable[int]) -> set[int]:
        """Claims that repeat the words of these, whichever generation had read what was repeated."""
        ids = [r[0] for r in self._among("SELECT claim_id FROM claims WHERE seq", claims)]
        ids += [r[0] for r in self._among("SELECT claim_id FROM foreign_claims WHERE seq", foreign)]
        return {r[0] for r in self._among("SELECT claim FROM takings WHERE ns = ? AND target", ids, self._ns)}

    def _alive(self, select: str, bound: str, seqs: Iterable[int], upto: int) -> list[Sequence[Any]]:
        found = self._among(f"{select} WHERE erased_at IS NULL AND {bound} AND seq", seqs, upto)
        return sorted(found, key=lambda row: row[1])

    def _among(self, sql: str, wanted: Iterable[int | str], *values: Any) -> list[tuple[Any, ...]]:
        """Rows of a query that ends in a column, of which the value is one of `wanted`."""
        among = orjson.dumps(list(wanted)).decode()
        return self._rows(f"{sql} IN (SELECT value FROM json_each(?))", *values, among)

    def _identities(
        self, where: str, values: tuple[int, ...], upto: int, *, keys: Collection[str] | None = None
    ) -> list[Row]:
        """Events that say who is who; with `keys`, those that say it of one of them."""
        sql = f"SELECT event_id, seq, key_id, name, other FROM identities WHERE ns = ? AND {where} AND seq <= ?"
        return [
            (event_id, seq, key_id)
            for event_id, seq, key_id, name, other in self._rows(sql, self._ns, *values, upto)
            if keys is None or normal_value(name) in keys or normal_value(other or "") in keys
        ]

    def _remarks(self, where: str, values: tuple[Any, ...], upto: int) -> list[Row]:
        sql = f"SELECT DISTINCT event_id, seq, key_id FROM remarks WHERE ns = ? AND {where} AND seq <= ?"
        return [(event_id, seq, key_id) for event_id, seq, key_id in self._rows(sql, self._ns, *values, upto)]

    def _remarks_on(self, memory_ids: Iterable[str], upto: int) -> list[Row]:
        if not self._rows("SELECT 1 FROM remarks WHERE ns = ? LIMIT 1", self._ns):
            return []
        return _merged(*(self._remarks("memory_id = ?", (memory_id,), upto) for memory_id in memory_ids))

    def _parked(self, names: Collection[str], upto: int) -> list[Row]:
        """Events that could not be folded and speak of these memories."""
        rows = self._rows(
            "SELECT event_id, seq, key_id, concerns FROM dead_letters WHERE ns = ? AND seq <= ?", self._ns, upto
        )
        return [(e, seq, key) for e, seq, key, concerns in rows if not set(orjson.loads(concerns)).isdisjoint(names)]


def _known(sql: str, slot: int) -> tuple[int, ...]:
    return (slot, FOREVER) if "?2" in sql else (slot,)


def _merged(*rows: Iterable[Row]) -> list[Row]:
    return list(dict.fromkeys(row for some in rows for row in some))


def _mention(names: Iterable[str]) -> re.Pattern[str]:
    """Finds a (normalised) name in normalised text: as a word where its edges are letters or digits of the Latin sort,
    anywhere else in Han and the like, which has no gaps between words."""
    parts = []
    for name in names:
        before = r"(?<![a-z0-9])" if name[:1].isascii() and name[:1].isalnum() else ""
        after = r"(?![a-z0-9])" if name[-1:].isascii() and name[-1:].isalnum() else ""
        parts.append(before + re.escape(name) + after)
    return re.compile("|".join(parts))


def owed_of(lookup: Lookup, partition: int) -> list[Owed]:
    """What the read model erased though no tombstone names it (`fold_late`), by namespace."""
    rows = lookup.rows(
        partition,
        "SELECT o.claim, o.start, o.stop, o.tombstone, n.name, c.claim_id, c.event_id, c.key_id, n.ns FROM owed o"
        " JOIN claims c ON c.seq = o.claim JOIN namespaces n ON n.ns = o.ns ORDER BY o.claim",
    )
    found: dict[tuple[str, int], Owed] = {}
    for claim, start, stop, after, namespace, claim_id, event_id, key_id, ns in rows:
        closures = Closures(lookup, partition, ns)
        claims, events = {claim: claim_id}, {event_id: (claim, key_id)}
        for raw, raw_id, raw_key in lookup.rows(
            partition,
            "SELECT e.seq, e.event_id, e.key_id FROM evidence v JOIN events e ON e.seq = v.event WHERE v.claim = ?",
            claim,
        ):
            events[raw_id] = (raw, raw_key)
            for seq in closures.overlapping(raw, start, stop) if start is not None else ():
                for also, its_event, its_key in lookup.rows(
                    partition,
                    "SELECT claim_id, event_id, key_id FROM claims WHERE seq = ? AND erased_at IS NULL",
                    seq,
                ):
                    claims[seq] = also
                    events[its_event] = (seq, its_key)
        before = found.get((namespace, after))
        found[namespace, after] = Owed(
            namespace=namespace,
            after=after,
            claims=[*(before.claims if before else ()), *((name, seq) for seq, name in claims.items())],
            events=[*(before.events if before else ()), *((e, seq, key) for e, (seq, key) in events.items())],
        )
    return list(found.values())
