"""Which tombstones an older log lacks, and how they are said again over it. Pure.

A tombstone names events and claims by id and position. Positions behind the restored log's end are of a time that was
lost: others will stand there. So a tombstone said again names each event by its id and the place it has in this log, 0
where this log never held it: there it keeps the id from coming back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from taishi.ingest.entries import StoredEntry
from taishi.ingest.envelope import CLAIM_TYPES, FORGETTING_TYPES, NewEvent, Position
from taishi.ingest.ids import derived_id
from taishi.ingest.ledger import LedgerEntry

At = Callable[[int, int], StoredEntry | None]
"""The entry at partition and sequence number, None where the log does not reach so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """A tombstone to be said again: the event, and the keys in this log that go with it."""

    event: NewEvent
    keys: Sequence[int]


def holds(entry: LedgerEntry, at: At) -> bool:
    """Whether the log has this very tombstone at its place."""
    stored = at(entry.partition, entry.seq)
    if stored is None or stored.header["y"] not in FORGETTING_TYPES or stored.header["n"] != entry.namespace:
        return False
    facts: Mapping[str, Any] = stored.header["f"]
    return {i for i, _ in facts["events"]} == {i for i, _ in entry.events}


def lacking(entries: Iterable[LedgerEntry], at: At) -> list[LedgerEntry]:
    """In the order in which they were recorded."""
    return sorted((e for e in entries if not holds(e, at)), key=lambda e: (e.at, e.partition, e.seq))


def again(entry: LedgerEntry, at: At, located: Mapping[str, int], *, head: int) -> Again:
    """`located` are the places of the entry's events in this log, as far as it holds them: an event that was derived
    once more may stand elsewhere than the entry says. `head` is where the partition ended before anything was said
    again: all words up to there were said before the entry."""
    held = {i: stored for i, seq in located.items() if (stored := at(entry.partition, seq)) is not None}
    stating = [stored for stored in held.values() if stored.header["y"] in CLAIM_TYPES]
    keys = sorted({stored.key_id for stored in held.values() if stored.encrypted})
    place = str(Position(entry.partition, entry.seq))
    forbidden = {
        "seen": head, "upto": min(entry.upto, head), "values": entry.values, "subjects": entry.subjects,
    } if entry.values or entry.subjects else {}  # fmt: skip
    event = NewEvent(
        event_id=derived_id("tombstone.again", entry.namespace, place, str(entry.at)),
        type="claim.forgotten" if entry.kind in ("claim", "event") else "scope.forgotten",
        namespace=entry.namespace,
        body={},
        facts={
            "kind": entry.kind,
            "claims": [[stored.header["f"]["claim"]["claim_id"], stored.position.seq] for stored in stating],
            "events": [[i, held[i].position.seq if i in held else 0] for i, _ in entry.events],
            "keys": keys,
            **forbidden,
        },
        recorded_at=entry.at,
        erases=tuple(i for i, _ in entry.events),
    )
    return Again(event=event, keys=keys)
