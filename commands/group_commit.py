"""Group commit: concurrent requests share one exchange with the log.

The event loop hands batches over; one committer thread takes all that wait and appends them together. While it is on
its way, the next ones gather, so that a busy server makes few large exchanges and an idle one answers at once. Each
batch still succeeds or fails alone.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final

from taishi.ingest.errors import Unavailable
from taishi.ingest.log import Appended, Batch, EventLog

Outcome = Appended | Exception


@dataclass(frozen=True, slots=True)
class _Waiting:
    batch: Batch
    reply: asyncio.Future[Appended]


class GroupCommit:
    """`capacity` is how many events may wait, `largest` how many enter one exchange (one batch may exceed it).

    Belongs to one event loop. `append` and `close` are called there; the log is used by the committer thread alone.
    """

    def __init__(self, log: EventLog, *, capacity: int = 20_000, largest: int = 2_000) -> None:
        self._log: Final = log
        self._capacity: Final = capacity
        self._largest: Final = largest
        self._queue: Final[SimpleQueue[_Waiting | None]] = SimpleQueue()
        self._waiting = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Events handed over and not yet answered."""
        return self._waiting

    async def append(self, batch: Batch) -> Appended:
        """Raises what `EventLog.append` raises, and Unavailable when too much waits or the server is closing."""
        if self._closed:
            raise Unavailable("the server is shutting down: send it again to the next one")
        if self._waiting and self._waiting + len(batch.events) > self._capacity:
            raise Unavailable("too many writes wait for the log: send it again a little later")
        reply: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        self._waiting += len(batch.events)
        self._queue.put(_Waiting(batch, reply))
        return await reply

    async def close(self) -> None:
        """Refuses new batches, answers those that wait, ends the thread."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    def _run(self) -> None:
        going = True
        while going:
            group, going = self._gather()
            if not group:
                continue
            outcomes: Sequence[Outcome]
            try:
                outcomes = self._log.append_many([one.batch for one in group])
            except Exception as error:
                outcomes = [error] * len(group)
            loop = group[0].reply.get_loop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._answer, group, outcomes)

    def _gather(self) -> tuple[list[_Waiting], bool]:
        """All that waits, at least one; False once nothing more will come."""
        first = self._queue.get()
        if first is None:
            return [], False
        group, size = [first], len(first.batch.events)
        while size < self._largest:
            try:
                one = self._queue.get_nowait()
            except Empty:
                break
            if one is None:
                return group, False
            group.append(one)
            size += len(one.batch.events)
        return group, True

    def _answer(self, group: Sequence[_Waiting], outcomes: Sequence[Outcome]) -> None:
        for one, outcome in zip(group, outcomes, strict=True):
            self._waiting -= len(one.batch.events)
            if one.reply.done():  # the caller went away; what was appended stays
                continue
            if isinstance(outcome, Exception):
                one.reply.set_exception(outcome)
            else:
                one.reply.set_result(outcome)
