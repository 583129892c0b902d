"""The job queue's port: what is put on it, and what may be asked of it.

A queue moves work and remembers nothing that matters: whether a window is done is told by the log alone. Tasks hold
ids and positions, never words, since a queue stores them in the clear. Adapter: `rq_jobs`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Fate = Literal["vanished", "ended", "died"]
"""Why a job is neither waiting nor running: unknown to the queue, ended (well or not), or its worker is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One window to extract. `seqs`, `context` and `recalled` are positions in `partition`; `zone` is the namespace's
    time zone.

    `attempt` counts from 0 and names the failure event, should this attempt fail.
    """

    window_id: str
    partition: int
    seqs: tuple[int, ...]
    context: tuple[int, ...]
    zone: str
    attempt: int
    recalled: tuple[int, ...] = ()

    def to_json(self) -> list[Any]:
        known = [self.window_id, self.partition, list(self.seqs), list(self.context), self.zone, self.attempt]
        return [*known, list(self.recalled)]

    @classmethod
    def from_json(cls, row: Sequence[Any]) -> Task:
        window_id, partition, seqs, context, zone, attempt, *more = row
        return cls(
            window_id=window_id, partition=partition, seqs=tuple(seqs), context=tuple(context), zone=zone,
            attempt=attempt, recalled=tuple(more[0]) if more else (),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """`generation` is the extraction generation that the windows are read for."""

    job_id: str
    tasks: Sequence[Task]
    generation: int = 1


def job_id(tasks: Sequence[tuple[str, int]], *, generation: int) -> str:
    """A deterministic name, without `:`, for (window id, attempt) pairs: the same work twice is one job."""
    text = "\x1f".join([str(generation), *(f"{window_id} {attempt}" for window_id, attempt in tasks)])
    return "x-" + hashlib.sha256(text.encode()).hexdigest()[:32]


class JobQueue(Protocol):
    """Every method raises Unavailable when the queue's server cannot be reached."""

    def enqueue(self, job: Job) -> None:
        """Puts the job on the queue unless it is there already."""
        ...

    def fates(self, job_ids: Collection[str]) -> Mapping[str, Fate]:
        """Those of the jobs that neither wait nor run. A job in the moment of being taken may show for an instant."""
        ...

    def discard(self, job_id: str) -> None:
        """Clears what is left of a job that nobody runs."""
        ...
