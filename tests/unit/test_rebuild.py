"""Building a generation: slices that may be killed, poison events, the register, switching and pruning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from taishi.deploy.generations import Generations, ensure_generation, generation_folder, live_folder, outbox_path
from taishi.deploy.rebuilding import Rebuilding, give_up, start_rebuild
from taishi.deploy.switching import activate, previous, prune
from taishi.deploy.verifying import digest_of, scratch, sweep
from taishi.ingest.envelope import Event
from taishi.ingest.errors import Conflict, LogDamaged, NotCaughtUp, NotFound
from taishi.ingest.outbox import Outbox
from taishi.ingest.outbox_fold import Checkpoint
from taishi.projections.analysis import Analyzer
from taishi.projections.rebuild import PartitionBuild, PoisonEvent
from taishi.projections.worker import Projector, model_path
from tests.support.history import History
from tests.support.history_log import HistoryLog

ANALYZER = Analyzer()


class Queue:
    """An upkeep queue that is emptied by hand."""

    def __init__(self) -> None:
        self.jobs: dict[str, Mapping[str, Any]] = {}

    def enqueue(self, name: str, args: Mapping[str, Any], *, job_id: str) -> bool:
        fresh = job_id not in self.jobs
        self.jobs.setdefault(job_id, args)
        return fresh


class Home:
    def __init__(self, folder: Path, log: HistoryLog) -> None:
        ensure_generation(folder)
        self.generations = Generations(folder)
        self.log, self.queue = log, Queue()
        self.rebuilding = self.rebuilds(log)
        self.follow(live_folder(folder))

    def rebuilds(self, log: HistoryLog) -> Rebuilding:
        return Rebuilding(
            generations=self.generations, log=log, queue=self.queue, analyzer=lambda: ANALYZER, workers=2
        )

    def follow(self, folder: Path) -> None:
        projector = Projector(log=self.log, folder=folder, partitions=[0], analyzer=ANALYZER)
        projector.catch_up()
        projector.close()

    def work(self) -> int:
        """Runs what is queued, and what that queues. How many jobs."""
        done = 0
        while self.queue.jobs:
            _, args = self.queue.jobs.popitem()
            self.rebuilding.slice(args)
            done += 1
        return done


@pytest.fixture
def history() -> History:
    h = History()
    for number in range(30):
        said = h.say(f"I live in place {number % 7}", session=f"s{number % 3}")
        h.claim("user", "lives_in", f"place {number % 7}", said=said)
        h.extracted(said)
    h.forget(h.events[3], h.events[4])
    return h


@pytest.fixture
def home(tmp_path: Path, history: History) -> Home:
    return Home(tmp_path, HistoryLog(history))


def test_slices_that_end_anywhere_come_to_the_same(tmp_path: Path, history: History) -> None:
    log, digests = HistoryLog(history), set()
    for batch in (1, 7, 1000):
        folder = tmp_path / str(batch)
        complete = False
        while not complete:
            build = PartitionBuild(log=log, folder=folder, partition=0, analyzer=ANALYZER, generation=1, batch=batch)
            complete = build.slice(seconds=0).complete
            if complete:
                build.finish()
            build.close()
        digests.add(digest_of(model_path(folder, 0), 0))
    assert len(digests) == 1


def test_a_rebuild_stops_at_a_poison_event_and_names_it(home: Home, history: History) -> None:
    bad = history.say("fine")
    history.events[-1] = replace(bad, type="claim.confirmed")
    start_rebuild(home.generations)
    home.rebuilding.drive()
    home.work()
    failed = home.generations.read().generation(2)
    assert failed.state == "failed"
    assert f"{bad.position} (claim.confirmed)" in str(failed.error)
    build = PartitionBuild(
        log=home.log, folder=home.generations.home / "x", partition=0, analyzer=ANALYZER, generation=1
    )
    with pytest.raises(PoisonEvent):
        build.slice(seconds=10)
    assert build.seq == bad.position.seq - 1
    history.add("event.skipped", facts={"seq": bad.position.seq}, body={"reason": "made by mistake"})
    assert build.slice(seconds=10).complete
    build.close()


class DamagedAt81(HistoryLog):
    def read(self, partition: int, *, after: int, limit: int = 500) -> list[Event]:
        if after == 80:
            raise LogDamaged("the entry at p0:81 was altered")
        return super().read(partition, after=after, limit=min(limit, 80 - after))


def test_a_rebuild_ends_at_a_damaged_entry_and_names_it(home: Home, history: History) -> None:
    home.rebuilding = home.rebuilds(DamagedAt81(history))
    start_rebuild(home.generations)
    home.rebuilding.drive()
    home.work()
    failed = home.generations.read().generation(2)
    assert (failed.state, failed.error) == ("failed", "the entry at p0:81 was altered")


def test_words_that_cannot_be_read_anew_end_a_rebuild(home: Home, tmp_path: Path, history: History) -> None:
    home.rebuilding = home.rebuilds(DamagedAt81(history))
    fresh = start_rebuild(home.generations, extractor="rules@3")
    outbox = Outbox(outbox_path(tmp_path, fresh.extraction), generation=fresh.extraction)
    reached = Checkpoint()
    for seq in (40, 80):
        home.rebuilding.drive()
        assert home.generations.read().generation(2).state == "extracting"
        with outbox.fold(0) as fold:
            fold.advance(reached, reached := Checkpoint(seq=seq, digest=b""))
    home.rebuilding.drive()
    outbox.dispose()
    failed = home.generations.read().generation(2)
    assert (failed.state, failed.error) == ("failed", "the entry at p0:81 was altered")


def test_a_generation_is_built_switched_to_and_back(home: Home) -> None:
    fresh = start_rebuild(home.generations)
    with pytest.raises(Conflict):
        start_rebuild(home.generations)
    with pytest.raises(Conflict, match="building"):
        activate(home.generations, 2, partitions=1)
    home.rebuilding.drive()
    home.rebuilding.drive()
    assert len(home.queue.jobs) == 1, "one chain a partition, however often it is looked at"
    assert home.work() >= 1
    assert home.generations.read().generation(2).state == "ready"
    home.follow(live_folder(home.generations.home))
    files = [model_path(generation_folder(home.generations.home, g), 0) for g in (fresh, home.generations.read().live)]
    assert digest_of(files[0], 0) == digest_of(files[1], 0)
    home.follow(generation_folder(home.generations.home, fresh))
    assert activate(home.generations, 2, partitions=1).number == 2
    assert live_folder(home.generations.home).name == "g2"
    home.rebuilding.drive()
    said = [event.type for event in home.log.events if event.type.startswith("generation.")]
    assert said == ["generation.started", "generation.activated"]
    assert home.generations.read().notices == ()
    assert previous(home.generations.read()).number == 1
    assert activate(home.generations, 1, partitions=1).number == 1


def test_nobody_reads_backwards_in_time(home: Home, history: History) -> None:
    start_rebuild(home.generations)
    home.rebuilding.drive()
    home.work()
    history.say("one more")
    home.follow(live_folder(home.generations.home))
    with pytest.raises(NotCaughtUp, match="1 event behind"):
        activate(home.generations, 2, partitions=1, seconds=0.1)


def test_a_lost_job_is_put_back_and_a_stale_one_does_nothing(home: Home) -> None:
    start_rebuild(home.generations)
    home.rebuilding.drive()
    stale = dict(home.queue.jobs.popitem()[1])
    home.rebuilding.drive()
    assert home.queue.jobs
    home.work()
    home.rebuilding.slice(stale)
    assert home.generations.read().generation(2).state == "ready"


def test_what_is_given_up_ends_and_is_pruned_and_the_live_one_stays(home: Home) -> None:
    with pytest.raises(NotFound):
        previous(home.generations.read())
    start_rebuild(home.generations)
    stopped = give_up(home.generations)
    assert stopped is not None
    home.rebuilding.drive()
    home.work()
    assert home.generations.read().generation(2).state == "failed"
    for number in (3, 4):
        assert start_rebuild(home.generations).number == number
        home.rebuilding.drive()
        home.work()
        activate(home.generations, number, partitions=1)
    assert [g.number for g in prune(home.generations, keep=2)] == [2, 1]
    register = home.generations.read()
    assert {k: g.state for k, g in register.generations.items()} == {3: "kept", 4: "live"}
    start_rebuild(home.generations)
    home.rebuilding.drive()
    home.work()
    assert prune(home.generations, keep=2) == [], "one that was built and never live stays, unless it is asked for"
    assert [g.number for g in prune(home.generations, keep=2, ready=True)] == [5]
    assert prune(home.generations, keep=1)[0].number == 3
    assert prune(home.generations, keep=1) == []


def test_a_replay_leaves_nothing_behind_even_where_one_was_killed(tmp_path: Path) -> None:
    left = tmp_path / "verify-99999999"
    left.mkdir()
    with scratch(tmp_path) as folder:
        assert [path.name for path in tmp_path.iterdir()] == [folder.name]
        sweep(tmp_path)
        assert folder.exists(), "its process lives"
    assert list(tmp_path.iterdir()) == []
