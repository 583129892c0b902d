"""The line from raw events to claim events on real parts: log, key store, outbox, RQ, worker processes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import redis

from taishi.ingest.envelope import Actor, Event, NewEvent, Position
from taishi.ingest.ids import new_id
from taishi.ingest.keeper import Keeper
from taishi.ingest.ledger import Ledger
from taishi.ingest.log import Batch
from taishi.ingest.outbox import Outbox
from taishi.ingest.rq_jobs import RqJobQueue
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog
from tests.support import extraction_worker
from tests.support.valkey_server import ValkeyServer


class Line:
    """`url` names the server: the log is in its database 0, jobs are in database 1. Nothing runs by itself."""

    def __init__(self, server: ValkeyServer, directory: Path) -> None:
        self.log_url, self.jobs_url = f"{server.url}?db=0", f"{server.url}?db=1"
        self.directory = directory
        self.keys_url = f"sqlite:///{directory / 'keys.db'}"
        self.keys = SqlAlchemyKeyStore(self.keys_url)
        self.log = ValkeyLog(self.log_url, keys=self.keys, partitions=2)
        self.outbox = Outbox(directory / "keeper.db")
        self.forgotten = Ledger(directory / "ledger.jsonl", self.keys.secret("ledger"))
        self.queue = RqJobQueue(self.jobs_url)
        self.keeper = self.new_keeper()
        self.workers: list[subprocess.Popen[bytes]] = []

    def new_keeper(self) -> Keeper:
        return Keeper(self.log, self.keys, self.outbox, self.queue, ledger=self.forgotten, zone="Asia/Shanghai")

    @property
    def extraction(self) -> extraction_worker.Extraction:
        return extraction_worker.extraction(self.log, self.keys)

    def jobs(self) -> redis.Redis:
        return redis.Redis.from_url(self.jobs_url)

    def start_worker(
        self, *, seconds: float = 10.0, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-P", extraction_worker.__file__, self.log_url, self.jobs_url, self.keys_url]
        with (self.directory / "worker.log").open("ab") as output:
            worker = subprocess.Popen(
                [*words, str(seconds)], env=dict(environment or {}), stdout=output, stderr=subprocess.STDOUT
            )
        self.workers.append(worker)
        return worker

    def worker_output(self) -> str:
        return (self.directory / "worker.log").read_text()

    def close(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()
        self.outbox.dispose()
        self.log.close()
        self.keys.close()

    def say(self, *texts: str, namespace: str = "n", session: str | None = "s", **given: object) -> list[Event]:
        """One message per text, as they stand in the log."""
        messages = [
            NewEvent(
                event_id=new_id(), type="message.recorded", namespace=namespace, session=session, body={"text": text},
                **{"actor": Actor(role="user"), **given},  # type: ignore[arg-type]
            )
            for text in texts
        ]
        places = self.log.append(Batch(events=messages)).recorded
        return [self.log.fetch(recorded.position) for recorded in places]

    def forget(self, *events: Event, destroy: bool = True) -> Event:
        facts = {
            "kind": "event", "claims": [], "events": [[e.event_id, e.position.seq] for e in events],
            "keys": [e.key_id for e in events],
        }
        tombstone = NewEvent(
            event_id=new_id(), type="scope.forgotten", namespace=events[0].namespace, body={}, facts=facts,
            erases=tuple(e.event_id for e in events),
        )
        (recorded,) = self.log.append(Batch(events=[tombstone])).recorded
        if destroy:
            self.keys.destroy([e.key_id for e in events], at=0)
        return self.log.fetch(recorded.position)

    def events(self, type: str) -> list[Event]:
        found: list[Event] = []
        for partition in range(self.log.partitions):
            seq = 0
            while events := self.log.read(partition, after=seq):
                seq = events[-1].position.seq
                found += [e for e in events if e.type == type]
        return found

    def values(self) -> list[str]:
        """What was claimed to be liked, sorted."""
        return sorted(e.body["value"] for e in self.events("claim.extracted") if e.body)

    def fetch(self, position: Position) -> Event:
        return self.log.fetch(position)

    def until(self, done: Callable[[], bool], *, seconds: float = 15.0) -> float:
        """Steps the keeper until `done`. How many seconds it took."""
        began = time.monotonic()
        while not done():
            if time.monotonic() - began > seconds:
                raise AssertionError(f"not within {seconds} s: {self.outbox.counts()}\n{self.worker_output()[-2000:]}")
            self.keeper.step()
            time.sleep(0.01)
        return time.monotonic() - began

    def settled(self) -> bool:
        """Nothing is left to be done, and the keeper knows it."""
        counts = self.outbox.counts()
        seen = all(self.outbox.checkpoint(p).seq == self.log.head(p) for p in range(self.log.partitions))
        return seen and counts["pending"] == counts["queued"] == 0 and not self.outbox.out()
