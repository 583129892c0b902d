"""The log's port: an immutable, totally ordered stream of events per partition.

Adapters: `valkey_log` (the product), and whatever passes `tests/contract/event_log.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from .envelope import Event, NewEvent, Position

ANY_VERSION: Final = "any_version"
NO_STREAM: Final = "no_stream"
STREAM_EXISTS: Final = "stream_exists"
ExpectedVersion = int | Literal["any_version", "no_stream", "stream_exists"]
"""What the writer expects the namespace's last position (its sequence number in the partition) to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Events of one namespace that enter the log together or not at all.

    `guard` is the id of the batch's `extraction.completed` (or other closing) event: when the log knows it already,
    the whole batch is dropped, so that the first writer wins.
    """

    events: Sequence[NewEvent]
    expected: ExpectedVersion = ANY_VERSION
    guard: str | None = None

    @property
    def namespace(self) -> str:
        return self.events[0].namespace


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    event_id: str
    position: Position
    duplicate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """`recorded` is in the order of the batch; empty when `dropped` (its guard was known)."""

    recorded: Sequence[Recorded]
    dropped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceHead:
    """Last sequence numbers of one namespace in its partition; 0 when it has none.

    `seq` counts every event, `raw_seq` only raw ones, `recorded_at` is the last recorded time that orders imports.
    """

    position: Position
    raw_seq: int
    recorded_at: int


class EventLog(Protocol):
    @property
    def partitions(self) -> int: ...

    def partition_of(self, namespace: str) -> int: ...

    def append(self, batch: Batch) -> Appended:
        """Raises EventIdConflict, Gone, WrongExpectedVersion, RecordedBehind, EvidenceErased, Unavailable."""
        ...

    def append_many(self, batches: Sequence[Batch]) -> list[Appended | Exception]:
        """Independent batches in one exchange with the server; each all-or-nothing, its error stands in its place."""
        ...

    def read(self, partition: int, *, after: int, limit: int = 500) -> list[Event]:
        """Events with seq > `after`, contiguous, oldest first. Raises LogDamaged on a hole, KeyMissing."""
        ...

    def wait(self, after: dict[int, int], *, seconds: float) -> bool:
        """Blocks until a partition holds an event behind its `after` position, at most `seconds`. True if one does."""
        ...

    def fetch(self, position: Position) -> Event:
        """One event. Raises NotFound."""
        ...

    def locate(self, namespace: str, event_ids: Sequence[str]) -> list[Position | None]:
        """Where events of this namespace stand; None where the log does not know the id."""
        ...

    def head(self, partition: int) -> int:
        """Sequence number of the partition's last event, 0 if none."""
        ...

    def namespace_head(self, namespace: str) -> NamespaceHead: ...
