"""Reading all words anew: how long the rules take for a long history, through keeper, queue and two workers.

    python -P -m tests.bench.rereading [--messages 200000]

The messages are appended in process; then a keeper of a generation of its own hands them out and two worker processes
read them, until no window waits. Prints messages a second, and how many claims came of them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import resource
import tempfile
import time
from pathlib import Path

from taishi.deploy.event_log import open_keys, open_log
from taishi.deploy.settings import Settings, load_settings
from taishi.ingest.extraction import Extraction
from taishi.ingest.keeper import Keeper
from taishi.ingest.ledger import Ledger
from taishi.ingest.outbox import Outbox
from taishi.ingest.registry import default_registry
from taishi.ingest.rq_jobs import REREADING, RqJobQueue, run_worker
from taishi.ingest.rules import RulesExtractor
from taishi.ingest.slots import Fingerprints
from tests.bench.history import HistoryWriter
from tests.support.valkey_server import ValkeyServer

GENERATION = 2
WORKERS = 2


def work(settings: Settings) -> None:
    keys = open_keys(settings)
    extraction = Extraction(
        open_log(settings, keys),
        RulesExtractor(),
        default_registry(),
        Fingerprints(keys.secret("fingerprint")),
        generation=GENERATION,
    )
    assert settings.jobs_url is not None
    run_worker(lambda _: extraction, settings.jobs_url)


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--messages", type=int, default=200_000)
    args = ap.parse_args()
    server = ValkeyServer().start()
    workers: list[multiprocessing.Process] = []
    try:
        with tempfile.TemporaryDirectory(prefix="rereading-") as home:
            settings = load_settings(home=Path(home), redis_url=f"{server.url}?db=0", jobs_url=f"{server.url}?db=1")
            keys = open_keys(settings)
            log = open_log(settings, keys)
            messages = max(HistoryWriter(log, keys, events=args.messages, raw=True).write())
            outbox = Outbox(Path(home) / "e2.db", generation=GENERATION)
            queue = RqJobQueue(settings.jobs_url or "", name=REREADING)
            ledger = Ledger(Path(home) / "ledger.jsonl", keys.secret("ledger"))
            keeper = Keeper(log, keys, outbox, queue, ledger=ledger, generation=GENERATION)
            heads = {p: log.head(p) for p in range(log.partitions)}
            began, before = time.perf_counter(), time.process_time()
            for _ in range(WORKERS):
                workers.append(multiprocessing.get_context("spawn").Process(target=work, args=(settings,)))
                workers[-1].start()
            while not all(
                outbox.checkpoint(p).seq >= heads[p] and outbox.oldest(p) is None for p in range(log.partitions)
            ):
                if not keeper.step():
                    time.sleep(0.01)
            took = time.perf_counter() - began
            appended = sum(log.head(p) for p in range(log.partitions)) - messages
            outbox.dispose()
    finally:
        for worker in workers:
            worker.terminate()
            worker.join(30)
        server.stop()
    print(f"{messages:,} messages read anew in {took:.0f} s ({messages / took:,.0f}/s with {WORKERS} workers),"
          f" {appended - messages:,} claims")  # fmt: skip
    own, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processor seconds: workers and server {theirs.ru_utime + theirs.ru_stime:.0f},"
          f" keeper {own.ru_utime + own.ru_stime - before:.0f}")  # fmt: skip
    print(f"{platform.machine()}, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
