"""Sealing, killed at its named points, while others append and read: nothing is lost, doubled or left half made."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from taishi.ingest.archive import Archive
from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.crashpoints import SEALING_POINTS
from taishi.ingest.errors import Unavailable
from taishi.ingest.log import Batch
from taishi.ingest.sealing import Sealing
from taishi.ingest.signatures import Signer
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.verification import PartitionAudit
from tests.contract.event_log import message
from tests.support.valkey_server import ValkeyServer

SEAL = """
import sys
from pathlib import Path
from taishi.ingest.archive import Archive
from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.sealing import Sealing
from taishi.ingest.signatures import Signer
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
url, folder = sys.argv[1], Path(sys.argv[2])
keys = SqlAlchemyKeyStore(f"sqlite:///{folder}/keys.db")
log = ArchivedLog(url, keys=keys, archive=Archive(folder / "archive", Signer.of(keys)), partitions=1)
Sealing(log, Signer.of(keys), needed=lambda _: 2**62, keep=20, most=150).run()
"""


class Home:
    def __init__(self, server: ValkeyServer, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.keys = SqlAlchemyKeyStore(f"sqlite:///{folder}/keys.db")
        self.signer = Signer.of(self.keys)
        archive = Archive(folder / "archive", self.signer)
        self.log = ArchivedLog(server.url, keys=self.keys, archive=archive, partitions=1)
        self.said: list[str] = []

    def say(self, count: int) -> None:
        texts = [f"said {len(self.said) + i}" for i in range(count)]
        self.log.append(Batch(events=[message(text) for text in texts]))
        self.said += texts

    def seal(self) -> None:
        Sealing(self.log, self.signer, needed=lambda _: 2**62, keep=20, most=150).run()

    def seal_and_die(self, point: str, nth: int) -> bool:
        """In a process of its own. Whether it came to the point."""
        environment = {
            **os.environ,
            "TAISHI_CRASH_POINT": f"{point}:{nth}",
            "TAISHI_CRASH_FILE": str(self.folder / "deaths"),
        }
        command = [sys.executable, "-P", "-c", SEAL, self.server.url, str(self.folder)]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
        return ended.returncode != 0

    def read(self) -> list[str]:
        found: list[str] = []
        after = 0
        while events := self.log.read(0, after=after, limit=70):
            assert [e.position.seq for e in events] == list(range(after + 1, after + 1 + len(events)))
            found += [e.body["text"] for e in events if e.type == "message.recorded" and e.body]
            after = events[-1].position.seq
        return found

    def judge(self) -> None:
        assert self.read() == self.said
        told = [e.facts["segment"] for e in self.everything() if e.type == "log.sealed"]
        assert sorted(told) == [str(name) for name in self.log.archive.segments(0)], "each segment is told of once"
        archive = Archive(self.log.archive.folder, self.signer)
        verdict = PartitionAudit(0, archive=archive, stream=self.log.stream, head=self.log.head(0)).run()
        assert not verdict.flaws
        folder = self.log.archive.folder / "p0"
        assert sorted(p.stem for p in folder.glob("*.seg")) == sorted(p.stem for p in folder.glob("*.json"))
        assert not list(folder.glob("*.tmp"))

    def everything(self) -> list:  # type: ignore[type-arg]
        events = self.log.read(0, after=0, limit=100_000)
        assert len(events) == self.log.head(0)
        return events


@pytest.fixture
def home(valkey: ValkeyServer, tmp_path: Path) -> Iterator[Home]:
    made = Home(valkey, tmp_path)
    yield made
    made.log.close()
    made.keys.close()


@pytest.mark.parametrize("point", SEALING_POINTS)
def test_killed_at_a_named_point(home: Home, point: str) -> None:
    home.say(400)
    assert home.seal_and_die(point, 1 if point == "stream_trimmed" else 2)
    assert home.read() == home.said, "readable at once, by those who run"
    home.say(3)
    home.seal()
    home.judge()
    assert home.log.stream.first(0) == home.log.archive.last(0) + 1


def test_sealing_while_others_append_and_read(home: Home) -> None:
    home.say(100)
    ended = threading.Event()
    broken: list[BaseException] = []

    def guarded(work: object) -> None:
        assert callable(work)
        try:
            while not ended.is_set():
                work()
        except BaseException as e:
            broken.append(e)

    def read() -> None:
        said = len(home.said)
        assert len(home.read()) >= said

    def seal() -> None:
        try:
            home.seal()
        except Unavailable:
            pass

    threads = [
        threading.Thread(target=guarded, args=(work,)) for work in (lambda: home.say(5), read, read, seal, seal)
    ]
    for thread in threads:
        thread.start()
    ended.wait(1.5)
    ended.set()
    for thread in threads:
        thread.join()
    assert not broken, broken
    home.seal()
    home.judge()
