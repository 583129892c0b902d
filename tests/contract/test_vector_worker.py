"""The vector worker on the real log: what is appended gets its vector, what is forgotten loses it, servers may die."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from taishi.ingest.envelope import NewEvent, Position
from taishi.ingest.ids import new_id
from taishi.ingest.log import Batch
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog
from taishi.projections.embedding_hashed import HashedEmbedder
from taishi.projections.vector_worker import VectorWorker
from taishi.queries.dense import DenseIndex
from tests.support.valkey_server import ValkeyServer

MODEL = HashedEmbedder()


class Running:
    """A log of two partitions with a worker on it, and an index on each partition's vectors."""

    def __init__(self, server: ValkeyServer, folder: Path) -> None:
        self.keys = SqlAlchemyKeyStore(f"sqlite:///{folder / 'keys.db'}")
        self.log = ValkeyLog(server.url, keys=self.keys, partitions=2)
        secret = self.keys.secret("content")
        self.worker = VectorWorker(
            log=self.log, folder=folder / "vectors", partitions=[0, 1], embedder=MODEL, secret=secret
        )
        self.index = [DenseIndex(folder / "vectors", p, model=MODEL.id) for p in (0, 1)]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self.worker.run, args=(self._stop,))
        self._thread.start()

    def append(self, *events: NewEvent) -> list[Position]:
        return [r.position for r in self.log.append(Batch(events=events)).recorded]

    def say(self, text: str, namespace: str = "harbour") -> Position:
        event = NewEvent(event_id=new_id(), type="message.recorded", namespace=namespace, body={"text": text})
        (position,) = self.append(event)
        return position

    def first(self, namespace: str) -> int:
        events = self.log.read(self.log.partition_of(namespace), after=0)
        return min(e.position.seq for e in events if e.namespace == namespace)

    def nearest(self, question: str, namespace: str = "harbour") -> list[int]:
        index = self.index[self.log.partition_of(namespace)]
        return [doc for doc, _ in index.search(self.first(namespace), MODEL.embed([question])[0], 3).found]

    def until(self, done: Callable[[], bool], seconds: float = 15.0) -> float:
        begun = time.monotonic()
        while not done():
            assert time.monotonic() - begun < seconds
            time.sleep(0.001)
        return time.monotonic() - begun

    def close(self) -> None:
        self._stop.set()
        self._thread.join(timeout=10)
        assert not self._thread.is_alive()
        self.worker.close()
        for index in self.index:
            index.close()


@pytest.fixture
def running(own_valkey: ValkeyServer, tmp_path: Path) -> Iterator[Running]:
    made = Running(own_valkey, tmp_path)
    yield made
    made.close()


def test_what_is_appended_is_soon_found_by_meaning_and_what_is_forgotten_is_not(running: Running) -> None:
    tide = running.say("退潮的时候可以走到小岛")
    running.say("渔市周一不开门")
    running.say("The lighthouse is closed", namespace="elsewhere")
    running.until(lambda: running.nearest("什么时候可以走到小岛")[:1] == [2 * tide.seq])
    delays = []
    for i in range(30):
        at = running.say(f"第{i}号泊位空着")
        partition = running.index[at.partition]
        delays.append(running.until(lambda p=partition, seq=at.seq: p.checkpoint() >= seq))
    assert sorted(delays)[15] < 0.05
    event = running.log.fetch(tide)
    running.keys.destroy([event.key_id], at=event.recorded_at)
    facts = {"kind": "event", "claims": [], "events": [[event.event_id, tide.seq]], "keys": [event.key_id]}
    running.append(
        NewEvent(
            event_id=new_id(),
            type="claim.forgotten",
            namespace="harbour",
            body={},
            facts=facts,
            erases=(event.event_id,),
        )
    )
    running.until(lambda: 2 * tide.seq not in running.nearest("什么时候可以走到小岛"))


def test_a_server_that_dies_and_comes_back_is_waited_for(own_valkey: ValkeyServer, running: Running) -> None:
    before = running.say("台风要来了")
    running.until(lambda: running.index[before.partition].checkpoint() >= before.seq)
    time.sleep(1.2)  # the server's everysec
    own_valkey.kill()
    time.sleep(0.5)
    own_valkey.start()
    after = running.say("台风走了")
    running.until(lambda: running.index[after.partition].checkpoint() >= after.seq)
    assert set(running.nearest("台风")) == {2 * before.seq, 2 * after.seq}
