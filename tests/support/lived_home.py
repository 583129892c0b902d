"""A home folder that was written to without any process: a log on a test server, keys, a ledger, read models."""

from __future__ import annotations

import time
from pathlib import Path

from taishi.deploy.backup.making import make_backup
from taishi.deploy.event_log import open_keys, open_log
from taishi.deploy.generations import ensure_generation, live_folder
from taishi.deploy.settings import Settings
from taishi.ingest.envelope import Event, NewEvent, Position
from taishi.ingest.ids import new_id
from taishi.ingest.ledger import Ledger, LedgerEntry
from taishi.ingest.log import Batch
from taishi.projections.analysis import Analyzer
from taishi.projections.worker import Projector


def settings_of(home: Path, url: str) -> Settings:
    return Settings(home=home, redis_url=url, embedder="off")


class LivedHome:
    def __init__(self, home: Path, url: str) -> None:
        self.settings = settings_of(home, url)
        self.keys = open_keys(self.settings)
        self.log = open_log(self.settings, self.keys)
        self.ledger = Ledger(self.settings.ledger, self.keys.secret("ledger"))

    def close(self) -> None:
        self.log.close()
        self.keys.close()

    def say(self, *texts: str, namespace: str = "house", **given: object) -> list[Event]:
        events = [
            NewEvent(event_id=new_id(), type="message.recorded", namespace=namespace, body={"text": text}, **given)  # type: ignore[arg-type]
            for text in texts
        ]
        return [self.log.fetch(one.position) for one in self.log.append(Batch(events=events)).recorded]

    def forget(self, *events: Event) -> Position:
        keys = [event.key_id for event in events]
        tombstone = NewEvent(
            event_id=new_id(),
            type="claim.forgotten",
            namespace=events[0].namespace,
            body={},
            facts={
                "kind": "event", "claims": [], "keys": keys, "events": [[e.event_id, e.position.seq] for e in events],
            },
            erases=tuple(e.event_id for e in events),
        )  # fmt: skip
        place = self.log.append(Batch(events=[tombstone])).recorded[0].position
        self.keys.destroy(keys, at=time.time_ns() // 1000)
        self.ledger.append(LedgerEntry.of(self.log.fetch(place)))
        return place

    def back_up(self, folder: Path) -> int:
        return make_backup(self.settings, folder).part

    def texts(self) -> list[str | None]:
        """What can be read of raw events, in the order of the log."""
        found: list[str | None] = []
        for partition in range(self.log.partitions):
            after = 0
            while batch := self.log.read(partition, after=after):
                after = batch[-1].position.seq
                found += [None if e.body is None else e.body["text"] for e in batch if e.type == "message.recorded"]
        return found

    def fold(self) -> None:
        """Builds the read models up to the log's head."""
        ensure_generation(self.settings.home)
        projector = Projector(
            log=self.log,
            folder=live_folder(self.settings.home),
            partitions=range(self.log.partitions),
            analyzer=Analyzer(),
        )
        projector.catch_up()
        projector.close()
