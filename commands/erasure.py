"""Erasing a closure: tombstones, then keys, then the ledger, then the read models; and the receipt that says so.

The tombstones of one forget enter the log together, so that a process that dies leaves all of it forgotten or nothing;
what it leaves undone the log's readers finish (the keeper destroys the keys and enters the ledger, the folds drop the
words). Only a scope of more than `LARGEST_BATCH` tombstones needs several appends: one that dies between them gives no
receipt, and a new dry run shows what is left.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from taishi.ingest.crashpoints import reach
from taishi.ingest.crypto import NO_KEY
from taishi.ingest.envelope import Event, NewEvent
from taishi.ingest.errors import NotCaughtUp
from taishi.ingest.ids import new_id
from taishi.ingest.instants import render
from taishi.ingest.ledger import LedgerEntry
from taishi.ingest.log import Batch
from taishi.ingest.slots import subject_of

from .directory import Closure, Scope
from .ports import Ports

LARGEST_TOMBSTONE: Final = 1_000
"""Events that one tombstone names."""
LARGEST_BATCH: Final = 64
"""Tombstones that enter the log together."""
_LEAST_SECONDS: Final = 5.0
_EVENTS_A_SECOND: Final = 500
"""How long the read models are waited for: they drop several times as many."""

Tell = Callable[[int, int], None]


def untold(_done: int, _of: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What goes, and why. `unread` is how many messages at or before `upto` no extractor has read."""

    namespace: str
    scope: Scope
    closure: Closure
    upto: int
    unread: int
    reason: str | None


async def erase(erasure: Erasure, what: Mapping[str, Any], ports: Ports, tell: Tell = untold) -> dict[str, Any]:
    """The signed receipt. It says `read_models: pending` where words may still be in some file, `unread` where messages
    wait to be read, `unencrypted` where the log keeps bodies that were never encrypted."""
    closure = erasure.closure
    events = _events(erasure, ports)
    tombstones: list[Event] = []
    destroyed = 0
    for start in range(0, len(events), LARGEST_BATCH):
        appended = await ports.commits.append(Batch(events=events[start : start + LARGEST_BATCH]))
        reach("tombstoned")
        for recorded in appended.recorded:
            tombstone = await ports.call(ports.log.fetch, recorded.position)
            await ports.call(ports.keys.destroy, tombstone.facts["keys"], at=ports.clock())
            destroyed += len(tombstone.facts["keys"])  # whoever was first: the keeper may have been
            tombstones.append(tombstone)
        reach("destroyed")
        await ports.call(ports.ledger.append, *map(LedgerEntry.of, tombstones[start:]))
    last = tombstones[-1]
    try:
        chain = await _erased(tombstones, len(closure.events), ports, tell)
        dropped = "dropped"
    except NotCaughtUp:
        chain, dropped = None, "pending"
    open_bodies = sum(1 for _, _, key_id in closure.events if key_id == NO_KEY)
    receipt: dict[str, Any] = {
        "what": dict(what),
        "when": render(last.recorded_at),
        "counts": {**closure.counts, "keys_destroyed": destroyed},
        "position": str(last.position),
        "digest": last.digest.hex(),
        "chain": chain,
        "tombstones": [str(tombstone.position) for tombstone in tombstones],
        "read_models": dropped,
        **({"unread": erasure.unread} if erasure.unread else {}),
        **({"unencrypted": open_bodies} if open_bodies else {}),
    }
    return {**receipt, "signature": sign_receipt(receipt, await ports.call(ports.keys.secret, "ledger"))}


async def _erased(tombstones: Sequence[Event], events: int, ports: Ports, tell: Tell) -> str | None:
    """The chain's value after the last tombstone, once all of it is gone everywhere. Raises NotCaughtUp."""
    done = 0
    for tombstone in tombstones:
        seconds = _LEAST_SECONDS + len(tombstone.facts["events"]) / _EVENTS_A_SECOND
        chain = await ports.call(ports.directory.erased, tombstone.position, seconds=seconds)
        done += len(tombstone.facts["events"])
        tell(done, events)
    return chain


def _events(erasure: Erasure, ports: Ports) -> list[NewEvent]:
    """The closure in parts that one event each can name, by position; at least one part. Only the last forbids what is
    forgotten to be read from older words."""
    correlation = new_id()
    single = erasure.scope.kind in ("claim", "event")
    parts = list(_parts(erasure.closure))
    found: list[NewEvent] = []
    for number, (claims, events) in enumerate(parts, 1):
        facts: dict[str, Any] = {
            "kind": erasure.scope.kind,
            "claims": [[claim_id, seq] for claim_id, seq in claims],
            "events": [[event_id, seq] for event_id, seq, _ in events],
            "keys": sorted({key_id for _, _, key_id in events} - {NO_KEY}),
            "seen": erasure.closure.seen,
            "upto": erasure.upto,
        }
        if number == len(parts):
            facts |= _forbidden(erasure, ports)
        found.append(
            NewEvent(
                event_id=new_id(),
                type="claim.forgotten" if single else "scope.forgotten",
                namespace=erasure.namespace,
                body={} if erasure.reason is None else {"reason": erasure.reason},
                facts=facts,
                correlation_id=correlation,
                erases=tuple(event_id for event_id, _, _ in events),
            )
        )
    return found


def _forbidden(erasure: Erasure, ports: Ports) -> dict[str, Any]:
    closure, found = erasure.closure, dict[str, Any]()
    if closure.values:
        found["values"] = [list(value) for value in closure.values]
    if closure.names:
        fingerprints = {
            subject_of(name, namespace=erasure.namespace, fingerprints=ports.fingerprints) for name in closure.names
        }
        found["subjects"] = sorted(fingerprints)
    return found


def _parts(closure: Closure) -> Iterator[tuple[list[tuple[str, int]], list[tuple[str, int, int]]]]:
    events = sorted(closure.events, key=lambda event: event[1])
    claims = sorted(closure.claims, key=lambda claim: claim[1])
    for start in range(0, len(events) or 1, LARGEST_TOMBSTONE):
        part = events[start : start + LARGEST_TOMBSTONE]
        last = start + LARGEST_TOMBSTONE >= len(events)
        taken = claims if last else [claim for claim in claims if claim[1] <= part[-1][1]]
        claims = claims[len(taken) :]
        yield taken, part


def sign_receipt(receipt: Mapping[str, Any], secret: bytes) -> str:
    """HMAC-SHA-256 under the `ledger` secret over the receipt's canonical JSON, without its signature."""
    signed = {name: value for name, value in receipt.items() if name != "signature"}
    return hmac.new(secret, b"receipt" + orjson.dumps(signed, option=orjson.OPT_SORT_KEYS), hashlib.sha256).hexdigest()
