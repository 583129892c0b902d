"""What a command must know to validate: a port that the read models answer.

Commands never open a read model. They ask through `ClaimDirectory`, which the composition root plugs in, and they ask
only after `settled`, so that what was acknowledged before the question counts. All methods block (they are called from
worker threads, several at once) and never write. Every answer is about one namespace: an id of another one is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Literal, Protocol

from taishi.ingest.claims import Claim, ClaimFacts
from taishi.ingest.envelope import Position

from .lifecycle import Due

ScopeKind = Literal["claim", "event", "subject", "session", "range", "namespace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a forget is about. Exactly the fields that belong to `kind` are set.

    claim: `claim_id` · event: `event_id` · subject: `subject` as written by the caller (compared normalised) ·
    session: `session`, taken verbatim · range: [`since`, `until`) over the instant at which words were said
    (`said_at`; a stated claim: recorded_at), None unbounded on that side · namespace: everything.
    """

    kind: ScopeKind
    claim_id: str | None = None
    event_id: str | None = None
    subject: str | None = None
    session: str | None = None
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownClaim:
    """A claim whose words are still there. `claim_id` is the one asked for, or the survivor it was merged into.

    `equals` are the ids of the other live claims that say the same (same slot, same value and polarity, not removed).
    `facts.valid_from` is resolved (never None). `event_id` is the event that states it, `origin` that event's origin.
    `removed` tells of a verdict that already took it away: it is no longer believed, but its words are there.
    """

    claim_id: str
    claim: Claim
    facts: ClaimFacts
    equals: tuple[str, ...]
    event_id: str
    origin: str
    recorded_at: int
    position: Position
    removed: Literal["wrong", "retracted"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEvent:
    """A raw event whose words are still there. `claims` are the ids of the live claims that rest on it."""

    event_id: str
    key_id: int
    position: Position
    claims: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSlot:
    """A slot by its fingerprint, with the ids of its live claims, oldest first (at least one)."""

    fingerprint: str
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """Everything that must go so that the words are gone (DESIGN §6), at or before the upper bound, without what is
    erased already.

    A claim brings its equals, the events that state them (claim events and raw evidence, whole) and the other claims
    drawn from overlapping quotes of those words; a raw event brings the claims that rest on it alone or quote it.
    A negation made by a correction (`was: true_until`) repeats the words of its target and goes with it.
    `claims` are (claim_id, seq of the claim event); `events` are (event_id, seq, key_id) of every event whose body
    goes: raw events, claim events, what a caller said of them (names, reasons, notes), and with a whole namespace its
    settings. `counts` says how many by
    kind, at least `claims` and `events` (raw ones).
    `values` are what is forgotten as it stands in claim facts (slot, value, negates), where words that say it and are
    read only later must not bring it back; `names` are those of a subject for which the same holds. `seen` is the
    position up to which the read models had folded when this was told.
    """

    claims: Sequence[tuple[str, int]]
    events: Sequence[tuple[str, int, int]]
    counts: Mapping[str, int] = field(default_factory=dict)
    values: Sequence[tuple[str, str, bool]] = ()
    names: Sequence[str] = ()
    seen: int = 0


class ClaimDirectory(Protocol):
    def settled(self, namespace: str, *, seconds: float = 5.0) -> None:
        """Returns once the read models have folded the namespace's head as it was when called. Raises NotCaughtUp."""
        ...

    def unread(self, namespace: str, *, upto: int, seconds: float) -> int:
        """How many raw events at or before `upto` no extractor has read yet, once none is left or time is up."""
        ...

    def erased(self, position: Position, *, seconds: float) -> str | None:
        """Returns once what the tombstones up to `position` name is gone from every read model, index and vector file,
        its old pages overwritten. The hash chain's value after `position`, in hex. Raises NotCaughtUp."""
        ...

    def remains(self, namespace: str, claims: Collection[int], events: Collection[int]) -> int:
        """How many rows of words there still are, in read models, indexes and vector files, of claims and events at
        these positions."""
        ...

    def claim(self, namespace: str, memory_id: str) -> KnownClaim:
        """Raises NotFound (also for an event's id), Gone when it was forgotten."""
        ...

    def event(self, namespace: str, memory_id: str) -> KnownEvent:
        """A raw event. Raises NotFound, Gone when it was forgotten."""
        ...

    def closure(self, namespace: str, scope: Scope, *, upto: int | None = None) -> Closure:
        """`upto` is the last sequence number that may go (None: all that was folded). An empty closure is no error."""
        ...

    def slot(self, namespace: str, slot: str) -> KnownSlot:
        """A slot by its fingerprint, or by the id of a claim in it. Raises NotFound."""
        ...

    def is_parked(self, namespace: str, position: Position) -> bool:
        """Whether the namespace's event at `position` could not be folded, or waits behind one that could not."""
        ...

    def shown(self, namespace: str, exposure: str, *, seconds: float) -> int | None:
        """How many memories a recall showed, by its exposure id, which enters the log a moment after the answer: waited
        for that long. None where none of the namespace's last recalls goes by it."""
        ...

    def names(self, namespace: str, name: str) -> tuple[str, ...]:
        """All names of the entity that goes by `name`, its main one first; empty where it has no others."""
        ...

    def faded(self, namespace: str, claim_id: str) -> Due | None:
        """The revival of a memory that has expired or is archived; None where it is not, or is unknown."""
        ...

    def zone(self, namespace: str) -> tzinfo:
        """The namespace's configured time zone, UTC where none was set. A namespace without any event is no error."""
        ...
