"""The keeper: reads the log, keeps the windows, and sees to it that each of them gets extracted.

Its truth is the log alone. A window stays open until the log holds its closing event, whatever the job queue says: a
job that is neither waiting nor running gives its open windows back, and they are handed out again. At most `most_jobs`
jobs are out at a time, so that under load windows gather into bigger jobs, and with no worker alive nothing piles up.

It also destroys again the keys of what was forgotten, and enters it in the ledger, so that a crash between a tombstone
and either of them heals; where the ledger is lost, the log is read anew for it. What the read models erased before the
log said so (`owed`) it gives the tombstone that is still missing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from .crashpoints import reach
from .derived import completed_id, failed_event
from .envelope import FORGETTING_TYPES, Event, Position
from .errors import LogDamaged, Unavailable, UnknownEventVersion
from .instants import SECOND
from .jobs import JobQueue
from .keys import KeyStore
from .ledger import Ledger, LedgerEntry
from .log import Batch, EventLog
from .outbox import Outbox
from .outbox_fold import Checkpoint, CheckpointMoved
from .owed import OwedOf, tombstone_of
from .retries import NO_RETRIES, RetrySchedule
from .window_fold import WindowFold
from .windows import AT_ONCE, Policy

_READ: Final = 500
_SWEEP_SECONDS: Final = 0.25
_IDLE_SECONDS: Final = 1.0
_BACKOFF_SECONDS: Final = 0.5
_HELD_SECONDS: Final = 5.0
"""How long a partition that stands still waits before it is looked at again."""
_PACE_SECONDS: Final = 0.01
"""The shortest time from one step to the next: what comes while much is coming is taken together."""
_GATHER_SECONDS: Final = 0.05
_GATHER_WINDOWS: Final = 50
"""While jobs are out, a job of fewer windows goes out no sooner than this after the last one."""
_CLOCK_SLACK: Final = 2 * SECOND
"""How far the server's clock may lag behind ours before a gathered window is closed too early."""
_WORKER_DIED: Final = "worker_died"

logger = logging.getLogger(__name__)


def _now() -> int:
    return time.time_ns() // 1_000


class Keeper:
    """`zone` is the time zone of namespaces that have set none, `most_windows` how many windows one job carries."""

    def __init__(
        self,
        log: EventLog,
        keys: KeyStore,
        outbox: Outbox,
        queue: JobQueue,
        policy: Policy = AT_ONCE,
        *,
        ledger: Ledger,
        zone: str = "UTC",
        generation: int = 1,
        carries: bool = False,
        most_jobs: int = 4,
        most_windows: int = 500,
        retries: RetrySchedule = NO_RETRIES,
        owed: OwedOf | None = None,
        clock: Callable[[], int] = _now,
    ) -> None:
        self._log = log
        self._keys = keys
        self._ledger = ledger
        self._outbox = outbox
        self._queue = queue
        self._policy = policy
        self._zone = zone
        self._generation = generation
        self._carries = carries
        self._most_jobs = most_jobs
        self._most_windows = most_windows
        self._retries = retries
        self._owed = owed
        self._clock = clock
        self._checkpoints: dict[int, Checkpoint] = {}
        self._start_heads: dict[int, int] = {}
        self._suspects: dict[str, dict[int, int]] = {}
        self._held: dict[int, float] = {}
        self._next_sweep = 0.0
        self._dispatched = 0.0

    def run(self, stop: threading.Event) -> None:
        """Until `stop` is set. A server that is down is waited for; a partition whose log is damaged, or newer than
        this code, stands still, and the others go on."""
        while not stop.is_set():
            began = time.monotonic()
            try:
                if self.step():
                    stop.wait(max(0.0, began + _PACE_SECONDS - time.monotonic()))
                else:
                    waiting = _SWEEP_SECONDS if self._outbox.out() else _IDLE_SECONDS
                    watched = {p: c.seq for p, c in self._checkpoints.items() if p not in self._held}
                    if watched:
                        self._log.wait(watched, seconds=waiting)
                    else:
                        stop.wait(waiting)
            except Unavailable as e:
                logger.warning("keeper waits: %s", e.message)
                self._checkpoints.clear()
                stop.wait(_BACKOFF_SECONDS)

    def step(self) -> int:
        """Folds what is new (up to a batch per partition), hands out windows, takes lost ones back. How many events."""
        if not self._checkpoints:
            self._begin()
        seen = sum(self._read_on(partition) for partition in range(self._log.partitions))
        self._hand_out()
        if time.monotonic() >= self._next_sweep:
            self._sweep()
            self._pay()
            self._next_sweep = time.monotonic() + _SWEEP_SECONDS
        return seen

    def _begin(self) -> None:
        """Takes up where it left off; where the log was rolled back under it, folds the partition anew."""
        lost = not self._ledger.exists()
        for partition in range(self._log.partitions):
            checkpoint = self._outbox.checkpoint(partition)
            head = self._log.head(partition)
            if checkpoint.seq and (lost or not self._is_on_log(partition, checkpoint, head)):
                said = "the ledger is not there" if lost else "it is not the log that was read before"
                logger.warning("partition %d is folded anew: %s", partition, said)
                with self._outbox.fold(partition) as fold:
                    fold.clear()
                checkpoint = Checkpoint()
            self._checkpoints[partition] = checkpoint
            self._start_heads[partition] = head
        self._ledger.append()
        self._suspects.clear()

    def _read_on(self, partition: int) -> int:
        if time.monotonic() < self._held.get(partition, 0.0):
            return 0
        try:
            seen = self._read(partition)
        except (LogDamaged, UnknownEventVersion) as e:
            logger.error("p%d stands still: %s", partition, e.message)
            self._held[partition] = time.monotonic() + _HELD_SECONDS
            return 0
        self._held.pop(partition, None)
        return seen

    def _is_on_log(self, partition: int, checkpoint: Checkpoint, head: int) -> bool:
        if head < checkpoint.seq:
            return False
        try:
            return self._log.fetch(Position(partition, checkpoint.seq)).digest == checkpoint.digest
        except (LogDamaged, UnknownEventVersion) as e:
            logger.error("p%d: what was read last cannot be read again: %s", partition, e.message)
            return True

    def _read(self, partition: int) -> int:
        now = self._clock() - _CLOCK_SLACK
        before = self._checkpoints[partition]
        head = self._log.head(partition) if self._policy.span else 0
        events = self._log.read(partition, after=before.seq, limit=_READ)
        reached = events[-1].position.seq if events else before.seq
        tombstones = [event for event in events if event.type in FORGETTING_TYPES]
        for tombstone in tombstones:
            self._keys.destroy(tombstone.facts["keys"], at=tombstone.recorded_at)
        if tombstones:
            self._ledger.append(*map(LedgerEntry.of, tombstones))
        try:
            self._fold(partition, before, events, expire_at=now if reached >= head else None)
        except CheckpointMoved:
            logger.warning("partition %d was folded by another keeper", partition)
            self._checkpoints[partition] = self._outbox.checkpoint(partition)
        return len(events)

    def _fold(self, partition: int, before: Checkpoint, events: list[Event], *, expire_at: int | None) -> None:
        gathers = bool(self._policy.span) and expire_at is not None
        if not events and not gathers:
            return
        with self._outbox.fold(partition) as fold:
            after = before
            if events:
                after = Checkpoint(seq=events[-1].position.seq, digest=events[-1].digest)
                fold.advance(before, after)
            changes = WindowFold(
                fold,
                events,
                policy=self._policy,
                generation=self._generation,
                carries=self._carries,
                retries=self._retries,
            )
            if gathers and expire_at is not None:
                changes.expire(expire_at)
            changes.write(now=events[-1].appended_at if events else 0)
        self._checkpoints[partition] = after

    def _hand_out(self) -> None:
        """Windows of a partition whose past is still being read wait: their closing events may be in it."""
        ready = [p for p, c in self._checkpoints.items() if c.seq >= self._start_heads[p]]
        gathered = time.monotonic() >= self._dispatched + _GATHER_SECONDS
        made = self._outbox.dispatch(
            partitions=ready,
            now=self._clock(),
            most_jobs=self._most_jobs,
            least=1 if gathered else _GATHER_WINDOWS,
            most_windows=self._most_windows,
        )
        if made:
            self._dispatched = time.monotonic()
        for out in self._outbox.out():
            if out.enqueued_at is None:
                reach("outboxed")
                self._queue.enqueue(self._outbox.job(out.job_id, zone=self._zone))
                reach("enqueued")
                self._outbox.enqueued(out.job_id, now=self._clock())

    def _sweep(self) -> None:
        """Takes back the windows of lost jobs: those seen lost twice, once all that they appended has been read."""
        out = [job.job_id for job in self._outbox.out() if job.enqueued_at is not None]
        fates = self._queue.fates(out) if out else {}
        self._suspects = {name: heads for name, heads in self._suspects.items() if name in fates}
        for name, fate in fates.items():
            heads = self._suspects.get(name)
            if heads is None:
                self._suspects[name] = {p: self._log.head(p) for p in self._checkpoints}
            elif all(self._checkpoints[p].seq >= head for p, head in heads.items()):
                logger.warning("job %s %s before its windows were done: they are handed out again", name, fate)
                self._close_done(name)
                self._outbox.release(name, now=self._clock(), died=fate == "died")
                self._queue.discard(name)
                del self._suspects[name]
        self._give_up()

    def _pay(self) -> None:
        """Appends the tombstones that are owed; their keys are destroyed once they are read back."""
        if self._owed is None:
            return
        for partition in self._checkpoints:
            for owed in self._owed(partition):
                reach("owed")
                self._log.append(Batch(events=[tombstone_of(owed)]))

    def _close_done(self, name: str) -> None:
        """Closes windows of a job whose closing event was read before they were opened (under another policy)."""
        for window in self._outbox.held_by(name):
            closing = completed_id(window.namespace, window.window_id, self._generation)
            (place,) = self._log.locate(window.namespace, [closing])
            if place is not None and place.seq <= self._checkpoints[window.partition].seq:
                with self._outbox.fold(window.partition) as fold:
                    fold.close([window.window_id])

    def _give_up(self) -> None:
        for window in self._outbox.doomed():
            events = [self._log.fetch(Position(window.partition, seq)) for seq in window.seqs]
            failed = failed_event(
                namespace=window.namespace,
                session=events[0].session,
                window_id=window.window_id,
                event_ids=[e.event_id for e in events],
                attempt=window.attempts,
                error=_WORKER_DIED,
                generation=self._generation,
            )
            guard = completed_id(window.namespace, window.window_id, self._generation)
            self._log.append(Batch(events=[failed], guard=guard))
