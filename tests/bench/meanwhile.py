"""What a rebuild costs those who use the live side meanwhile: appends and recalls before it and during it.

    python -P -m tests.bench.meanwhile [--events 200000] [--rate 20] [--seconds 20]

Starts a Taishi, gives it a made-up history, then posts messages and asks questions at a steady rate, first alone, then
while a generation is built. Prints p50 and p95 of both, of both times.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from taishi.deploy.event_log import open_keys, open_log
from taishi.deploy.generations import Generations
from taishi.deploy.settings import load_settings
from taishi.projections.lookup import Lookup
from tests.bench.history import HistoryWriter
from tests.support.running import RunningTaishi

QUESTIONS = ("Where does speaker 3 live?", "你住在哪里？", "What does speaker 7 like?", "谁喜欢咖啡？", "Who moved?")


class Steady:
    """Calls `once` at a steady rate until `done`, on a thread of its own; keeps how long each call took."""

    def __init__(self, once: Callable[[], None], rate: float) -> None:
        self.seconds: list[float] = []
        self._once, self._pause = once, 1 / rate
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        due = time.perf_counter()
        while not self._stop.is_set():
            due = max(due + self._pause, time.perf_counter() - 1)
            time.sleep(max(0.0, due - time.perf_counter()))
            began = time.perf_counter()
            self._once()
            self.seconds.append(time.perf_counter() - began)

    def done(self) -> list[float]:
        self._stop.set()
        self._thread.join()
        return sorted(self.seconds)


def measured(taishi: RunningTaishi, rate: float, busy: Callable[[], bool]) -> dict[str, list[float]]:
    asked = itertools.cycle(QUESTIONS)
    write, read = (httpx.Client(base_url=url, timeout=60) for url in (taishi.write, taishi.read))
    with write, read:

        def append() -> None:
            events = [{"namespace": "tenant-1", "content": "I had noodles for lunch."}]
            write.post("/v1/events", json={"events": events}).raise_for_status()

        def recall() -> None:
            read.post("/v1/recall", json={"namespace": "tenant-0", "query": next(asked)}).raise_for_status()

        sides = {"append": Steady(append, rate), "recall": Steady(recall, rate)}
        while busy():
            time.sleep(0.1)
        return {name: side.done() for name, side in sides.items()}


def p95(seconds: list[float]) -> float:
    return seconds[int(0.95 * (len(seconds) - 1))]


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--events", type=int, default=200_000)
    ap.add_argument("--rate", type=float, default=20)
    ap.add_argument("--seconds", type=float, default=20)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory(prefix="meanwhile-") as folder:
        taishi = RunningTaishi(Path(folder), "--no-story", embedder="off").wait_until_up()
        try:
            run(taishi, args)
        finally:
            taishi.stop()
    print(f"{platform.machine()}, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}")


def run(taishi: RunningTaishi, args: argparse.Namespace) -> None:
    settings = load_settings(home=taishi.home)
    keys = open_keys(settings)
    log = open_log(settings, keys)
    total = max(HistoryWriter(log, keys, events=args.events).write())
    generations = Generations(taishi.home)
    live = Lookup(lambda: taishi.home / "models" / generations.read().live.name)
    while sum(log.head(p) - live.checkpoint(p) for p in range(log.partitions)):
        time.sleep(0.2)
    until = time.perf_counter() + args.seconds
    alone = measured(taishi, args.rate, lambda: time.perf_counter() < until)
    began = time.perf_counter()
    done = taishi.cli("rebuild", "--detach")
    assert done.returncode == 0, done.stderr
    meanwhile = measured(taishi, args.rate, lambda: generations.read().generation(2).state == "building")
    took = time.perf_counter() - began
    assert generations.read().generation(2).state == "ready"
    print(f"{total:,} events rebuilt in {took:.0f} s ({total / took:,.0f}/s) beside {args.rate:.0f} appends and"
          " recalls/s")  # fmt: skip
    for name, before in alone.items():
        after = meanwhile[name]
        middle = [statistics.median(side) * 1000 for side in (before, after)]
        high = [p95(side) * 1000 for side in (before, after)]
        print(f"{name}: p50 {middle[0]:.1f} → {middle[1]:.1f} ms, p95 {high[0]:.1f} → {high[1]:.1f} ms"
              f" ({high[1] / high[0]:.2f} times)")  # fmt: skip


if __name__ == "__main__":
    main()
