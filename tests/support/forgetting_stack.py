"""All that a forget has to do with, in one process: the write API, read models (two generations of them), vectors,
keeper and extraction on a real log; each in threads of its own, extraction as slow as a test wants it."""

from __future__ import annotations

import contextlib
import queue
import random
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from taishi.commands.http import create_app
from taishi.deploy.claim_directory import ReadModelDirectory
from taishi.deploy.kept_files import Folders, KeptFiles
from taishi.ingest.envelope import Event
from taishi.ingest.extraction import Extraction
from taishi.ingest.extractor import Extraction as Reading
from taishi.ingest.extractor import Window
from taishi.ingest.jobs import Fate, Job
from taishi.ingest.keeper import Keeper
from taishi.ingest.ledger import Ledger
from taishi.ingest.outbox import Outbox
from taishi.ingest.redaction import redact
from taishi.ingest.registry import default_registry
from taishi.ingest.rules import RulesExtractor
from taishi.ingest.slots import Fingerprints
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog
from taishi.projections.analysis import Analyzer
from taishi.projections.embedding_hashed import HashedEmbedder
from taishi.projections.lookup import Lookup
from taishi.projections.vector_worker import VectorWorker
from taishi.projections.worker import Projector
from tests.support.valkey_server import ValkeyServer

PARTITIONS = 2


class SlowReader:
    """The rules, after a pause of up to `seconds`."""

    def __init__(self, rng: random.Random) -> None:
        self._rules = RulesExtractor()
        self._rng = rng
        self.name, self.version = self._rules.name, self._rules.version
        self.seconds = 0.0

    def extract(self, window: Window) -> Reading:
        time.sleep(self._rng.uniform(0, self.seconds))
        return self._rules.extract(window)


class NamedEmbedder(HashedEmbedder):
    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    @property
    def id(self) -> str:
        return self._name


class Threads:
    """A job queue: some threads that run what is put on it. `paused` keeps jobs waiting."""

    def __init__(self, extraction: Extraction, count: int) -> None:
        self._extraction = extraction
        self._waiting: queue.Queue[Job] = queue.Queue()
        self._known: set[str] = set()
        self._ended: set[str] = set()
        self.going = threading.Event()
        self.going.set()
        for _ in range(count):
            threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            job = self._waiting.get()
            self.going.wait()
            self._extraction.run(job.tasks)
            self._ended.add(job.job_id)

    def enqueue(self, job: Job) -> None:
        if job.job_id not in self._known:
            self._known.add(job.job_id)
            self._waiting.put(job)

    def fates(self, job_ids: Collection[str]) -> Mapping[str, Fate]:
        return {job_id: "ended" for job_id in job_ids if job_id in self._ended}

    def discard(self, job_id: str) -> None:
        self._ended.discard(job_id)
        self._known.discard(job_id)


class ForgettingStack:
    def __init__(self, server: ValkeyServer, folder: Path, *, analyzer: Analyzer, seed: int = 1) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        self.keys = SqlAlchemyKeyStore(f"sqlite:///{folder}/keys/keys.db")
        self.ledger = Ledger(folder / "keys" / "ledger.jsonl", self.keys.secret("ledger"))
        self.log = ValkeyLog(server.url, keys=self.keys, partitions=PARTITIONS)
        self.analyzer = analyzer
        self.reader = SlowReader(self.rng)
        self.live, self.second, self.vectors = folder / "g1", folder / "g2", folder / "vectors"
        self.following = [self.live]
        self.lookup = Lookup(lambda: self.live)
        self.kept = KeptFiles(lambda: Folders(following=list(self.following), resting=[]), self.vectors)
        self.directory = ReadModelDirectory(log=self.log, lookup=self.lookup, kept=self.kept)
        self.jobs = Threads(
            Extraction(self.log, self.reader, default_registry(), Fingerprints(self.keys.secret("fingerprint"))), 4
        )
        self.outbox = Outbox(folder / "keeper.db")
        self.keeper = Keeper(
            self.log, self.keys, self.outbox, self.jobs, ledger=self.ledger, owed=self.kept.owed, most_windows=1
        )
        self._stops: list[tuple[threading.Event, threading.Thread]] = []

    def run(self, *, vectors: str = "first") -> None:
        self._start(Projector(log=self.log, folder=self.live, partitions=range(PARTITIONS), analyzer=self.analyzer))
        self._start(self.keeper)
        self.embed(vectors)

    def build_second(self) -> None:
        """Another generation, folded from the log's beginning."""
        projector = Projector(log=self.log, folder=self.second, partitions=range(PARTITIONS), analyzer=self.analyzer)
        self.following.append(self.second)
        self._start(projector)

    def embed(self, model: str) -> None:
        """Embeds with a model of this name, anew where it is another than before."""
        for stop, thread in [s for s in self._stops if s[1].name == "VectorWorker"]:
            stop.set()
            thread.join()
        embedder = NamedEmbedder(model)
        self._start(
            VectorWorker(
                log=self.log, folder=self.vectors, partitions=range(PARTITIONS), embedder=embedder,
                secret=self.keys.secret("vectors"),
            )
        )  # fmt: skip

    def _start(self, follower: Any) -> None:
        def run() -> None:
            follower.run(stop)
            close = getattr(follower, "close", None)
            if close is not None:
                close()

        stop = threading.Event()
        thread = threading.Thread(target=run, name=type(follower).__name__, daemon=True)
        self._stops.append((stop, thread))
        thread.start()

    def close(self) -> None:
        self.jobs.going.set()
        for stop, _ in self._stops:
            stop.set()
        for _, thread in self._stops:
            thread.join(timeout=10)
        self.outbox.dispose()
        self.log.close()
        self.keys.close()

    @contextlib.contextmanager
    def api(self) -> Iterator[TestClient]:
        app = create_app(
            log=self.log, keys=self.keys, ledger=self.ledger, directory=self.directory, registry=default_registry(),
            redact=redact, reader=RulesExtractor(),
        )  # fmt: skip
        with TestClient(app) as http:
            yield http

    def claims(self, namespace: str) -> list[tuple[str, str]]:
        """(claim id, value) of what is believed now."""
        partition = self.log.partition_of(namespace)
        return [
            (row[0], row[1])
            for row in self.lookup.rows(
                partition,
                "SELECT DISTINCT c.claim_id, c.value FROM claims c JOIN namespaces n ON n.ns = c.ns"
                " JOIN beliefs b ON b.claim = c.seq WHERE n.name = ? AND c.value IS NOT NULL",
                namespace,
            )
        ]

    def events(self) -> list[Event]:
        found: list[Event] = []
        for partition in range(PARTITIONS):
            seq = 0
            while events := self.log.read(partition, after=seq, limit=1_000):
                seq = events[-1].position.seq
                found += events
        return found

    def settled(self) -> bool:
        """Nothing is being read, folded, embedded or owed any more."""
        heads = {p: self.log.head(p) for p in range(PARTITIONS)}
        lookups = [Lookup(lambda folder=folder: folder) for folder in self.following]  # type: ignore[misc]
        return (
            all(self.outbox.checkpoint(p).seq == head for p, head in heads.items())
            and not sum(self.outbox.counts().values())
            and all(lookup.checkpoint(p) == head for lookup in lookups for p, head in heads.items())
            and not any(self.kept.owed(p) for p in heads)
        )

    def settle(self, *, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not self.settled():
            assert time.monotonic() < end, (self.outbox.counts(), [self.kept.owed(p) for p in range(PARTITIONS)])
            time.sleep(0.02)
