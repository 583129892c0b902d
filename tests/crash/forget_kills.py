"""kill -9 inside forget: at the named points between tombstone, keys, ledger and pages, and at random moments.

    python -P -m tests.crash.forget_kills [--each-point 5] [--random 20] [--seed N]

A caller that gets no reply asks again, as an honest client does: it is told 410 where the first try had reached the
log. At the end nothing that was forgotten may be left anywhere, and every receipt that was ever given must be provable.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from taishi.ingest.crashpoints import FORGETTING_POINTS
from taishi.ingest.ledger import Ledger, LedgerEntry
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from tests.crash.kills import until_in_service
from tests.crash.load import read_log
from tests.support.canaries import canaries, files_of, found_in, found_in_indexes
from tests.support.running import RunningTaishi

NAMESPACES = ("f-1", "f-2", "f-3")
KILLED = ("write", "projector", "keeper", "vectors", "server")


class Forgetter:
    """Tells something and has it forgotten again, over and over, until `stop`; each time something of its own."""

    def __init__(self, taishi: RunningTaishi, *, seed: int, late: bool) -> None:
        self._taishi = taishi
        self._rng = random.Random(seed)
        self._late = late
        self._names = iter(canaries(400, seed))
        self.gone: list[tuple[str, str]] = []
        self.kept: list[tuple[str, str]] = []
        self.receipts: list[dict[str, Any]] = []
        self.told_gone = 0
        self._said = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> Forgetter:
        self._thread.start()
        return self

    def stop(self) -> None:
        """What was begun is finished first."""
        self._stop.set()
        self._thread.join(timeout=90)
        assert not self._thread.is_alive(), "a forget was never answered"

    def _run(self) -> None:
        with httpx.Client(base_url=self._taishi.write, timeout=15) as http:
            while not self._stop.is_set():
                self._one(http, next(self._names), next(self._names))

    def _one(self, http: httpx.Client, name: str, other: str) -> None:
        namespace = self._rng.choice(NAMESPACES)
        body = {"namespace": namespace, "subject": "user", "predicate": "likes", "value": name}
        claim = self._until(lambda: http.post("/v1/memories", json=body))["memory_id"]
        says = "我喜欢{}。" if not name.isascii() else "I like {}."
        self._say(http, namespace, says.format(other))
        self.kept.append((namespace, other))
        worker = self._idle_worker() if self._late else None
        if worker is not None:
            os.kill(worker, signal.SIGSTOP)
        self._say(http, namespace, says.format(name))
        try:
            reply = self._until(lambda: http.delete(f"/v1/memories/{claim}", params={"namespace": namespace}))
        finally:
            if worker is not None:
                os.kill(worker, signal.SIGCONT)
        self.gone.append((namespace, name))
        if "receipt" in reply:
            self.receipts.append(reply["receipt"])
        else:
            self.told_gone += 1

    def _idle_worker(self) -> int:
        """It has nothing to do: stopped at work it might hold the key store's lock, and everybody would wait for it."""
        for namespace in NAMESPACES:
            self._taishi.settle(namespace, seconds=60)
        return self._taishi.pid("worker-1")

    def _say(self, http: httpx.Client, namespace: str, text: str) -> None:
        self._said += 1
        events = [{"namespace": namespace, "content": text, "session": f"s{self._said}"}]
        self._until(lambda: http.post("/v1/events", json={"events": events}))

    def _until(self, call: Any) -> dict[str, Any]:
        end = time.monotonic() + 60
        while True:
            assert time.monotonic() < end, "not answered within a minute"
            try:
                reply = call()
            except httpx.HTTPError:
                time.sleep(0.02)
                continue
            if reply.status_code == 503:
                time.sleep(0.05)
                continue
            assert reply.is_success or reply.status_code == 410, reply.text
            return dict(reply.json())


def judge(taishi: RunningTaishi, forgetter: Forgetter) -> dict[str, object]:
    for namespace in NAMESPACES:
        taishi.settle(namespace, seconds=60)
    time.sleep(1.5)  # what is owed is paid by the keeper's next sweep
    for namespace in NAMESPACES:
        taishi.settle(namespace, seconds=60)
    keys = SqlAlchemyKeyStore(f"sqlite:///{taishi.home / 'keys' / 'keys.db'}")
    ledger = Ledger(taishi.home / "keys" / "ledger.jsonl", keys.secret("ledger"))
    log = read_log(taishi.home, taishi.log_url)
    events = [event for found in log.values() for event in found]
    tombstones = [event for event in events if event.type.endswith(".forgotten")]
    assert set(ledger.entries()) == {LedgerEntry.of(event) for event in tombstones}, "the ledger is not the log's"
    named = {key for event in tombstones for key in event.facts["keys"]}
    assert not any(keys.keys(named).values()), "a key survived its tombstone"
    keys.close()
    words = [str(event.body) for event in events if event.body is not None]
    for namespace, name in forgetter.gone:
        assert not any(name in body for body in words), f"{name} of {namespace} can still be read"
    names = [name for _, name in forgetter.gone]
    models = [path for path in files_of(taishi.home / "models") if path.suffix == ".db"]
    left = (found_in(files_of(taishi.home), names), found_in_indexes(models, names))
    assert left == ({}, {}), left
    for receipt in forgetter.receipts:
        proof = httpx.post(f"{taishi.write}/v1/forget/verify", json={"receipt": receipt}, timeout=30).json()
        assert proof["proved"], (receipt, proof)
    with httpx.Client(base_url=taishi.read, timeout=10) as http:
        for namespace, name in forgetter.kept[-20:]:
            found = http.post("/v1/recall", json={"namespace": namespace, "query": name, "limit": 3}).json()
            assert any(name in item["text"] for item in found["items"]), f"{name} was kept, and is lost"
    return {
        "forgotten": len(forgetter.gone),
        "receipts, all proved": len(forgetter.receipts),
        "answered 410 at the second try": forgetter.told_gone,
        "tombstones": len(tombstones),
        "late ones": sum(1 for event in tombstones if event.facts["kind"] == "late"),
    }


def point_kills(folder: Path, point: str, *, count: int, seed: int) -> dict[str, object]:
    deaths = folder / "deaths"
    deaths.touch()
    taishi = RunningTaishi(
        folder / "home", "--no-story", embedder="hashed", crash_point=f"{point}:2:{count}", crash_file=str(deaths)
    ).wait_until_up()
    forgetter = Forgetter(taishi, seed=seed, late=point == "owed").start()
    try:
        end = time.monotonic() + 30 + 20 * count  # the supervisor starts what dies often later and later
        while (hits := len(deaths.read_text().splitlines())) < count and time.monotonic() < end:
            time.sleep(0.05)
        until_in_service(taishi)
        forgetter.stop()
        found = judge(taishi, forgetter)
    finally:
        taishi.stop()
    assert hits >= count, f"{point} was hit {hits} times, not {count}"
    return {**found, "hits": hits}


def random_kills(folder: Path, *, count: int, seed: int) -> dict[str, object]:
    rng = random.Random(seed)
    taishi = RunningTaishi(folder / "home", "--no-story", embedder="hashed").wait_until_up()
    forgetter = Forgetter(taishi, seed=seed, late=False).start()
    try:
        for number in range(count):
            time.sleep(rng.uniform(0.05, 0.6))
            name = KILLED[number % len(KILLED)]
            pid = taishi.kill(name)
            taishi.pid(name, other_than=pid)
            until_in_service(taishi)
        forgetter.stop()
        found = judge(taishi, forgetter)
    finally:
        taishi.stop()
    return {**found, "kills": count}


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--each-point", type=int, default=5)
    ap.add_argument("--random", type=int, default=20)
    ap.add_argument("--seed", type=int, default=int(time.time()))
    args = ap.parse_args()
    print(f"seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="taishi-") as folder:
        for point in FORGETTING_POINTS if args.each_point else ():
            (Path(folder) / point).mkdir()
            print(point, point_kills(Path(folder) / point, point, count=args.each_point, seed=args.seed), flush=True)
        if args.random:
            (Path(folder) / "random").mkdir()
            print("random", random_kills(Path(folder) / "random", count=args.random, seed=args.seed), flush=True)


if __name__ == "__main__":
    main()
