"""Maintenance: memories that are due to fade are said to, in events. Nothing fades without one.

What is due is asked of the read models through `Aging`. An event's id follows from the memory, the reason and the
instant since which it was idle, so that two runs at once, or one that was killed and begins again, say it once; folds
ignore it where the memory was confirmed in between.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from taishi.ingest.crashpoints import reach
from taishi.ingest.envelope import Actor, NewEvent
from taishi.ingest.errors import EventIdConflict, Gone, NotCaughtUp
from taishi.ingest.ids import derived_id
from taishi.ingest.log import Batch, EventLog

log_ = logging.getLogger(__name__)

BATCH: Final = 200
Kind = Literal["claim.expired", "claim.archived", "claim.revived"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A memory that is due. `claims` are the claims that say it, `events` the raw events that leave normal recall, or
    come back, with it; both as (id, position). `since`: an instant, from when on it was idle (or was said again)."""

    namespace: str
    kind: Kind
    reason: str
    claims: Sequence[tuple[str, int]]
    events: Sequence[tuple[str, int]]
    since: int
    activation: float
    predicate: str | None


class Aging(Protocol):
    """The read models' answer to what is due. All methods block and never write."""

    def namespaces(self) -> Sequence[str]:
        """Those whose memories fade."""
        ...

    def due(self, namespace: str, *, now: int) -> Iterator[Sequence[Due]]:
        """In pages: what was said again since it faded, then what has expired or faded at the instant `now`."""
        ...

    def excess(self, namespace: str, *, now: int) -> Sequence[Due]:
        """What is beyond the namespace's capacity, the least valuable first."""
        ...

    def settled(self, namespace: str) -> None:
        """As `ClaimDirectory.settled`."""
        ...


@dataclass(slots=True)
class Maintained:
    """How many memories expired, were archived (by reason) and revived; `said` counts events that are new in the log.
    `left` are namespaces that it did not get to the end of."""

    counts: dict[str, int] = field(default_factory=dict)
    said: int = 0
    namespaces: int = 0
    left: Sequence[str] = ()

    def count(self, due: Due) -> None:
        name = f"{due.kind.removeprefix('claim.')} ({due.reason})"
        self.counts[name] = self.counts.get(name, 0) + 1


def maintain(
    log: EventLog | None,
    aging: Aging,
    *,
    now: int,
    namespaces: Sequence[str] | None = None,
    told: Callable[[Due], None] = lambda _: None,
    done: Callable[[int, int], None] = lambda _done, _of: None,
    in_time: Callable[[], bool] = lambda: True,
) -> Maintained:
    """Says of all that is due at the instant `now` that it is. Without a `log` it only tells: `told` is given each.

    `done` hears how many of how many namespaces are behind it. It stops, and says what is left, when `in_time` says so.
    Raises Unavailable.
    """
    chosen = list(aging.namespaces() if namespaces is None else namespaces)
    result = Maintained()
    for number, namespace in enumerate(chosen):
        if not in_time():
            result.left = chosen[number:]
            break
        before = result.said
        for page in aging.due(namespace, now=now):
            _say(log, page, result, told)
            if not in_time():
                result.left = chosen[number:]
                return result
        if log is not None and result.said > before:
            try:
                aging.settled(namespace)
            except NotCaughtUp:
                continue  # how many there are is not known yet: the next run makes room
        _say(log, aging.excess(namespace, now=now), result, told)
        result.namespaces += 1
        done(number + 1, len(chosen))
    return result


def _say(log: EventLog | None, dues: Sequence[Due], result: Maintained, told: Callable[[Due], None]) -> None:
    for due in dues:
        result.count(due)
        told(due)
    if log is None or not dues:
        return
    reach("due_found")
    events = [lifecycle_event(due) for due in dues]
    for start in range(0, len(events), BATCH):
        result.said += _append(log, events[start : start + BATCH])
        reach("faded")


def _append(log: EventLog, events: Sequence[NewEvent]) -> int:
    """How many of them are new. What another run said in other words of the same, or what is gone, is left."""
    try:
        return sum(not one.duplicate for one in log.append(Batch(events=events)).recorded)
    except (EventIdConflict, Gone):
        if len(events) == 1:
            return 0
        return sum(_append(log, [event]) for event in events)


def lifecycle_event(due: Due) -> NewEvent:
    ids = [claim_id for claim_id, _ in due.claims]
    facts: Mapping[str, object] = {
        "claims": [list(claim) for claim in due.claims],
        "events": [list(event) for event in due.events],
        "reason": due.reason,
        "since": due.since,
    }
    return NewEvent(
        event_id=derived_id(due.kind, due.namespace, due.reason, str(due.since), *ids),
        type=due.kind,
        namespace=due.namespace,
        actor=Actor(role="system"),
        origin="system",
        session_kind="cron",
        body={},
        facts=facts,
    )
