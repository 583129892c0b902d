"""The audit of the dedup funnel's grey zone: a model's verdicts on pairs of claims, each an event.

A verdict is given once for a pair: its event's id follows from the two claims. What cannot be had now, because the
model is down or a budget is spent, is left for the next run; an answer that cannot be used leaves its pairs unjudged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Final, Protocol

from taishi.ingest.envelope import Actor, NewEvent
from taishi.ingest.errors import AnswerRefused, EvidenceErased, Postponed
from taishi.ingest.ids import derived_id
from taishi.ingest.log import Batch, EventLog

log_: Final = logging.getLogger(__name__)


class AuditedPair(Protocol):
    @property
    def namespace(self) -> str: ...
    @property
    def claims(self) -> tuple[str, str]: ...
    @property
    def events(self) -> tuple[str, str]: ...


class Judge(Protocol):
    def __call__(self, namespace: str, pairs: Sequence[Any]) -> tuple[Sequence[bool], Mapping[str, Any]]:
        """Of each pair whether it is one thing, and what the call took. Raises Postponed, AnswerRefused."""
        ...


@dataclass(slots=True)
class Audited:
    """`refused` pairs got an answer that cannot be used. `waits`: why the rest waits, None where there is no rest."""

    same: int = 0
    apart: int = 0
    refused: int = 0
    waits: str | None = None


def audit_grey_zone(
    log: EventLog,
    pairs: Iterable[AuditedPair],
    judge: Judge,
    *,
    at_once: int,
    done: Callable[[int], None] = lambda _: None,
) -> Audited:
    """Asks about `pairs`, so many of one namespace at once. `done` hears how many more are behind it."""
    result = Audited()
    for namespace, found in groupby(pairs, key=lambda pair: pair.namespace):
        for some in _parts(found, at_once):
            try:
                verdicts, usage = judge(namespace, some)
            except Postponed as e:
                result.waits = e.message
                return result
            except AnswerRefused as e:
                log_.error("an answer on %d pairs cannot be used: %s", len(some), e.code)
                result.refused += len(some)
            else:
                for pair, same in zip(some, verdicts, strict=True):
                    if _say(log, pair, same, usage):
                        result.same += same
                        result.apart += not same
            done(len(some))
    return result


def _parts(pairs: Iterator[AuditedPair], size: int) -> Iterator[list[AuditedPair]]:
    while some := list(islice(pairs, size)):
        yield some


def _say(log: EventLog, pair: AuditedPair, same: bool, usage: Mapping[str, Any]) -> bool:
    """False where one of the claims was forgotten in the meantime."""
    one, other = pair.claims
    event = NewEvent(
        event_id=derived_id("dedup.judged", pair.namespace, one, other),
        type="dedup.judged",
        namespace=pair.namespace,
        actor=Actor(role="system"),
        origin="system",
        body={},
        facts={"claims": [one, other], "verdict": "merge" if same else "keep", "usage": dict(usage)},
        evidence=pair.events,
    )
    try:
        log.append(Batch(events=[event], guard=event.event_id))
    except EvidenceErased:
        return False
    return True
