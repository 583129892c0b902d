"""What is due to fade, answered from the read models, and the upkeep job that says so."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from taishi.commands.lifecycle import Due, Maintained, maintain
from taishi.ingest.errors import NotCaughtUp
from taishi.ingest.log import EventLog
from taishi.ingest.partitions import partition_of
from taishi.ingest.upkeep import UpkeepQueue
from taishi.projections.due import Due as FoundDue
from taishi.projections.due import DueModel, open_due

from .event_log import opened_log
from .generations import is_founded, live_folder
from .settings import Settings

JOB: Final = "maintain"
SETTLE_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.02
JOB_SECONDS: Final = 240.0
"""After so long a run leaves the rest to its successor."""


class ReadModelAging:
    """Implements `commands.lifecycle.Aging`. Without a log nothing is said, and nothing need be waited for."""

    def __init__(self, models: Mapping[int, DueModel], *, partitions: int, log: EventLog | None) -> None:
        self._models = models
        self._partitions = partitions
        self._log = log

    def settled(self, namespace: str) -> None:
        if self._log is None:
            return
        head = self._log.namespace_head(namespace).position
        model = self._models[head.partition]
        end = time.monotonic() + SETTLE_SECONDS
        while model.checkpoint() < head.seq:
            if time.monotonic() > end:
                raise NotCaughtUp(f"the read models are behind {head}", position=str(head))
            time.sleep(_POLL_SECONDS)

    def namespaces(self) -> Sequence[str]:
        return [kept.name for model in self._models.values() for kept in model.namespaces() if kept.fading]

    def due(self, namespace: str, *, now: int) -> Iterator[Sequence[Due]]:
        model = self._models.get(partition_of(namespace, self._partitions))
        kept = None if model is None else model.namespace(namespace)
        if model is None or kept is None or not kept.fading:
            return
        for ask in (partial(model.renewed, kept.ns), partial(model.due, kept.ns, now=now)):
            after: int | None = 0
            while after is not None:
                found, after = ask(after=after)
                yield [_due(namespace, one) for one in found]

    def excess(self, namespace: str, *, now: int) -> Sequence[Due]:
        model = self._models.get(partition_of(namespace, self._partitions))
        kept = None if model is None else model.namespace(namespace)
        if model is None or kept is None or not kept.fading:
            return []
        return [_due(namespace, one) for one in model.excess(kept.ns, capacity=kept.capacity, now=now)]


def _due(namespace: str, found: FoundDue) -> Due:
    return Due(namespace=namespace, **found._asdict())


@contextmanager
def aging(settings: Settings, log: EventLog | None = None) -> Iterator[ReadModelAging]:
    """Over the live generation, as far as there is one."""
    opened: dict[int, DueModel] = {}
    try:
        if is_founded(settings.home):
            folder = live_folder(settings.home)
            found = {p: open_due(folder, p) for p in range(settings.partitions)}
            opened = {p: model for p, model in found.items() if model is not None}
        yield ReadModelAging(opened, partitions=settings.partitions, log=log)
    finally:
        for model in opened.values():
            model.close()


def run_maintenance(
    settings: Settings,
    *,
    namespaces: Sequence[str] | None = None,
    told: Callable[[Due], None] = lambda _: None,
    done: Callable[[int, int], None] = lambda _done, _of: None,
    in_time: Callable[[], bool] = lambda: True,
) -> Maintained:
    """`commands.lifecycle.maintain` over this deployment. Raises Unavailable."""
    with opened_log(settings) as (log, _), aging(settings, log) as due:
        return maintain(
            log, due, now=time.time_ns() // 1_000, namespaces=namespaces, told=told, done=done, in_time=in_time
        )


def maintenance_job(settings: Settings, queue: UpkeepQueue, args: Mapping[str, Any]) -> None:
    """One run within its time. What is left to do then is put on the queue, from where it stopped."""
    end = time.monotonic() + JOB_SECONDS
    result = run_maintenance(settings, namespaces=args.get("namespaces"), in_time=lambda: time.monotonic() < end)
    if result.left:
        queue.enqueue(JOB, {"namespaces": list(result.left)}, job_id=f"{JOB}-on-{time.time_ns()}")
