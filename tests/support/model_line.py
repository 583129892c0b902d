"""The line from words to claims with a chat model in it: real log, real RQ, real keeper, a stand-in for the model."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from taishi.ingest.budget import Caps
from taishi.ingest.envelope import Event
from taishi.ingest.instants import DAY, SECOND
from taishi.ingest.keeper import Keeper
from taishi.ingest.retries import RetrySchedule
from taishi.ingest.sqlalchemy_budget import SqlAlchemyBudget
from taishi.ingest.windows import Policy
from tests.support import model_worker
from tests.support.chat_server import ChatServer
from tests.support.extraction_line import Line
from tests.support.valkey_server import ValkeyServer

QUICK = RetrySchedule(delays=(SECOND // 10,) * 12)


class ModelLine(Line):
    """A window is two messages of one session, so that nothing waits for a clock."""

    def __init__(
        self, server: ValkeyServer, directory: Path, model: ChatServer, *, retries: RetrySchedule = QUICK
    ) -> None:
        self.model = model
        self.retries = retries
        self.cap = "1000"
        self.said: set[str] = set()
        self.windows = 0
        super().__init__(server, directory)

    @property
    def ledger(self) -> Path:
        return self.directory / "ledger.db"

    def new_keeper(self) -> Keeper:
        return Keeper(
            self.log, self.keys, self.outbox, self.queue, Policy(events=2, span=DAY), ledger=self.forgotten,
            zone="Asia/Shanghai", retries=self.retries, most_windows=8,
        )

    @property
    def extraction(self) -> model_worker.Extraction:
        return model_worker.extraction(self.log, self.keys, ledger=self.ledger, model_url=self.model.base_url)

    def start_worker(
        self, *, seconds: float = 10.0, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        words = [
            sys.executable, "-P", model_worker.__file__, self.log_url, self.jobs_url, self.keys_url,
            str(self.ledger), self.model.base_url, self.cap,
        ]
        with (self.directory / "worker.log").open("ab") as output:
            worker = subprocess.Popen(words, env=dict(environment or {}), stdout=output, stderr=subprocess.STDOUT)
        self.workers.append(worker)
        return worker

    def say_windows(self, count: int, *, namespaces: int = 3, round_: int = 0) -> set[str]:
        """So many windows of two messages with a claim each. What will be liked."""
        liked: set[str] = set()
        for i in range(count):
            values = [f"tea{round_}x{i}", f"go{round_}x{i}"]
            session = f"s{round_}-{i}"
            self.say(*(f"Ann likes {v} very much" for v in values), namespace=f"n{i % namespaces}", session=session)
            liked.update(values)
        self.said |= liked
        self.windows += count
        return liked

    def assert_all_read_once(self, liked: set[str], windows: int) -> None:
        assert self.outbox.counts() == {"pending": 0, "queued": 0, "failed": 0}
        assert self.values() == sorted(liked)
        completed = self.events("extraction.completed")
        assert len({e.facts["window"] for e in completed}) == len(completed) == windows
        assert all(e.facts["claims"] == 2 for e in completed)

    def fail_and_recover(self, fault: str, windows: int, *, round_: int, seconds: float = 30.0) -> float:
        """Every window fails visibly, none is done; then the model recovers. Seconds from then until all are read."""
        done = len(self.events("extraction.completed"))
        before = {e.event_id for e in self.events("extraction.failed")}
        self.model.fault = fault
        self.say_windows(windows, round_=round_)

        def failures() -> list[Event]:
            return [e for e in self.events("extraction.failed") if e.event_id not in before]

        self.until(lambda: len({e.facts["window"] for e in failures()}) == windows, seconds=seconds)
        assert len(self.events("extraction.completed")) == done, fault
        shapes = {"window", "events", "error", "attempt", "usage"}
        for e in failures():
            assert e.facts["error"].startswith("model."), fault
            assert (set(e.facts), e.facts["usage"]["calls"]) == (shapes, 1), fault
        self.model.fault = None
        took = self.until(self.settled, seconds=seconds)
        self.assert_all_read_once(self.said, self.windows)
        return took

    def be_away_and_return(self, fault: str, windows: int, *, round_: int, seconds: float = 40.0) -> float:
        """Windows wait and nothing is written; then the model is there again. Seconds from then until all are read."""
        done, failed = len(self.events("extraction.completed")), len(self.events("extraction.failed"))
        asked = len(self.model.asked)
        self.model.fault = fault
        self.say_windows(windows, round_=round_)
        self.until(lambda: len(self.model.asked) >= asked + 2, seconds=seconds)
        for _ in range(60):
            self.keeper.step()
            time.sleep(0.01)
        counts = self.outbox.counts()
        assert (counts["pending"] + counts["queued"], counts["failed"]) == (windows, 0), fault
        written = len(self.events("extraction.completed")), len(self.events("extraction.failed"))
        assert written == (done, failed), fault
        self.model.fault = None
        took = self.until(self.settled, seconds=seconds)
        self.assert_all_read_once(self.said, self.windows)
        return took

    def spent(self) -> SqlAlchemyBudget:
        return SqlAlchemyBudget(self.ledger, Caps(daily=None))
