"""Another extractor takes over on given sets, while recalls go on; and goes again.

    python -P -m tests.bench.upgrade FOLDER... [--rate 100] [--page FILE]

FOLDER is a set of `recall-data` form. Its events are imported and read by the rules, a few memories are corrected and
forgotten; then `tests.support.anew` reads everything anew, the difference is written, and the generations are switched
to and fro while questions arrive at a fixed rate, one of each set in turn. Prints what changed, how many recalls
failed, how long they took (from when they were due), and how many answers mixed two generations: an answer whose claims
are not all of one of them.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import itertools
import json
import os
import platform
import queue
import random
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from taishi.projections.store import open_connection
from tests.support.anew import install
from tests.support.running import RunningTaishi

CLIENTS = 32
AFTER = 1.0
"""Seconds after a switch that are looked at by themselves."""


def ids_of(home: Path, generation: int) -> set[str]:
    """Of all claims that a generation has."""
    found: set[str] = set()
    for path in (home / "models" / f"g{generation}").glob("claims-p*.db"):
        connection = open_connection(path, read_only=True)
        found |= {row[0] for row in connection.execute("SELECT claim_id FROM claims")}
        connection.close()
    return found


@dataclass(frozen=True, slots=True)
class Answer:
    """`due`: when it was to be asked, on the clock of `perf_counter`; `seconds` from then until it was answered, also
    those that it waited for a free client. `claims` None: it failed, with `error`."""

    due: float
    seconds: float
    claims: frozenset[str] | None
    error: str = ""


def processor_seconds(taishi: RunningTaishi) -> float:
    """What the processes that answer have used of a core so far."""
    ticks = 0
    for name in ("read", "read-2"):
        fields = Path(f"/proc/{taishi.pid(name)}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Load:
    """Recalls that arrive at a fixed rate whether or not earlier ones are answered (an open loop), until `stop`."""

    def __init__(self, url: str, questions: Iterator[tuple[str, str]], rate: float) -> None:
        self.answers: list[Answer] = []
        self.arrived = 0
        where = httpx.URL(url)
        self._address = (str(where.host), int(where.port or 80))
        self._questions, self._rate = questions, rate
        self._waiting: queue.SimpleQueue[tuple[float, bytes] | None] = queue.SimpleQueue()
        self._ended = threading.Event()
        self.began = time.perf_counter()
        self._threads = [threading.Thread(target=self._ask, daemon=True) for _ in range(CLIENTS)]
        self._threads.append(threading.Thread(target=self._arrive, daemon=True))
        for thread in self._threads:
            thread.start()

    def _arrive(self) -> None:
        for number in itertools.count():
            due = self.began + number / self._rate
            time.sleep(max(0.0, due - time.perf_counter()))
            if self._ended.is_set():
                break
            self.arrived = number + 1
            namespace, query = next(self._questions)
            self._waiting.put((due, json.dumps({"namespace": namespace, "query": query[:2000]}).encode()))
        for _ in range(CLIENTS):
            self._waiting.put(None)

    def _ask(self) -> None:
        link = http.client.HTTPConnection(*self._address, timeout=60)
        while (asked := self._waiting.get()) is not None and not self._ended.is_set():
            due, body = asked
            try:
                link.request("POST", "/v1/recall", body, {"Content-Type": "application/json"})
                reply = link.getresponse()
                text = reply.read()
                seconds = time.perf_counter() - due
            except (OSError, http.client.HTTPException) as problem:
                link.close()
                self.answers.append(Answer(due, time.perf_counter() - due, None, repr(problem)))
                continue
            if reply.status == 200:
                shown = frozenset(i["id"] for i in json.loads(text)["items"] if i["kind"] == "claim")
                self.answers.append(Answer(due, seconds, shown))
            else:
                self.answers.append(Answer(due, seconds, None, text[:200].decode("utf-8", "replace")))
        link.close()

    def stop(self) -> float:
        """How many were answered a second since it began. What still waits for a client is not asked any more."""
        self._ended.set()
        seconds = time.perf_counter() - self.began
        for thread in self._threads:
            thread.join()
        return len(self.answers) / seconds


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
    ap.add_argument("--alone", type=float, default=10, help="seconds of recalls before the first switch")
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
    sets: list[list[tuple[str, str]]] = []
    namespaces: set[str] = set()
    for folder in args.folders:
        told(taishi, "import", str(folder / "events.jsonl.gz"))
        sets.append([(q["namespace"], q["text"]) for q in rows(folder / "questions.jsonl.gz")])
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
    named = len(re.findall(r"<td class=(?:lost|gained|changed)>", page.read_text("utf-8")))
    print(f"diff: {counts}, the page names {named} of {wanted} changes, {len(found['unbound'])} unbound,"
          f" {found['tombstones']['checked']} tombstones, {len(found['tombstones']['readable'])} readable")  # fmt: skip
    for questions in sets:
        random.Random(3).shuffle(questions)
    in_turn = itertools.chain.from_iterable(zip(*map(itertools.cycle, sets), strict=True))
    worked = processor_seconds(taishi)
    load = Load(taishi.read, in_turn, args.rate)
    time.sleep(args.alone)
    switching = time.perf_counter()
    commands, switches = [], []
    for number in range(args.switches):
        begun = time.perf_counter()
        told(taishi, *(("activate", "2", "--force") if number % 2 == 0 else ("rollback",)))
        switches.append(time.perf_counter())
        commands.append(switches[-1] - begun)
        time.sleep(1)
    rate = load.stop()
    worked = (processor_seconds(taishi) - worked) / len(load.answers)
    one, other = ids_of(taishi.home, 1), ids_of(taishi.home, 2)
    given = [answer for answer in load.answers if answer.claims is not None]
    failed = [answer for answer in load.answers if answer.claims is None]
    mixed = [a for a in given if a.claims is not None and not (a.claims <= one or a.claims <= other)]
    print(f"{args.switches} switches ({statistics.median(commands):.1f} s a command) under {rate:.1f} recalls/s of"
          f" {args.rate:.0f}: {len(failed)} failed, {len(mixed)} mixed of {len(load.answers)},"
          f" {load.arrived - len(load.answers)} not asked in time, {worked * 1000:.1f} ms of a core each")  # fmt: skip
    after = [a for a in given if any(at - 0.2 <= a.due < at + AFTER for at in switches)]
    those = {
        "before any command": [a for a in given if a.due < switching],
        "while a command runs": [a for a in given if a.due >= switching and a not in after],
        f"in the {AFTER:.0f} s after a switch": after,
    }
    for name, some in those.items():
        took = sorted(a.seconds * 1000 for a in some)
        high = took[int(0.95 * (len(took) - 1))]
        print(f"{name}: {len(took)}, p50 {statistics.median(took):.0f} ms, p95 {high:.0f} ms, worst {took[-1]:.0f} ms")
    for answer in failed[:3]:
        print(f"failed: {answer.error}")
    print(f"{platform.machine()}, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
