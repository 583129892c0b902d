"""A log and its archive, to be sealed by processes that are killed while others append and read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from taishi.ingest.archive import Archive
from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.envelope import Event
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
print("sealing", flush=True)
Sealing(log, Signer.of(keys), needed=lambda _: 2**62, keep=20, most=150).run()
"""


class SealingStage:
    """`said` is what was acknowledged, in order."""

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

    def seal_and_die(self, point: str | None, nth: int = 1, *, seconds: float | None = None) -> bool:
        """In a process of its own, killed at the nth time it comes to the point, or after so many seconds of work.
        Whether it was."""
        environment = {**os.environ, "TAISHI_CRASH_FILE": str(self.folder / "deaths")}
        if point is not None:
            environment["TAISHI_CRASH_POINT"] = f"{point}:{nth}"
        command = [sys.executable, "-P", "-c", SEAL, self.server.url, str(self.folder)]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if seconds is not None:
            assert process.stdout is not None
            process.stdout.readline()  # it begins
            time.sleep(seconds)
            process.kill()
        _, said = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), said
        return process.returncode != 0

    def close(self) -> None:
        self.log.close()
        self.keys.close()

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

    def everything(self) -> list[Event]:
        events = self.log.read(0, after=0, limit=100_000)
        assert len(events) == self.log.head(0)
        return events
