"""The queue of extraction jobs on RQ, and the worker process that empties it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from .errors import ConfigurationError
from .extraction import Extraction
from .jobs import Fate, Job, Task
from .rq_link import RqQueue, told_without_words, work

QUEUE: Final = "taishi-extraction"
REREADING: Final = "taishi-rereading"
"""For generations that are not live: worked on while the other queue is empty."""
Extractions = Callable[[int], Extraction]
"""How the windows of an extraction generation are read."""


class RqJobQueue:
    """`url` names a Redis database of its own. Each window of a job has a time limit of its own."""

    def __init__(self, url: str, *, name: str = QUEUE) -> None:
        self._queue = RqQueue(url, name=name)

    def enqueue(self, job: Job) -> None:
        rows = [task.to_json() for task in job.tasks]
        self._queue.put(extract_windows, (rows, job.generation), job_id=job.job_id, description=f"{len(rows)} windows")

    def fates(self, job_ids: Collection[str]) -> Mapping[str, Fate]:
        return self._queue.fates(job_ids)

    def discard(self, job_id: str) -> None:
        self._queue.discard(job_id)


_extractions: Extractions | None = None


def extract_windows(rows: Sequence[Sequence[Any]], generation: int = 1) -> None:
    """The job. Runs in a process that `run_worker` has given its extractions."""
    if _extractions is None:
        raise ConfigurationError("this job runs in workers started by run_worker, not in any other RQ worker")
    with told_without_words():
        _extractions(generation).run([Task.from_json(row) for row in rows])


def run_worker(extractions: Extractions, queue_url: str, *, burst: bool = False) -> None:
    """As `rq_link.work`. Start as many processes as there are cores to spare."""
    global _extractions
    _extractions = extractions
    work(queue_url, names=[QUEUE, REREADING], burst=burst)
