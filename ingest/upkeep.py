"""Upkeep: work that nobody waits for (maintenance, rebuilding, backups), done in processes of its own.

A job is a name and arguments of ids and numbers, never words. What a name does is told by a registry that the
composition root gives to the workers. The queue remembers nothing that matters: a job finds out from the log and the
read models what is left to do, so that it may be run twice, killed half-way, or lost, and the next one goes on.

A job that has more to do than fits in some minutes puts its successor on the queue, under another id, before it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

UpkeepJob = Callable[[Mapping[str, Any]], None]
"""Takes the arguments it was put on the queue with. Bounded: longer than `rq_link.JOB_SECONDS` counts as lost."""
UpkeepJobs = Mapping[str, UpkeepJob]


class UpkeepQueue(Protocol):
    def enqueue(self, name: str, args: Mapping[str, Any], *, job_id: str) -> bool:
        """Puts the job on the queue, unless one of that id waits or runs: then False. One whose worker died, or that
        failed, does not stand in its way. `job_id` holds letters, digits, `-` and `_`.

        Raises Unavailable when the queue's server cannot be reached.
        """
        ...


class Periods(Protocol):
    """Which period of a recurring job was put on the queue last, shared by all who might."""

    def last(self, name: str) -> int | None: ...

    def set_last(self, name: str, period: int) -> None: ...
