"""How soon after the 202 a message is recallable verbatim, and a stated memory with its vector, at a steady rate.

    python -P -m tests.bench.visible [--rate 20] [--seconds 30]

Starts a Taishi of its own. Each write is one request with a word of its own; then the read side is polled until the
word is recalled (for a memory: until its vector counts among what was searched, told by the status). Prints the
median and p95 of the time from the 202 to the reply that shows it.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
import threading
import time
from pathlib import Path

import httpx

from tests.support.running import RunningTaishi

WORDS = [a + b + c for a in "bdfgklm" for b in ("aro", "evi", "ilu", "opa") for c in ("nd", "sk", "rt", "x", "mb")]


def told(name: str, seconds: list[float]) -> str:
    seconds.sort()
    p95 = seconds[int(0.95 * (len(seconds) - 1))]
    return f"{name}: p50 {statistics.median(seconds) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms, {len(seconds)} writes"


class Writer(threading.Thread):
    """Posts at a steady rate; `follow(number, position)` times what came of it, on this thread's own connections."""

    def __init__(self, taishi: RunningTaishi, namespace: str, rate: float, count: int) -> None:
        super().__init__()
        self.namespace, self.count, self.pause = namespace, count, 1 / rate
        self.write = httpx.Client(base_url=taishi.write, timeout=30)
        self.read = httpx.Client(base_url=taishi.read, timeout=30)
        self.took: list[float] = []

    def run(self) -> None:
        due = time.monotonic()
        for number in range(self.count):
            time.sleep(max(0.0, due - time.monotonic()))
            due += self.pause
            self.one(number)

    def one(self, number: int) -> None:
        raise NotImplementedError


class Messages(Writer):
    def one(self, number: int) -> None:
        word = f"{WORDS[number % len(WORDS)]}{number}"
        event = {"namespace": self.namespace, "content": f"The crate marked {word} stands by the east door."}
        self.write.post("/v1/events", json={"events": [event]}).raise_for_status()
        begun = time.perf_counter()
        while True:
            asked = {"namespace": self.namespace, "query": word, "limit": 3}
            items = self.read.post("/v1/recall", json=asked).json()["items"]
            if any(word in (item["text"] or "") for item in items):
                break
        self.took.append(time.perf_counter() - begun)


class Memories(Writer):
    def one(self, number: int) -> None:
        value = f"{WORDS[number % len(WORDS)]} street {number}"
        body = {"namespace": self.namespace, "subject": f"guest {number}", "predicate": "lives_in", "value": value}
        self.write.post("/v1/memories", json=body).raise_for_status()
        begun = time.perf_counter()
        while True:
            status = self.read.get("/v1/status", params={"namespace": self.namespace}).json()
            if not status["lag"] and not status["pending_vectors"]:
                break
        self.took.append(time.perf_counter() - begun)


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--rate", type=float, default=20)
    ap.add_argument("--seconds", type=float, default=30)
    args = ap.parse_args()
    count = int(args.rate * args.seconds)
    with tempfile.TemporaryDirectory(prefix="taishi-") as folder:
        taishi = RunningTaishi(Path(folder), "--no-story").wait_until_up()
        try:
            for name, kind in (
                ("message recallable verbatim", Messages),
                ("memory recallable with its vector", Memories),
            ):
                writer = kind(taishi, "visible", args.rate, count)
                writer.start()
                writer.join()
                print(told(name, writer.took), flush=True)
        finally:
            taishi.stop()
    print(f"{args.rate:g} a second, {platform.machine()}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
