"""A scripted load on a running Taishi, and the judgement of what it left behind.

Writers post messages under ids of their own and try again under the same id until they are told 202, as an honest
client does. What was told 202 is *acknowledged*, and the log must hold it once.
"""

from __future__ import annotations

import collections
import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import httpx

from taishi.ingest.archive import Archive
from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.envelope import RAW_TYPES, Event
from taishi.ingest.ids import IdSource
from taishi.ingest.signatures import Signer
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.projections.analysis import Analyzer
from taishi.projections.digest import content_digest
from taishi.projections.store import ReadModelFile, open_connection
from taishi.projections.worker import model_path

_PLACES = "Arvik Belmor Cintra Dorval Esker Fenwick Galtara Holm Ivrea Jorvik 云浦 海棠湾 南屏 青岚 白鹭洲".split()
_THINGS = "oolong sailing chess 爬山 围棋 pottery jazz 陶艺 kites 露营".split()


def sentence(rng: random.Random, number: int) -> str:
    place, thing = rng.choice(_PLACES), rng.choice(_THINGS)
    return rng.choice(
        [
            f"I moved to {place} in year {number}.",
            f"I live in {place}.",
            f"我搬到{place}住了。",
            f"I like {thing}.",
            f"我不再喜欢{thing}了。",
            f"Note {number}: nothing much happened near {place}.",
        ]
    )


@dataclass
class Load:
    """`writers` threads over `namespaces`, each writer one request at a time, until `stop`."""

    write: str
    namespaces: list[str]
    writers: int = 3
    seed: int = 1
    pause: float = 0.01
    acknowledged: dict[tuple[str, str], str] = field(default_factory=dict)
    tried: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(n,), daemon=True) for n in range(self.writers)]

    def start(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def stop(self) -> None:
        """Every writer first gets its last request acknowledged."""
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=60)
            assert not thread.is_alive(), "a request was never acknowledged"

    def _run(self, writer: int) -> None:
        rng, ids, number = random.Random(f"{self.seed}-{writer}"), IdSource(), 0
        with httpx.Client(base_url=self.write, timeout=10) as client:
            while not self._stop.is_set():
                namespace = rng.choice(self.namespaces)
                events = []
                for _ in range(rng.choice([1, 1, 1, 5])):
                    number += 1
                    event_id = ids.next()
                    self.tried.add((namespace, event_id))
                    text = sentence(rng, number)
                    events.append(
                        {"namespace": namespace, "content": text, "event_id": event_id, "session": f"w{writer}"}
                    )
                self._post(client, namespace, events)
                time.sleep(self.pause)

    def _post(self, client: httpx.Client, namespace: str, events: list[dict[str, str]]) -> None:
        while True:
            try:
                reply = client.post("/v1/events", json={"events": events})
            except httpx.HTTPError:
                time.sleep(0.02)
                continue
            if reply.status_code == 503:
                time.sleep(0.05)
                continue
            assert reply.status_code == 202, reply.text
            with self._lock:
                for told in reply.json()["accepted"]:
                    self.acknowledged[namespace, told["event_id"]] = told["position"]
            return


def read_log(home: Path, url: str, partitions: int = 4) -> dict[int, list[Event]]:
    keys = SqlAlchemyKeyStore(f"sqlite:///{home / 'keys' / 'keys.db'}")
    log = ArchivedLog(url, keys=keys, archive=Archive(home / "archive", Signer.of(keys)), partitions=partitions)
    events: dict[int, list[Event]] = {p: [] for p in range(partitions)}
    for p, found in events.items():
        while batch := log.read(p, after=len(found), limit=2_000):
            found += batch
    log.close()
    keys.close()
    return events


@contextmanager
def models_as_they_are(home: Path, partitions: int = 4) -> Iterator[dict[int, apsw.Connection]]:
    """The live read models, each held in the state it has now: upkeep goes on, and sealing appends events."""
    paths = {p: path for p in range(partitions) if (path := model_path(home / "models" / "g1", p)).exists()}
    with ExitStack() as stack:
        held = {p: stack.enter_context(closing(open_connection(path, read_only=True))) for p, path in paths.items()}
        for connection in held.values():
            connection.execute("BEGIN")
            connection.execute("SELECT seq FROM checkpoint").fetchall()
        yield held


def judge(
    models: dict[int, apsw.Connection], events: dict[int, list[Event]], load: Load, scratch: Path
) -> dict[str, int]:
    """Counts, after everything settled. Raises AssertionError on the first promise that was not kept."""
    stored: collections.Counter[tuple[str, str]] = collections.Counter()
    places: dict[tuple[str, str], str] = {}
    closed: collections.Counter[tuple[str, str]] = collections.Counter()
    claims: collections.Counter[tuple[str, str]] = collections.Counter()
    for found in events.values():
        for event in found:
            key = (event.namespace, event.event_id)
            stored[key] += 1
            places[key] = str(event.position)
            if event.type == "extraction.completed":
                closed.update((event.namespace, e) for e in event.facts["events"])
            if event.type == "claim.extracted":
                claims[event.namespace, event.facts["claim"]["claim_id"]] += 1
    lost = [key for key in load.acknowledged if not stored[key]]
    assert not lost, f"{len(lost)} acknowledged events are not in the log"
    assert all(places[key] == told for key, told in load.acknowledged.items()), "a position was told that is another's"
    assert max(stored.values(), default=0) <= 1, "an event is in the log twice"
    raw = [key for key in stored if key in load.tried]
    not_once = {key: closed[key] for key in raw if closed[key] != 1}
    assert not not_once, f"windows that were not closed once: {not_once}"
    assert max(claims.values(), default=0) <= 1, "a claim was read into the log twice"
    for p, found in events.items():
        if found:
            seq = assert_equals_replay(models[p], found, scratch / f"replay-{p}.db")
            assert not any((e.namespace, e.event_id) in load.acknowledged for e in found[seq:]), "settled, and not read"
    return {
        "acknowledged": len(load.acknowledged),
        "stored": sum(1 for found in events.values() for e in found if e.type in RAW_TYPES),
        "claims": sum(claims.values()),
        "events": sum(map(len, events.values())),
    }


def assert_equals_replay(live: apsw.Connection, events: list[Event], scratch: Path) -> int:
    """How many events it has read: what they make of a new file is what it is."""
    seq: int = live.execute("SELECT seq FROM checkpoint").get
    replayed = ReadModelFile(scratch, Analyzer())
    for start in range(0, seq, 333):
        replayed.apply(events[start : min(start + 333, seq)], stop_at_poison=True)
    assert content_digest(live) == replayed.digest(), f"{live.filename} differs from a clean replay"
    replayed.close()
    return seq
