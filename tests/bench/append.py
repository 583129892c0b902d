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


def rate(events: int, work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return events / (time.perf_counter() - started)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--events", type=int, default=10_000)
    options.add_argument("--durability", choices=["everysec", "always"], default="everysec")
    given = options.parse_args()
    server = ValkeyServer("--appendfsync", given.durability).start()
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as home:
        keys = SqlAlchemyKeyStore(f"sqlite:///{Path(home)}/keys.db")
        log = ValkeyLog(server.url, keys=keys, durability=given.durability)
        link = ValkeyLink(server.url)
        client = server.client()
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
            found.setdefault("append", []).append(rate(given.events, lambda work=work: append(work)))
            found.setdefault("read", []).append(rate(given.events, read))
            work = batches(given.events)
            found.setdefault("append, 5 batches an exchange", []).append(
                rate(given.events, lambda work=work: append_together(work))
            )
            found.setdefault("bare XADD, redis-py", []).append(rate(given.events, bare_client))
            found.setdefault("bare XADD, encoded before", []).append(rate(given.events, bare_encoded))
    server.stop()
    cpu = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    print(
        f"{platform.platform()}, {cpu[1] if cpu else '?'}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"fsync {given.durability}"
    )
    for name, rates in found.items():
        print(f"{name:32} {statistics.median(rates):>9,.0f}/s   (from {min(rates):,.0f} to {max(rates):,.0f})")
    ratios = {
        name: statistics.median(a / b for a, b in zip(found["append"], found[name]))
        for name in ("bare XADD, redis-py", "bare XADD, encoded before")
    }
    for name, ratio in ratios.items():
        print(f"append ÷ {name}: {ratio:.0%}")
    return 0 if ratios["bare XADD, redis-py"] >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
