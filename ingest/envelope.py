"""The event contract: what every entry of the log is.

An event is a header, readable by every reader of the log and authenticated, and a body, encrypted under a key of its
own. Personal data (names, words, metadata) lives in the body alone: whatever must still be folded after the body's key
was destroyed (claim ids, keyed fingerprints, intervals, evidence ids) is in `facts`, in the header.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

RAW_TYPES: Final = frozenset(
    {"message.recorded", "tool.called", "tool.returned", "operation.recorded", "document.recorded"}
)
CLAIM_TYPES: Final = frozenset({"claim.extracted", "claim.asserted", "claim.corrected"})
DERIVED_TYPES: Final = frozenset({
    "claim.extracted", "extraction.completed", "extraction.failed", "window.skipped", "dedup.judged", "conflict.judged",
})
FORGETTING_TYPES: Final = frozenset({"claim.forgotten", "scope.forgotten"})
"""Tombstones."""
UNORDERED_TYPES: Final = DERIVED_TYPES | {
    "memory.recalled", "namespace.configured", "claim.expired", "claim.archived", "claim.revived",
    "observation.derived", "mental_model.derived", "derivation.invalidated", "relation.proposed", "policy.induced",
    "generation.started", "generation.activated", "log.sealed", "event.skipped",
}
"""Types that may be appended at any time without moving a namespace's last recorded time, which bounds imports:
what Taishi derives, logs or sets up itself. Setting a namespace's zone must not forbid importing its history."""
SYSTEM_TYPES: Final = frozenset({"generation.started", "generation.activated", "log.sealed"})
"""Types that speak of the deployment: no read model holds anything of them."""
ORIGINS: Final = (
    "user_direct", "user_quoted", "assistant", "tool", "external", "system", "cron", "heartbeat", "subagent", "import",
)
SESSION_KINDS: Final = ("chat", "task", "heartbeat", "cron", "subagent", "import")
ROLES: Final = ("user", "assistant", "tool", "system")
_MOST_DIGITS: Final = 18
"""Of a position's numbers, so that they fit in 64 bits."""


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in the log: partition and gapless sequence number, from 1. Its token is `p<i>:<seq>`."""

    partition: int
    seq: int

    def __str__(self) -> str:
        return f"p{self.partition}:{self.seq}"

    @classmethod
    def parse(cls, token: str) -> Position:
        """Raises ValueError on anything but a token."""
        head, _, tail = token.partition(":")
        if not (head[:1] == "p" and head[1:].isascii() and head[1:].isdigit() and tail.isascii() and tail.isdigit()):
            raise ValueError(f"{token[:40]!r} is not a position token such as p0:17")
        if max(len(head), len(tail)) > _MOST_DIGITS:
            raise ValueError(f"{token[:40]!r} lies beyond every log")
        return cls(int(head[1:]), int(tail))


@dataclass(frozen=True, slots=True)
class Actor:
    """Who spoke. `id` and `role` are in the header, a display name is personal and lives in the body."""

    id: str | None = None
    role: str = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event on its way into the log.

    `recorded_at` (instant) is given only for imported history; otherwise the log's clock sets it.
    `occurred_at` is an instant, `occurred_offset` the UTC offset it was said with, in minutes (None: not given).
    `evidence` are the ids of the events a derived event rests on: if one of them is erased, the append refuses it.
    `erases` are the ids of raw or claim events that this lifecycle event takes out of the log's memory.
    """

    event_id: str
    type: str
    namespace: str
    body: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)
    schema_version: int = 1
    session: str | None = None
    actor: Actor = Actor()
    origin: str = "user_direct"
    session_kind: str = "chat"
    recorded_at: int | None = None
    occurred_at: int | None = None
    occurred_offset: int | None = None
    generation: int | None = None
    correlation_id: str | None = None
    causation_id: str | None = None
    evidence: tuple[str, ...] = ()
    erases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event read back from the log, upcast to the newest schema version. `body` is None when it was erased.

    `appended_at` is the server's clock, never decreasing within a partition; `recorded_at` equals it except for
    imported history. `digest` is SHA-256 over header and ciphertext. All times are instants.
    """

    position: Position
    event_id: str
    type: str
    schema_version: int
    namespace: str
    session: str | None
    actor: Actor
    origin: str
    session_kind: str
    appended_at: int
    recorded_at: int
    occurred_at: int | None
    occurred_offset: int | None
    generation: int | None
    correlation_id: str | None
    causation_id: str | None
    evidence: tuple[str, ...]
    facts: Mapping[str, Any]
    body: Mapping[str, Any] | None
    key_id: int
    digest: bytes

    @property
    def erased(self) -> bool:
        return self.body is None

    @property
    def said_at(self) -> int:
        """When the words were spoken, as far as is known."""
        return self.recorded_at if self.occurred_at is None else self.occurred_at
