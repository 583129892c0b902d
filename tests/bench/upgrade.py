"""Another extractor takes over on given sets, while recalls go on; and goes again.

    python -P -m tests.bench.upgrade FOLDER... [--rate 100] [--page FILE]

FOLDER is a set of `recall-data` form. Its events are imported and read by the rules, a few memories are corrected and
forgotten; then `tests.support.anew` reads everything anew, the difference is written, and the generations are switched
to and fro while questions of the sets are asked at a steady rate. Prints what changed, how many recalls failed, and how
many answers mixed two generations: an answer whose claims are not all of one of them.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import platform
import statistics
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from taishi.projections.store import open_connection
from tests.support.anew import install
from tests.support.running import RunningTaishi

THREADS = 4


def ids_of(home: Path, generation: int) -> set[str]:
    """Of all claims that a generation has."""
    found: set[str] = set()
    for path in (home / "models" / f"g{generation}").glob("claims-p*.db"):
        connection = open_connection(path, read_only=True)
        found |= {row[0] for row in connection.execute("SELECT claim_id FROM claims")}
        connection.close()
    return found


class Load:
    """Recalls at a steady rate from a few clients, until `stop`."""

    def __init__(self, url: str, questions: list[tuple[str, str]], rate: float) -> None:
        self.answers: list[set[str]] = []
        self.seconds: list[float] = []
        self.failed: list[str] = []
        self._url, self._questions, self._pause = url, itertools.cycle(questions), THREADS / rate
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._pool = ThreadPoolExecutor(THREADS)
        self._running = [self._pool.submit(self._run) for _ in range(THREADS)]

    def _run(self) -> None:
        with httpx.Client(base_url=self._url, timeout=60) as client:
            due = time.perf_counter()
            while not self._stop.is_set():
                due = max(due + self._pause, time.perf_counter() - 1)
                time.sleep(max(0.0, due - time.perf_counter()))
                with self._lock:
                    namespace, query = next(self._questions)
                began = time.perf_counter()
                reply = client.post("/v1/recall", json={"namespace": namespace, "query": query[:2000]})
                self.seconds.append(time.perf_counter() - began)
                if reply.status_code == 200:
                    self.answers.append({i["id"] for i in reply.json()["items"] if i["kind"] == "claim"})
                else:
                    self.failed.append(reply.text[:200])

    def stop(self) -> None:
        self._stop.set()
        for one in self._running:
            one.result()


def rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def told(taishi: RunningTaishi, *arguments: str) -> dict[str, Any]:
    done = taishi.cli(*arguments, "--json", seconds=3600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    reply: dict[str, Any] = json.loads(done.stdout)
    return reply


def disturb(taishi: RunningTaishi, namespaces: list[str]) -> tuple[int, int]:
    """Corrects the newest and forgets the oldest current memory of each namespace. How many of each."""
    corrected = forgotten = 0
    for namespace in namespaces:
        asked = {"namespace": namespace, "limit": 50, "status": "current"}
        reply = httpx.get(f"{taishi.read}/v1/memories", params=asked, timeout=60)
        items = reply.json()["items"]
        if len(items) >= 2:
            done = taishi.cli("correct", items[0]["id"], "--value", "something else", "-n", namespace)
            corrected += done.returncode == 0
            forgotten += taishi.cli("forget", items[-1]["id"], "-n", namespace).returncode == 0
    return corrected, forgotten


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folders", type=Path, nargs="+")
    ap.add_argument("--rate", type=float, default=100)
    ap.add_argument("--switches", type=int, default=10)
    ap.add_argument("--page", type=Path)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory(prefix="upgrade-") as folder:
        os.environ.update(install(Path(folder) / "site"))
        taishi = RunningTaishi(
            Path(folder) / "home", "--no-story", embedder="off", extractor_plugins='["anew"]', rq_workers="2"
        ).wait_until_up()
        try:
            run(taishi, args)
        finally:
            taishi.stop()


def run(taishi: RunningTaishi, args: argparse.Namespace) -> None:
    questions: list[tuple[str, str]] = []
    namespaces: set[str] = set()
    for folder in args.folders:
        told(taishi, "import", str(folder / "events.jsonl.gz"))
        questions += [(q["namespace"], q["text"]) for q in rows(folder / "questions.jsonl.gz")]
        namespaces |= {event["namespace"] for event in rows(folder / "events.jsonl.gz")}
    for namespace in namespaces:
        taishi.settle(namespace, seconds=3600)
    corrected, forgotten = disturb(taishi, sorted(namespaces)[:10])
    began = time.perf_counter()
    told(taishi, "rebuild", "--extractor", "anew")
    print(f"read anew and built in {time.perf_counter() - began:.0f} s ({corrected} corrected, {forgotten} forgotten)")
    page = args.page or taishi.home / "diff.html"
    found = told(taishi, "diff", "1", "2", "--page", str(page), "--most", "1000000")
    counts = found["claims"]
    wanted = counts["lost"] + counts["gained"] + counts["changed"]
    print(f"diff: {counts}, {len(found['changes'])} of {wanted} changes named, {len(found['unbound'])} unbound,"
          f" {found['tombstones']['checked']} tombstones, {len(found['tombstones']['readable'])} readable")  # fmt: skip
    load = Load(taishi.read, questions, args.rate)
    took = []
    began = time.perf_counter()
    for number in range(args.switches):
        time.sleep(1)
        begun = time.perf_counter()
        told(taishi, *(("activate", "2", "--force") if number % 2 == 0 else ("rollback",)))
        took.append(time.perf_counter() - begun)
    time.sleep(1)
    load.stop()
    seconds = time.perf_counter() - began
    one, other = ids_of(taishi.home, 1), ids_of(taishi.home, 2)
    mixed = [ids for ids in load.answers if not (ids <= one or ids <= other)]
    p95 = sorted(load.seconds)[int(0.95 * (len(load.seconds) - 1))]
    print(f"{args.switches} switches ({statistics.median(took):.1f} s a command) under"
          f" {len(load.seconds) / seconds:.0f} recalls/s: {len(load.failed)} failed, {len(mixed)} mixed of"
          f" {len(load.answers)},"
          f" p50 {statistics.median(load.seconds) * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms")  # fmt: skip
    print(f"{platform.machine()}, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
