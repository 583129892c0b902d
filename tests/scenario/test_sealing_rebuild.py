"""Sealing and trimming a log while a generation is built from it and while it is written to, on a running Taishi.

    python -P -m tests.scenario.test_sealing_rebuild [--events 200000]

is the long form.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from taishi.deploy.archiving import read_by_all, sealing
from taishi.deploy.auditing import verify
from taishi.deploy.event_log import opened_log
from taishi.deploy.generations import UNFINISHED, Generations
from taishi.deploy.rebuilding import start_rebuild
from taishi.deploy.settings import Settings, load_settings
from taishi.deploy.verifying import Digest, digests
from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.errors import Unavailable
from taishi.ingest.sealing import Outcome
from tests.bench.history import HistoryWriter
from tests.support.running import RunningTaishi

SECONDS = 240.0


@dataclass(slots=True)
class Told:
    """`meanwhile`: entries that left the server before the build was done; `said`: messages posted since it began."""

    events: int = 0
    meanwhile: int = 0
    said: int = 0
    before: list[Digest] = field(default_factory=list)
    after: list[Digest] = field(default_factory=list)
    flaws: list[str] = field(default_factory=list)
    read: int = 0


@contextmanager
def posting(url: str, told: Told) -> Iterator[None]:
    """Messages at a steady pace, each acknowledged before the next."""
    ended = threading.Event()

    def post() -> None:
        with httpx.Client(base_url=url, timeout=60) as client:
            while not ended.wait(0.01):
                event = {"namespace": f"tenant-{told.said % 7}", "content": f"I moved house {told.said} times."}
                client.post("/v1/events", json={"events": [event]}).raise_for_status()
                told.said += 1

    thread = threading.Thread(target=post)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def settled(settings: Settings, log: ArchivedLog) -> None:
    """Once every reader has read all."""
    end = time.monotonic() + SECONDS
    while any(read_by_all(settings, p) < log.head(p) for p in range(log.partitions)):
        assert time.monotonic() < end, "the readers do not catch up"
        time.sleep(0.1)


def sealed_while_building(home: Path, *, events: int) -> Told:
    told = Told()
    taishi = RunningTaishi(home, "--no-story", embedder="off").wait_until_up()
    try:
        settings, generations = load_settings(home=home, embedder="off"), Generations(home)
        with opened_log(settings) as (log, keys):
            told.events = max(HistoryWriter(log, keys, events=events).write())
            settled(settings, log)

            def seen(outcome: Outcome) -> None:
                if generations.read().generation(2).state in UNFINISHED:
                    told.meanwhile += outcome.trimmed

            with posting(taishi.write, told):
                start_rebuild(generations)
                end = time.monotonic() + SECONDS
                while generations.read().generation(2).state in UNFINISHED:
                    with suppress(Unavailable):  # while the upkeep workers seal
                        sealing(settings, log, keys, keep=20, progress=seen).run()
                    assert time.monotonic() < end, "the build does not end"
            assert generations.read().generation(2).state == "ready", generations.read().generation(2).error
            taishi.settle("tenant-0", seconds=SECONDS)
            settled(settings, log)
            told.before, told.after = (digests(settings, generations.read().generation(n)) for n in (1, 2))
            told.flaws = [str(flaw) for verdict in verify(settings, log) for flaw in verdict.flaws]
            told.read = sum(1 for p in range(log.partitions) for _ in raw(log, p))
    finally:
        taishi.stop()
    return told


def raw(log: ArchivedLog, partition: int) -> Iterator[str]:
    """Ids of what was posted to the partition, out of archive and stream."""
    after = 0
    while events := log.read(partition, after=after, limit=1_000):
        after = events[-1].position.seq
        yield from (e.event_id for e in events if e.body and "moved house" in str(e.body.get("text")))


def judge(told: Told) -> None:
    assert told.meanwhile, "nothing was trimmed while it was built"
    assert told.said and told.read == told.said, (told.said, told.read)
    assert told.before == told.after
    assert not told.flaws, told.flaws


def test_a_log_is_sealed_while_a_generation_is_built_and_messages_come(tmp_path: Path) -> None:
    judge(sealed_while_building(tmp_path / "home", events=8_000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=200_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="taishi-") as folder:
        told = sealed_while_building(Path(folder), events=given.events)
    judge(told)
    print(f"{told.events:,} events, {told.said} more while a generation was built: {told.meanwhile:,} were sealed and"
          " left the server meanwhile; digests of both generations equal, every segment and entry sound")  # fmt: skip


if __name__ == "__main__":
    main()
