"""The projection worker on a real log: damage, rollback, other versions, and being killed between batches."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from taishi.ingest.envelope import Event, NewEvent
from taishi.ingest.ids import new_id
from taishi.ingest.log import Batch
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog
from taishi.projections.analysis import Analyzer
from taishi.projections.dead_letters import ask_again, dead_letters
from taishi.projections.fold import _HANDLERS
from taishi.projections.model import Model
from taishi.projections.store import open_connection
from taishi.projections.worker import Projector, model_path
from tests.support.valkey_server import ValkeyServer

ANALYZER = Analyzer()


class Line:
    """A log of two partitions and what writes to it."""

    def __init__(self, server: ValkeyServer, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.log = ValkeyLog(server.url, keys=SqlAlchemyKeyStore(f"sqlite:///{folder / 'keys.db'}"), partitions=2)
        self.names = {self.log.partition_of(name): name for name in ("a", "b", "c", "d", "e", "f")}

    def say(self, partition: int, *texts: str) -> None:
        namespace = self.names[partition]
        events = [
            NewEvent(event_id=new_id(), type="message.recorded", namespace=namespace, body={"text": text})
            for text in texts
        ]
        self.log.append(Batch(events=events))

    def projector(self, batch: int = 3) -> Projector:
        return Projector(
            log=self.log, folder=self.folder / "models", partitions=range(2), analyzer=ANALYZER, batch=batch
        )

    def texts(self, partition: int) -> list[str]:
        connection = open_connection(model_path(self.folder / "models", partition), read_only=True)
        return [row[0] for row in connection.execute("SELECT text FROM events ORDER BY seq")]


@pytest.fixture
def line(valkey: ValkeyServer, tmp_path: Path) -> Line:
    return Line(valkey, tmp_path)


def wait_until(done, seconds: float = 10) -> None:  # type: ignore[no-untyped-def]
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_damaged_partition_stands_still_and_the_others_go_on(line: Line) -> None:
    line.say(0, "one", "two", "three")
    with line.server.client() as client:
        client.xdel("taishi:{p0}:log", "2-0")
    projector, stop = line.projector(), threading.Event()
    thread = threading.Thread(target=projector.run, args=(stop,))
    thread.start()
    try:
        for n in range(5):
            line.say(1, f"elsewhere {n}")
            wait_until(lambda n=n: projector.positions()[1] == n + 1, seconds=2)
        assert projector.positions()[0] == 1
    finally:
        stop.set()
        thread.join(timeout=10)
    assert line.texts(0) == ["one"]
    assert line.texts(1) == [f"elsewhere {n}" for n in range(5)]


def test_a_log_that_was_rolled_back_is_noticed_and_replayed(line: Line) -> None:
    line.say(0, "kept", "lost")
    first = line.projector()
    first.catch_up()
    first.close()
    with line.server.client() as client:
        client.flushall()
    line.say(0, "another", "history", "altogether")
    second = line.projector()
    second.catch_up()
    assert line.texts(0) == ["another", "history", "altogether"]
    assert [p.name for p in (line.folder / "models").glob("*quarantined*")] == ["claims-p0.db.quarantined-1"]
    second.close()


def test_a_file_of_another_fold_version_is_replayed(line: Line) -> None:
    line.say(0, "one", "two")
    first = line.projector()
    first.catch_up()
    digest = first.digests()[0]
    first.close()
    connection = open_connection(model_path(line.folder / "models", 0))
    connection.execute("UPDATE checkpoint SET fold_version = 0")
    connection.execute("DELETE FROM events")
    connection.close()
    second = line.projector()
    assert second.positions()[0] == 0
    second.catch_up()
    assert second.digests()[0] == digest
    second.close()


def test_batches_of_any_size_give_one_digest(line: Line) -> None:
    for n in range(11):
        line.say(n % 2, f"message {n}", f"and {n}")
    digests = []
    for size in (1, 4, 500):
        projector = Projector(
            log=line.log, folder=line.folder / str(size), partitions=range(2), analyzer=ANALYZER, batch=size
        )
        projector.catch_up()
        digests.append(projector.digests())
        projector.close()
    assert digests[0] == digests[1] == digests[2]


_WORKER = """
import sys
from pathlib import Path
from tests.scenario.test_projector import ANALYZER
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog
from taishi.projections.worker import Projector
url, folder = sys.argv[1], Path(sys.argv[2])
log = ValkeyLog(url, keys=SqlAlchemyKeyStore(f"sqlite:///{folder / 'keys.db'}"), partitions=2)
Projector(log=log, folder=folder / "models", partitions=range(2), analyzer=ANALYZER, batch=3).catch_up()
"""


def test_killed_after_any_commit_it_goes_on_and_ends_equal(line: Line) -> None:
    for n in range(20):
        line.say(n % 2, f"message {n}", f"and {n}")
    deaths = line.folder / "deaths"
    command = [sys.executable, "-P", "-c", _WORKER, line.server.url, str(line.folder)]
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root, "TAISHI_CRASH_FILE": str(deaths), "TAISHI_CRASH_POINT": "folded:2"}
    codes = []
    for _ in range(20):
        codes.append(subprocess.run(command, env=environment, timeout=60, check=False).returncode)
        if codes[-1] == 0:
            break
    assert codes[-1] == 0
    assert codes.count(-signal.SIGKILL) == len(deaths.read_text().splitlines()) >= 5
    live = line.projector()
    clean = Projector(log=line.log, folder=line.folder / "clean", partitions=range(2), analyzer=ANALYZER)
    clean.catch_up()
    assert live.digests() == clean.digests()
    live.close()
    clean.close()


def test_a_poison_event_is_seen_by_the_operator_and_folded_once_it_can_be(line: Line, monkeypatch) -> None:
    fold = _HANDLERS["message.recorded"]

    def chokes(model: Model, event: Event, ns: int) -> None:
        if "poison" in (event.body or {})["text"]:
            raise KeyError("a bug")
        fold(model, event, ns)

    monkeypatch.setitem(_HANDLERS, "message.recorded", chokes)
    line.say(0, "one", "poison", "three")
    projector = line.projector()
    projector.catch_up()
    assert line.texts(0) == ["one", "three"]
    letters = list(dead_letters(line.folder / "models", 2))
    assert [(one.partition, one.seq, one.namespace, one.type, one.error, one.state) for one in letters] == [
        (0, 2, line.names[0], "message.recorded", "KeyError", "parked")
    ]
    assert ask_again(line.folder / "models", letters) == 1
    projector.step(0)
    assert next(dead_letters(line.folder / "models", 2)).attempts == 3
    monkeypatch.undo()
    projector.close()
    projector = line.projector()  # a worker that starts tries them by itself
    projector.catch_up()
    assert line.texts(0) == ["one", "poison", "three"]
    assert list(dead_letters(line.folder / "models", 2)) == []
    projector.close()
