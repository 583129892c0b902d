"""The queue of extraction jobs on RQ, and the worker process that empties it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from .errors import ConfigurationError
from .extraction import Extraction
from .jobs import Fate, Job, Task
from .rq_link import RqQueue, told_without_words, work

QUEUE: Final = "taishi-extraction"


class RqJobQueue:
    """`url` names a Redis database of its own. Each window of a job has a time limit of its own."""

    def __init__(self, url: str, *, name: str = QUEUE) -> None:
        self._queue = RqQueue(url, name=name)

    def enqueue(self, job: Job) -> None:
        rows = [task.to_json() for task in job.tasks]
        self._queue.put(extract_windows, (rows,), job_id=job.job_id, description=f"{len(rows)} windows")

    def fates(self, job_ids: Collection[str]) -> Mapping[str, Fate]:
        return self._queue.fates(job_ids)

    def discard(self, job_id: str) -> None:
        self._queue.discard(job_id)


_extraction: Extraction | None = None


def extract_windows(rows: Sequence[Sequence[Any]]) -> None:
    """The job. Runs in a process that `run_worker` has given its extraction."""
    if _extraction is None:
        raise ConfigurationError("this job runs in workers started by run_worker, not in any other RQ worker")
    with told_without_words():
        _extraction.run([Task.from_json(row) for row in rows])


def run_worker(extraction: Extraction, queue_url: str, *, name: str = QUEUE, burst: bool = False) -> None:
    """As `rq_link.work`. Start as many processes as there are cores to spare."""
    global _extraction
    _extraction = extraction
    work(queue_url, name=name, burst=burst)
