"""What every RQ 3 queue of Taishi shares: jobs put once, told apart when they are lost, and the worker that runs them.

RQ's own bookkeeping is never the truth; it only tells which jobs are still on their way. A worker names every
connection it holds, so that a killed one is known at once: the server drops its connections with it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, SimpleWorker
from rq.exceptions import DuplicateJobError, NoSuchJobError
from rq.job import Job as RqJob
from rq.serializers import JSONSerializer

from .errors import ConfigurationError, TaishiError, Unavailable
from .jobs import Fate

JOB_SECONDS: Final = 600
"""After so long a running job counts as lost."""
_FAILURE_SECONDS: Final = 60
_SOCKET_SECONDS: Final = 10


class JobFailed(Exception):
    """What RQ may store and log of a failure: its kind, no words."""


class RqQueue:
    """One named queue. `url` names a Redis database of its own. Every method raises Unavailable."""

    def __init__(self, url: str, *, name: str) -> None:
        self.connection: Final = _connect(url, socket_timeout=_SOCKET_SECONDS)
        self._queue = Queue(name, connection=self.connection, serializer=JSONSerializer)

    def put(self, function: Callable[..., None], args: Sequence[Any], *, job_id: str, description: str) -> bool:
        """Whether it was put: False where a job of that id waits, runs, or failed a moment ago."""
        with reachable():
            try:
                self._queue.enqueue_call(
                    function,
                    args=tuple(args),
                    job_id=job_id,
                    description=description,
                    timeout=JOB_SECONDS,
                    result_ttl=0,
                    failure_ttl=_FAILURE_SECONDS,
                    unique=True,
                )
            except DuplicateJobError:
                return False
            return True

    def fates(self, job_ids: Collection[str]) -> Mapping[str, Fate]:
        """As `jobs.JobQueue.fates`."""
        names = list(job_ids)
        with reachable():
            pipeline = self.connection.pipeline(transaction=False)
            for name in names:
                pipeline.hmget(RqJob.key_for(name), "status", "worker_name", "started_at")
                pipeline.lpos(self._queue.key, name)
            pipeline.client_list()
            *answers, clients = pipeline.execute()
        alive = {client["name"] for client in clients}
        found = {n: _fate(answers[2 * i], answers[2 * i + 1], alive) for i, n in enumerate(names)}
        return {name: fate for name, fate in found.items() if fate is not None}

    def discard(self, job_id: str) -> None:
        """Clears what is left of a job that nobody runs."""
        with reachable():
            try:
                RqJob.fetch(job_id, connection=self.connection, serializer=JSONSerializer).delete()
            except NoSuchJobError:
                self._queue.remove(job_id)
            self._queue.intermediate_queue.remove(job_id)


def _fate(fields: Sequence[bytes | None], place: int | None, alive: Collection[str]) -> Fate | None:
    status, worker, started_at = (None if field is None else field.decode() for field in fields)
    if status is None:
        return "vanished"
    if place is not None:
        return None
    if status == "started":
        running = worker in alive and not _overdue(started_at)
        return None if running else "died"
    return "vanished" if status == "queued" else "ended"


def _overdue(started_at: str | None) -> bool:
    if not started_at:
        return False
    return (datetime.now(UTC) - datetime.fromisoformat(started_at)).total_seconds() > JOB_SECONDS


class _Worker(SimpleWorker):
    """Runs jobs in its own process, one after the other: a fork per job would cost fifty times the latency."""

    exponential_backoff_factor = 1.0
    log_result_lifespan = False


def work(queue_url: str, *, names: Sequence[str], burst: bool = False) -> None:
    """Works on these queues, the first before the others, until SIGTERM (the job in hand is finished) or, with `burst`,
    until they are empty.

    Once per process. Raises Unavailable where the queues' server is down at start. A worker whose job was flushed away
    under it ends early: whoever started it starts another.
    """
    worker_name = f"taishi-worker-{os.getpid()}-{secrets.token_hex(4)}"
    connection = _connect(queue_url, client_name=worker_name)
    with reachable():
        worker = _Worker(
            [Queue(name, connection=connection, serializer=JSONSerializer) for name in names],
            name=worker_name,
            connection=connection,
            serializer=JSONSerializer,
            log_job_description=False,
        )
        worker.work(burst=burst, logging_level="WARNING")


@contextmanager
def told_without_words() -> Iterator[None]:
    """Around a job: RQ stores and logs what escapes it, and words have no place there."""
    try:
        yield
    except TaishiError as e:
        raise JobFailed(f"{e.slug}: {e.message}") from None
    except Exception as e:
        raise JobFailed(type(e).__name__) from None


@contextmanager
def reachable() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError) as e:
        raise Unavailable(f"the job queue's server cannot be reached ({type(e).__name__})") from None


def _connect(url: str, **settings: Any) -> Redis:
    try:
        return Redis.from_url(url, protocol=2, **settings)
    except ValueError:
        raise ConfigurationError("the jobs URL must begin with redis://, rediss:// or unix://") from None
