"""The events of windows, read back from the log by position."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .envelope import Event, Position
from .jobs import Task
from .log import EventLog
from .windows import window_id

_GAP: Final = 16
"""Positions no further apart are read in one go, with what lies between."""
_READ: Final = 500

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedWindow:
    """`sources` are the window's events, in order; `context` those before it that could be read, `recalled` those that
    recall had lately shown."""

    task: Task
    sources: Sequence[Event]
    context: Sequence[Event]
    recalled: Sequence[Event] = ()


class WindowReader:
    def __init__(self, log: EventLog) -> None:
        self._log = log

    def load(self, tasks: Sequence[Task]) -> list[LoadedWindow]:
        """Windows that the log does not hold (it was rolled back since) are left out. Raises what `read` raises."""
        events = self._events(tasks)
        loaded = []
        for task in tasks:
            sources = _sources(task, events)
            if sources is not None:
                before, shown = (
                    [events[p] for seq in seqs if (p := Position(task.partition, seq)) in events]
                    for seqs in (task.context, task.recalled)
                )
                loaded.append(LoadedWindow(task=task, sources=sources, context=before, recalled=shown))
        return loaded

    def _events(self, tasks: Sequence[Task]) -> dict[Position, Event]:
        wanted = {Position(task.partition, seq) for task in tasks for seq in _named(task)}
        return {
            event.position: event
            for partition, first, last in _runs(sorted(wanted))
            for event in self._read(partition, first, last)
            if event.position in wanted
        }

    def _read(self, partition: int, first: int, last: int) -> Iterator[Event]:
        while first <= last:
            events = self._log.read(partition, after=first - 1, limit=min(last - first + 1, _READ))
            if not events:
                return
            yield from events
            first = events[-1].position.seq + 1


def _named(task: Task) -> tuple[int, ...]:
    return (*task.seqs, *task.context, *task.recalled)


def _runs(positions: Sequence[Position]) -> Iterator[tuple[int, int, int]]:
    """Sorted positions as (partition, first seq, last seq), near neighbours read together."""
    start = last = None
    for position in positions:
        if last is None or start is None:
            start = position
        elif position.partition != last.partition or position.seq - last.seq > _GAP:
            yield start.partition, start.seq, last.seq
            start = position
        last = position
    if start is not None and last is not None:
        yield start.partition, start.seq, last.seq


def _sources(task: Task, events: Mapping[Position, Event]) -> list[Event] | None:
    """The window's events; None where the log no longer holds this window, because it was rolled back since."""
    places = [Position(task.partition, seq) for seq in task.seqs]
    found = [events[p] for p in places if p in events]
    if len(found) == len(places) and window_id(found[0].namespace, [e.event_id for e in found]) == task.window_id:
        return found
    logger.warning("window %s is not of this log: passed over", task.window_id)
    return None
