"""The keeper's own memory, in one SQLite file: how far it has read, which windows are open, which jobs are out.

All of it can be folded from the log again; only the log is the truth. Each batch of events is folded in one
transaction with its checkpoint, by compare-and-set, so that a second keeper fails harmlessly. A window leaves the file
when the log says that it is done; a failed one stays until it is tried again and succeeds.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from sqlalchemy import Connection, and_, create_engine, delete, event, func, or_, select, update
from sqlalchemy.dialects.sqlite import insert

from . import outbox_schema as t
from .instants import SECOND
from .jobs import Job, Task, job_id
from .outbox_fold import Checkpoint, Fold

WindowState = Literal["pending", "queued", "failed"]
MAX_DEATHS: Final = 5
"""A window that was in the hands of this many workers when they died is given up, visibly."""
_TASKS_BY_DEATHS: Final = (500, 25, 1, 1, 1)
"""How many windows share a job, by how many workers have died over them: the deadly one is soon alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptWindow:
    """A window that is not done. `attempts` were made, `failures` of them failed since it was last retried by hand.

    `retry_at` is the instant at which a failed one is tried again by itself, None where it is not.
    """

    window_id: str
    partition: int
    namespace: str
    seqs: tuple[int, ...]
    attempts: int
    error: str | None
    failures: int = 0
    retry_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutJob:
    """A job that was handed out. `enqueued_at` is an instant, None until the queue is known to have it."""

    job_id: str
    enqueued_at: int | None


class Outbox:
    """Opens the file, and creates it where there is none. Several processes may have it open. `generation` is the
    extraction generation that its windows are read for."""

    def __init__(self, path: Path, *, generation: int = 1) -> None:
        self._generation = generation
        path.parent.mkdir(parents=True, exist_ok=True)
        self._engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": 10})
        event.listen(self._engine, "connect", t.prepare)
        event.listen(self._engine, "begin", t.begin)
        with self._engine.begin() as connection:
            t.create(connection)

    def dispose(self) -> None:
        self._engine.dispose()

    @contextmanager
    def fold(self, partition: int) -> Iterator[Fold]:
        """One transaction: committed at the end of the block, undone if it raises."""
        with self._engine.begin() as connection:
            yield Fold(connection, partition)

    def checkpoint(self, partition: int) -> Checkpoint:
        c = t.checkpoints.c
        with self._engine.begin() as connection:
            row = connection.execute(select(c.seq, c.digest).where(c.partition == partition)).one_or_none()
        return Checkpoint() if row is None else Checkpoint(seq=row.seq, digest=row.digest)

    def dispatch(
        self, *, partitions: Collection[int], now: int, most_jobs: int, least: int = 1, most_windows: int = 500
    ) -> int:
        """Puts pending windows of these partitions into new jobs, longest due first, while fewer than `most_jobs` are
        out.

        While any job is out, fewer than `least` windows wait for more. Windows over which workers died come first, one
        job of each sort, so that no stream of new ones starves them. How many jobs.
        """
        made = 0
        with self._engine.begin() as connection:
            out = connection.execute(select(func.count()).select_from(t.jobs)).scalar_one()
            for deaths in reversed(range(MAX_DEATHS)):
                while out + made < most_jobs:
                    most = min(most_windows, _TASKS_BY_DEATHS[deaths])
                    enough = 1 if deaths or not out + made else min(least, most)
                    if not self._dispatch_one(connection, partitions, now, deaths, enough, most):
                        break
                    made += 1
                    if deaths:
                        break
        return made

    def _dispatch_one(
        self, connection: Connection, partitions: Collection[int], now: int, deaths: int, least: int, most: int
    ) -> bool:
        c = t.windows.c
        ready = (c.state == "pending", c.deaths == deaths, c.not_before <= now, c.partition.in_(list(partitions)))
        chosen = select(c.ordinal, c.window_id, c.attempts).where(*ready).order_by(c.due, c.ordinal)
        rows = connection.execute(chosen.limit(most)).all()
        if len(rows) < least:
            return False
        name = job_id([(r.window_id, r.attempts) for r in rows], generation=self._generation)
        connection.execute(insert(t.jobs).values(job_id=name))
        ours = c.ordinal.in_([r.ordinal for r in rows])
        connection.execute(update(t.windows).where(ours).values(state="queued", job_id=name))
        return True

    def out(self) -> list[OutJob]:
        """Jobs that are out, in no order."""
        with self._engine.begin() as connection:
            rows = connection.execute(select(t.jobs.c.job_id, t.jobs.c.enqueued_at)).all()
        return [OutJob(job_id=r.job_id, enqueued_at=r.enqueued_at) for r in rows]

    def job(self, name: str, *, zone: str) -> Job:
        """A job with its open windows; `zone` is what windows without one of their own are read in."""
        c = t.windows.c
        with self._engine.begin() as connection:
            rows = connection.execute(select(t.windows).where(c.job_id == name).order_by(c.ordinal)).all()
        return Job(job_id=name, tasks=[_task(r, zone) for r in rows], generation=self._generation)

    def oldest(self, partition: int) -> int | None:
        """The first event of the partition's oldest window that waits to be read; None where none does."""
        c = t.windows.c
        waiting = select(c.seqs).where(c.partition == partition, c.state != "failed").order_by(c.ordinal).limit(1)
        with self._engine.begin() as connection:
            seqs = connection.execute(waiting).scalar()
        return None if seqs is None else int(json.loads(seqs)[0])

    def held_by(self, name: str) -> list[KeptWindow]:
        """The open windows of a job."""
        return self._listed(t.windows.c.job_id == name)

    def enqueued(self, name: str, *, now: int) -> None:
        with self._engine.begin() as connection:
            connection.execute(update(t.jobs).where(t.jobs.c.job_id == name).values(enqueued_at=now))

    def release(self, name: str, *, now: int, died: bool) -> None:
        """Makes a lost job's open windows pending again: the first time at once, then later and later."""
        c = t.windows.c
        with self._engine.begin() as connection:
            for ordinal, attempts in connection.execute(select(c.ordinal, c.attempts).where(c.job_id == name)).all():
                delay = 0 if attempts == 0 else min(2 ** (attempts - 1), 60) * SECOND
                again: dict[str, Any] = {
                    "state": "pending", "job_id": None, "attempts": attempts + 1, "not_before": now + delay,
                    "due": now + delay,
                    "deaths": c.deaths + int(died),
                }
                connection.execute(update(t.windows).where(c.ordinal == ordinal).values(again))
            connection.execute(delete(t.jobs).where(t.jobs.c.job_id == name))

    def doomed(self) -> list[KeptWindow]:
        """Pending windows over which too many workers died."""
        return self._listed(t.windows.c.state == "pending", t.windows.c.deaths >= MAX_DEATHS)

    def retrying(self, *, namespace: str | None = None) -> list[KeptWindow]:
        """Windows that failed and will be tried again by themselves."""
        return self._listed(t.windows.c.state == "pending", t.windows.c.error.is_not(None), *_within(namespace))

    def failed(self, *, namespace: str | None = None) -> list[KeptWindow]:
        """Windows that failed and wait for an operator."""
        return self._listed(t.windows.c.state == "failed", *_within(namespace))

    def _listed(self, *where: Any) -> list[KeptWindow]:
        with self._engine.begin() as connection:
            rows = connection.execute(select(t.windows).where(*where).order_by(t.windows.c.ordinal)).all()
        return [
            KeptWindow(
                window_id=r.window_id, partition=r.partition, namespace=r.namespace, seqs=tuple(json.loads(r.seqs)),
                attempts=r.attempts, error=r.error, failures=r.failures,
                retry_at=r.not_before if r.state == "pending" and r.error is not None else None,
            )
            for r in rows
        ]

    def retry(self, *, namespace: str | None = None, window_ids: Collection[str] | None = None) -> int:
        """Makes failed windows pending again, at once, all of them or those named. How many.

        Those that would be tried again by themselves, but later, are among them.
        """
        c = t.windows.c
        retrying = and_(c.state == "pending", c.error.is_not(None))
        again_at_once = {"state": "pending", "failures": 0, "deaths": 0, "not_before": 0, "due": 0, "error": None}
        chosen = [or_(c.state == "failed", retrying), *_within(namespace)]
        if window_ids is not None:
            chosen.append(c.window_id.in_(list(window_ids)))
        again = update(t.windows).where(*chosen).values(again_at_once)
        with self._engine.begin() as connection:
            return connection.execute(again).rowcount

    def counts(self, *, namespace: str | None = None) -> dict[WindowState, int]:
        """Windows that are not done, by state."""
        c = t.windows.c
        counted = select(c.state, func.count()).where(*_within(namespace)).group_by(c.state)
        with self._engine.begin() as connection:
            found = {row[0]: row[1] for row in connection.execute(counted)}
        return {state: found.get(state, 0) for state in ("pending", "queued", "failed")}


def _within(namespace: str | None) -> tuple[Any, ...]:
    return () if namespace is None else (t.windows.c.namespace == namespace,)


def _task(row: Any, zone: str) -> Task:
    return Task(
        window_id=row.window_id, partition=row.partition, seqs=tuple(json.loads(row.seqs)),
        context=tuple(json.loads(row.context)), zone=row.zone or zone, attempt=row.attempts,
        recalled=tuple(json.loads(row.recalled)),
    )
