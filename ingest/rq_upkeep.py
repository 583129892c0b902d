"""The upkeep queue on RQ, its worker process, and what the recurring jobs' periods are kept in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .errors import ConfigurationError
from .rq_link import RqQueue, reachable, told_without_words, work
from .upkeep import UpkeepJobs

QUEUE: Final = "taishi-upkeep"
_PERIODS: Final = "taishi:upkeep:periods"


class RqUpkeepQueue:
    """Implements `upkeep.UpkeepQueue` and `upkeep.Periods`. `url` names a Redis database of its own."""

    def __init__(self, url: str, *, name: str = QUEUE) -> None:
        self._queue = RqQueue(url, name=name)

    def enqueue(self, name: str, args: Mapping[str, Any], *, job_id: str) -> bool:
        if self._put(name, args, job_id):
            return True
        if job_id not in self._queue.fates([job_id]):
            return False
        self._queue.discard(job_id)
        return self._put(name, args, job_id)

    def _put(self, name: str, args: Mapping[str, Any], job_id: str) -> bool:
        return self._queue.put(run_upkeep, (name, dict(args)), job_id=job_id, description=name)

    def last(self, name: str) -> int | None:
        with reachable():
            found: bytes | None = self._queue.connection.hget(_PERIODS, name)  # type: ignore[assignment]
        return None if found is None else int(found)

    def set_last(self, name: str, period: int) -> None:
        with reachable():
            self._queue.connection.hset(_PERIODS, name, str(period))


_jobs: UpkeepJobs = {}


def run_upkeep(name: str, args: Mapping[str, Any]) -> None:
    """The job. Runs in a process that `run_worker` has given its registry."""
    job = _jobs.get(name)
    if job is None:
        raise ConfigurationError(f"no upkeep job is called {name!r} in this worker")
    with told_without_words():
        job(args)


def run_worker(jobs: UpkeepJobs, queue_url: str, *, name: str = QUEUE, burst: bool = False) -> None:
    """As `rq_link.work`."""
    global _jobs
    _jobs = jobs
    work(queue_url, names=[name], burst=burst)
