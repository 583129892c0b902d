"""How fast the log takes events, against the same server's bare XADD in the same run.

    PYTHONPATH=. .venv/bin/python -P -m tests.bench.append [--rounds 9] [--events 10000]

Batches of 100 events with bodies of 1 KB, encrypted, acknowledged and written, one after the other from one thread of
one process; bare XADD of 1 KB pipelined by 100, once through redis-py (what a program would do), once with commands
encoded beforehand (the server's own pace). The bar is 25% of the former. Rounds take turns; medians are printed.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import redis

from taishi.ingest.envelope import NewEvent
from taishi.ingest.ids import new_id
from taishi.ingest.log import Batch
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_link import ValkeyLink, command
from taishi.ingest.valkey_log import ValkeyLog
from tests.support.valkey_server import ValkeyServer

BAR = 0.25
BATCH = 100
WORDS = (
    "we moved the boiler check to monday because the caretaker is away and the new valve has not arrived yet please "
    "tell everyone on floors three to nine that hot water may be off from eight until noon "
    "明天 停水 请 提前 准备 谢谢 大家"
).split()  # fmt: skip


def text(size: int) -> str:
    words: list[str] = []
    left = size
    while left > 0:
        words.append(random.choice(WORDS) if random.random() < 0.8 else str(random.randrange(10_000)))
        left -= len(words[-1].encode()) + 1
    return " ".join(words)


def message() -> NewEvent:
    return NewEvent(
        event_id=new_id(), type="message.recorded", namespace="bench", session="s1", body={"text": text(1000)}
    )


def batches(events: int) -> list[Batch]:
    return [Batch(events=[message() for _ in range(BATCH)]) for _ in range(events // BATCH)]


class Stopwatch:
    """Rates by the clock, and the processor time of both processes, which other programs do not touch."""

    def __init__(self, client: redis.Redis, events: int) -> None:
        self._client = client
        self._events = events
        self.rates: dict[str, list[float]] = {}
        self.cpu: dict[str, list[float]] = {}

    def time(self, name: str, work: Callable[[], object]) -> None:
        cpu, started = self._cpu(), time.perf_counter()
        work()
        self.rates.setdefault(name, []).append(self._events / (time.perf_counter() - started))
        self.cpu.setdefault(name, []).append((self._cpu() - cpu) / self._events * 1e6)

    def _cpu(self) -> float:
        server = self._client.info("cpu")
        return time.process_time() + server["used_cpu_user_main_thread"] + server["used_cpu_sys_main_thread"]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--events", type=int, default=10_000)
    options.add_argument("--durability", choices=["everysec", "always"], default="everysec")
    given = options.parse_args()
    server = ValkeyServer("--appendfsync", given.durability).start()
    with tempfile.TemporaryDirectory() as home:
        keys = SqlAlchemyKeyStore(f"sqlite:///{Path(home)}/keys.db")
        log = ValkeyLog(server.url, keys=keys, durability=given.durability)
        link = ValkeyLink(server.url)
        client = server.client()
        watch = Stopwatch(client, given.events)
        payload = text(1000).encode()
        packed = command(b"XADD", b"bare", b"*", b"b", payload) * BATCH

        def append(prepared: list[Batch]) -> None:
            for batch in prepared:
                log.append(batch)

        def append_together(prepared: list[Batch]) -> None:
            for at in range(0, len(prepared), 5):
                log.append_many(prepared[at : at + 5])

        def bare_client() -> None:
            for _ in range(given.events // BATCH):
                pipeline = client.pipeline(transaction=False)
                for _ in range(BATCH):
                    pipeline.xadd("bare", {b"b": payload})
                pipeline.execute()

        def bare_encoded() -> None:
            with link.connection() as exchange:
                for _ in range(given.events // BATCH):
                    exchange.send(packed)
                    exchange.replies(BATCH)

        def read() -> None:
            after, partition = 0, log.partition_of("bench")
            while after < given.events:
                after = log.read(partition, after=after)[-1].position.seq

        for _ in range(given.rounds):
            client.flushall()
            work = batches(given.events)
            watch.time("append", lambda work=work: append(work))
            watch.time("read", read)
            work = batches(given.events)
            watch.time("append, 5 batches an exchange", lambda work=work: append_together(work))
            watch.time("bare XADD, redis-py", bare_client)
            watch.time("bare XADD, encoded before", bare_encoded)
    server.stop()
    cpu = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    print(
        f"{platform.platform()}, {cpu[1] if cpu else '?'}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"fsync {given.durability}"
    )
    for name, rates in watch.rates.items():
        print(
            f"{name:32} {statistics.median(rates):>9,.0f}/s   (from {min(rates):,.0f} to {max(rates):,.0f})   "
            f"{statistics.median(watch.cpu[name]):.1f} µs of processor time an event"
        )
    ratios: dict[str, float] = {}
    for name in ("bare XADD, redis-py", "bare XADD, encoded before"):
        ratios[name] = statistics.median(a / b for a, b in zip(watch.rates["append"], watch.rates[name]))
        cpu = statistics.median(b / a for a, b in zip(watch.cpu["append"], watch.cpu[name]))
        print(f"append ÷ {name}: {ratios[name]:.0%} by the clock, {cpu:.0%} by processor time")
    return 0 if ratios["bare XADD, redis-py"] >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
