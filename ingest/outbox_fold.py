"""What one batch of events changes in the keeper's memory: one transaction, with the checkpoint in it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, exists, select, update
from sqlalchemy.dialects.sqlite import insert

from . import outbox_schema as t
from .echoes import Recalls
from .retries import RetrySchedule
from .windows import Member, SessionState, Window


class CheckpointMoved(Exception):
    """Another keeper has folded these events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The last event folded of a partition, and its digest. `seq` 0 where none was."""

    seq: int = 0
    digest: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKey:
    """`session` None is a session too: what a namespace says without naming one."""

    namespace: str
    session: str | None

    def dump(self) -> str:
        return json.dumps([self.namespace, self.session])

    @classmethod
    def load(cls, text: str) -> SessionKey:
        namespace, session = json.loads(text)
        return cls(namespace=namespace, session=session)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An attempt that failed: so many had been made with it. `at`: when, an instant."""

    attempts: int
    error: str
    at: int


@dataclass(frozen=True, slots=True)
class Zone:
    """A namespace's time zone, and the position of the event that set it."""

    name: str
    set_by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWindow:
    """A window to be kept. `zone` None stands for the deployment's own. `due`: when it was closed, an instant."""

    window: Window
    namespace: str
    zone: str | None
    due: int = 0


class Fold:
    """Reads and changes within one transaction on one partition."""

    def __init__(self, connection: Connection, partition: int) -> None:
        self._connection = connection
        self._partition = partition

    def advance(self, before: Checkpoint, after: Checkpoint) -> None:
        """Moves the checkpoint. Raises CheckpointMoved unless it stands at `before`; then nothing may be committed."""
        c = t.checkpoints.c
        row = {"partition": self._partition, "seq": after.seq, "digest": after.digest}
        if before.seq == 0:
            done = self._connection.execute(insert(t.checkpoints).values(row).on_conflict_do_nothing()).rowcount
        else:
            moved = update(t.checkpoints).where(c.partition == self._partition, c.seq == before.seq).values(row)
            done = self._connection.execute(moved).rowcount
        if done != 1:
            raise CheckpointMoved

    def sessions(self, keys: Collection[SessionKey]) -> dict[SessionKey, SessionState]:
        return self._sessions(t.sessions.c.key.in_([key.dump() for key in keys]))

    def open_before(self, first_at: int) -> dict[SessionKey, SessionState]:
        """Sessions whose open window began before `first_at`."""
        return self._sessions(t.sessions.c.open_at < first_at)

    def _sessions(self, which: object) -> dict[SessionKey, SessionState]:
        c = t.sessions.c
        wanted = select(c.key, c.state).where(c.partition == self._partition, which)  # type: ignore[arg-type]
        return {SessionKey.load(key): _load_state(state) for key, state in self._connection.execute(wanted)}

    def put_sessions(self, states: Mapping[SessionKey, SessionState]) -> None:
        rows = [
            {
                "partition": self._partition, "key": key.dump(), "last_at": s.last_at,
                "open_at": s.open[0].appended_at if s.open else None, "state": _dump_state(s),
            }
            for key, s in states.items()
        ]
        if rows:
            upsert = insert(t.sessions)
            changed = {name: upsert.excluded[name] for name in ("last_at", "open_at", "state")}
            self._connection.execute(
                upsert.on_conflict_do_update(index_elements=["partition", "key"], set_=changed), rows
            )

    def drop_sessions(self, last_before: int) -> None:
        """Forgets sessions silent since before `last_before`, too long ago to give context."""
        c = t.sessions.c
        self._connection.execute(
            delete(t.sessions).where(c.partition == self._partition, c.last_at < last_before, c.open_at.is_(None))
        )

    def zones(self, namespaces: Collection[str]) -> dict[str, Zone]:
        c = t.zones.c
        ours = (c.partition == self._partition, c.namespace.in_(list(namespaces)))
        rows = self._connection.execute(select(c.namespace, c.zone, c.set_by).where(*ours))
        return {row.namespace: Zone(row.zone, row.set_by) for row in rows}

    def put_zones(self, zones: Mapping[str, Zone | None]) -> None:
        """None: the namespace has none of its own any more."""
        c = t.zones.c
        none = [namespace for namespace, zone in zones.items() if zone is None]
        if none:
            self._connection.execute(delete(t.zones).where(c.partition == self._partition, c.namespace.in_(none)))
        rows = [
            {"partition": self._partition, "namespace": namespace, "zone": zone.name, "set_by": zone.set_by}
            for namespace, zone in zones.items()
            if zone is not None
        ]
        if rows:
            upsert = insert(t.zones)
            changed = {name: upsert.excluded[name] for name in ("zone", "set_by")}
            self._connection.execute(
                upsert.on_conflict_do_update(index_elements=["partition", "namespace"], set_=changed), rows
            )

    def recalls(self, namespaces: Collection[str]) -> dict[str, Recalls]:
        c = t.recalls.c
        wanted = select(c.namespace, c.shown).where(c.partition == self._partition, c.namespace.in_(list(namespaces)))
        return {r.namespace: tuple((at, tuple(seqs)) for at, seqs in json.loads(r.shown))
                for r in self._connection.execute(wanted)}  # fmt: skip

    def put_recalls(self, recalls: Mapping[str, Recalls]) -> None:
        rows = [{"partition": self._partition, "namespace": n, "shown": json.dumps(r)} for n, r in recalls.items()]
        if rows:
            upsert = insert(t.recalls)
            changed = {"shown": upsert.excluded["shown"]}
            self._connection.execute(
                upsert.on_conflict_do_update(index_elements=["partition", "namespace"], set_=changed), rows
            )

    def add(self, windows: Sequence[OpenWindow]) -> None:
        rows = [
            {
                "window_id": w.window.window_id, "partition": self._partition, "namespace": w.namespace,
                "seqs": json.dumps(w.window.seqs), "context": json.dumps(w.window.context),
                "recalled": json.dumps(w.window.recalled), "zone": w.zone,
                "state": "pending", "attempts": 0, "failures": 0, "deaths": 0, "not_before": 0,
                "due": w.due,
            }
            for w in windows
        ]
        if rows:
            self._connection.execute(insert(t.windows), rows)

    def close(self, window_ids: Collection[str]) -> None:
        """These windows are done."""
        if window_ids:
            self._connection.execute(delete(t.windows).where(t.windows.c.window_id.in_(list(window_ids))))

    def fail(self, window_id: str, failure: Failure, schedule: RetrySchedule) -> None:
        """The window waits for its next try by `schedule`, or has failed for good. A known failure changes nothing."""
        c = t.windows.c
        ours = (c.window_id == window_id, c.attempts < failure.attempts)
        failures = self._connection.execute(select(c.failures).where(*ours)).scalar()
        if failures is None:
            return
        again = schedule.retry_at(
            window_id=window_id, error=failure.error, failures=failures + 1, failed_at=failure.at
        )
        failed = {
            "state": "failed" if again is None else "pending", "job_id": None, "attempts": failure.attempts,
            "failures": failures + 1, "not_before": again or 0, "due": again or 0, "error": failure.error,
        }
        self._connection.execute(update(t.windows).where(*ours).values(failed))

    def holding(self, namespace: str, seqs: Collection[int]) -> list[str]:
        """Windows of this namespace that hold none but these events."""
        c = t.windows.c
        wanted = select(c.window_id, c.seqs).where(c.partition == self._partition, c.namespace == namespace)
        return [row.window_id for row in self._connection.execute(wanted) if set(json.loads(row.seqs)) <= set(seqs)]

    def end_jobs(self) -> None:
        """A job that holds no open window is over."""
        held = exists().where(t.windows.c.job_id == t.jobs.c.job_id)
        self._connection.execute(delete(t.jobs).where(~held))

    def clear(self) -> None:
        """Drops everything known of the partition."""
        for table in (t.windows, t.sessions, t.zones, t.recalls, t.checkpoints):
            self._connection.execute(delete(table).where(table.c.partition == self._partition))
        self.end_jobs()


def _load_state(text: str) -> SessionState:
    growing, past = (
        tuple(Member(seq=m[0], event_id=m[1], appended_at=m[2], recalled=tuple(m[3])) for m in part)
        for part in json.loads(text)
    )
    return SessionState(open=growing, past=past)


def _dump_state(state: SessionState) -> str:
    parts = (state.open, state.past)
    return json.dumps([[[m.seq, m.event_id, m.appended_at, m.recalled] for m in part] for part in parts])
