"""Group commit: what waits together is appended together; each gets its own answer; nothing is lost at the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence

import pytest

from taishi.commands.group_commit import GroupCommit
from taishi.ingest.envelope import NewEvent
from taishi.ingest.errors import EventIdConflict, Unavailable
from taishi.ingest.ids import new_id
from taishi.ingest.log import Appended, Batch
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from tests.support.watched_log import WatchedLog, watched_log


def batch(*contents: str, event_id: str | None = None) -> Batch:
    return Batch(
        events=[
            NewEvent(event_id=event_id or new_id(), type="message.recorded", namespace="n", body={"text": content})
            for content in contents
        ]
    )


class SlowLog(WatchedLog):
    """Each exchange waits until `gate` is open."""

    def __init__(self, url: str, keys: SqlAlchemyKeyStore) -> None:
        super().__init__(url, keys)
        self.gate = threading.Event()
        self.entered = threading.Event()

    def append_many(self, batches: Sequence[Batch]) -> list[Appended | Exception]:
        self.entered.set()
        assert self.gate.wait(5)
        return super().append_many(batches)


@pytest.fixture
def log() -> Iterator[WatchedLog]:
    with watched_log() as log:
        yield log


@pytest.fixture
def slow() -> Iterator[SlowLog]:
    with watched_log(SlowLog) as log:
        assert isinstance(log, SlowLog)
        yield log


def test_what_waits_together_shares_an_exchange(slow: SlowLog) -> None:
    async def scene() -> None:
        commits = GroupCommit(slow)
        first = asyncio.create_task(commits.append(batch("0")))
        await asyncio.to_thread(slow.entered.wait)
        others = [asyncio.create_task(commits.append(batch(str(n)))) for n in range(1, 21)]
        await asyncio.sleep(0)
        assert commits.waiting == 21
        slow.gate.set()
        placed = await asyncio.gather(first, *others)
        assert slow.exchanges == [1, 20] and commits.waiting == 0
        texts = [e.body["text"] for e in slow.events if e.body]
        assert [texts[p.recorded[0].position.seq - 1] for p in placed] == [str(n) for n in range(21)]
        await commits.close()

    asyncio.run(scene())


def test_an_error_is_its_own_batchs_alone(log: WatchedLog) -> None:
    async def scene() -> None:
        commits = GroupCommit(log)
        known = new_id()
        await commits.append(batch("a", event_id=known))
        found = await asyncio.gather(
            commits.append(batch("b")), commits.append(batch("c", event_id=known)), commits.append(batch("d")),
            return_exceptions=True,
        )  # fmt: skip
        assert [type(one) for one in found] == [Appended, EventIdConflict, Appended]
        await commits.close()

    asyncio.run(scene())


def test_a_full_queue_refuses_and_says_so(slow: SlowLog) -> None:
    async def scene() -> None:
        commits = GroupCommit(slow, capacity=3)
        waiting = [asyncio.create_task(commits.append(batch("a", "b", "c", "d")))]  # alone, even a large one goes in
        await asyncio.sleep(0)
        with pytest.raises(Unavailable):
            await commits.append(batch("e"))
        slow.gate.set()
        await asyncio.gather(*waiting)
        await commits.append(batch("e"))
        await commits.close()

    asyncio.run(scene())


def test_closing_answers_what_waits_and_refuses_what_comes(slow: SlowLog) -> None:
    async def scene() -> None:
        commits = GroupCommit(slow, largest=1)
        waiting = [asyncio.create_task(commits.append(batch(str(n)))) for n in range(5)]
        await asyncio.sleep(0)
        closing = asyncio.create_task(commits.close())
        await asyncio.sleep(0)
        with pytest.raises(Unavailable):
            await commits.append(batch("late"))
        slow.gate.set()
        await closing
        assert len(await asyncio.gather(*waiting)) == 5 and len(slow.events) == 5
        await commits.close()

    asyncio.run(scene())


def test_a_caller_that_goes_away_does_not_disturb_the_others(slow: SlowLog) -> None:
    async def scene() -> None:
        commits = GroupCommit(slow)
        leaving, staying = (
            asyncio.create_task(commits.append(batch("a"))),
            asyncio.create_task(commits.append(batch("b"))),
        )
        await asyncio.sleep(0)
        leaving.cancel()
        slow.gate.set()
        assert (await staying).recorded
        assert len(slow.events) == 2
        await commits.close()

    asyncio.run(scene())


def test_a_log_that_fails_as_a_whole_fails_every_batch(log: WatchedLog) -> None:
    async def scene() -> None:
        log.down = Unavailable("down")
        commits = GroupCommit(log)
        found = await asyncio.gather(*(commits.append(batch("a")) for _ in range(3)), return_exceptions=True)
        assert [type(one) for one in found] == [Unavailable] * 3
        log.down = None
        assert (await commits.append(batch("b"))).recorded
        await commits.close()

    asyncio.run(scene())
