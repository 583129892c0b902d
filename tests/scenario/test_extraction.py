"""From raw events to claims, on a real server, a real key store and real RQ workers."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from taishi.ingest import windows
from taishi.ingest.claims import ClaimFacts
from taishi.ingest.envelope import Actor, Event, NewEvent
from taishi.ingest.errors import LogDamaged, Unavailable
from taishi.ingest.extractor import Extraction as Reading
from taishi.ingest.extractor import Window
from taishi.ingest.ids import new_id
from taishi.ingest.instants import SECOND
from taishi.ingest.jobs import Job, Task
from taishi.ingest.keeper import Keeper
from taishi.ingest.log import Batch
from taishi.ingest.outbox import Outbox
from taishi.ingest.outbox_fold import OpenWindow
from taishi.ingest.windows import GATHERED
from tests.support.extraction_line import Line
from tests.support.extraction_worker import LikesExtractor
from tests.support.valkey_server import ValkeyServer


@pytest.fixture
def line(valkey: ValkeyServer, tmp_path: Path) -> Iterator[Line]:
    line = Line(valkey, tmp_path)
    yield line
    line.close()


def tasks(line: Line) -> list[Task]:
    """The tasks of all jobs that are out."""
    return [task for out in line.outbox.out() for task in line.outbox.job(out.job_id, zone="UTC").tasks]


def test_words_become_claims_and_the_window_is_done(line: Line) -> None:
    (said,) = line.say("Ann likes tea and Bob likes chess")
    line.start_worker()
    line.until(lambda: bool(line.events("extraction.completed")))
    first, second = line.events("claim.extracted")
    assert (first.body or {})["subject"] == "Ann"
    assert (second.body or {})["quote"] == [said.event_id, 18, 33, "Bob likes chess"]
    facts = ClaimFacts.from_header(first.facts["claim"])
    assert (facts.known_from, facts.strength) == (said.recorded_at, 40)
    assert (first.evidence, first.causation_id) == ((said.event_id,), said.event_id)
    assert (first.session, first.generation) == ("s", 1)
    (completed,) = line.events("extraction.completed")
    assert completed.facts == {
        "window": completed.facts["window"], "events": [said.event_id], "claims": 2, "decisions": {},
        "extractor": "likes@1",
    }
    line.until(line.settled)


def test_earlier_words_of_the_session_are_understood_by(line: Line) -> None:
    line.say("Zoe came by")
    line.say("Max came by", session="other")
    line.say("He likes jazz", "Hello")
    line.start_worker()
    line.until(lambda: len(line.events("extraction.completed")) == 4)
    (claim,) = line.events("claim.extracted")
    assert (claim.body or {})["subject"] == "Zoe"


def test_what_recall_showed_and_others_repeat_is_an_echo(line: Line) -> None:
    (said,) = line.say("Ann likes tea")
    shown = {"exposure": "e", "items": [said.event_id], "seqs": [said.position.seq]}
    recalled = NewEvent(
        event_id=new_id(), type="memory.recalled", namespace="n", actor=Actor(role="system"), origin="system",
        facts=shown, body={},
    )  # fmt: skip
    (before,) = line.say("Ann likes tea!", session="t", actor=Actor(role="assistant"), origin="assistant")
    line.log.append(Batch(events=[recalled]))
    (after,) = line.say("ann likes TEA.", session="t", actor=Actor(role="assistant"), origin="assistant")
    line.say("Ann likes tea")
    line.start_worker()
    line.until(lambda: len(line.events("extraction.completed")) == 4)
    decisions = {k: v for e in line.events("extraction.completed") for k, v in e.facts["decisions"].items()}
    assert decisions == {after.event_id: "echo"}
    assert before.event_id in {e.evidence[0] for e in line.events("claim.extracted")}
    assert len(line.events("claim.extracted")) == 3


def test_who_says_i(line: Line) -> None:
    line.say("I likes tea")
    line.say("I likes tea", actor=Actor(id="u7"))
    line.say("I likes tea", actor=Actor(role="assistant"), origin="assistant")
    line.start_worker()
    line.until(lambda: len(line.events("extraction.completed")) == 3)
    said = {(e.body or {})["subject"]: (e.body or {}).get("said_by") for e in line.events("claim.extracted")}
    assert said == {"user": None, "u7": "u7", "assistant": "assistant"}


def test_what_became_no_claim_says_why(line: Line) -> None:
    nothing, misquoted = line.say("Hello"), line.say("Ann likes misquote")
    gated = line.say("Ann likes tea", origin="heartbeat")
    empty = line.say("")
    line.start_worker()
    line.until(lambda: len(line.events("extraction.completed")) == 4)
    why = {k: v for e in line.events("extraction.completed") for k, v in e.facts["decisions"].items()}
    assert why == {
        nothing[0].event_id: "nothing_said",
        misquoted[0].event_id: "quote_not_in_source",
        gated[0].event_id: "gate.heartbeat",
        empty[0].event_id: "no_text",
    }
    assert line.values() == []


def test_with_all_workers_dead_windows_are_pending_and_drain_when_they_return(line: Line) -> None:
    for i in range(60):
        line.say(f"Ann likes tea{i}", namespace=f"n{i % 5}")
        line.keeper.step()
    for _ in range(50):
        line.keeper.step()
    counts = line.outbox.counts()
    assert counts["pending"] + counts["queued"] == 60
    assert counts["pending"] > 0
    assert len(line.outbox.out()) == 4
    assert line.jobs().llen("rq:queue:taishi-extraction") == 4
    line.start_worker()
    line.until(line.settled)
    assert line.values() == sorted(f"tea{i}" for i in range(60))


def test_flushing_the_jobs_database_loses_nothing(line: Line) -> None:
    line.say("Ann likes tea", "Bob likes chess")
    line.keeper.step()
    assert line.outbox.counts()["queued"] == 2
    line.jobs().flushdb()
    line.start_worker()
    line.until(line.settled)
    assert line.values() == ["chess", "tea"]


def test_a_worker_survives_the_flush_of_its_database(line: Line) -> None:
    line.start_worker()
    line.say("Ann likes tea")
    line.until(line.settled)
    line.jobs().flushdb()
    line.say("Ann likes milk")
    line.until(line.settled)
    assert line.values() == ["milk", "tea"]


def test_the_same_job_twice_gives_one_set_of_claims(line: Line) -> None:
    line.say("Ann likes tea and Bob likes chess", "Eve likes go")
    line.keeper.step()
    twice = tasks(line)
    assert len(twice) == 2
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(line.extraction.run, twice) for _ in range(4)]:
            done.result()
    assert line.values() == ["chess", "go", "tea"]
    assert len(line.events("extraction.completed")) == 2
    line.start_worker()
    line.until(line.settled)
    assert line.values() == ["chess", "go", "tea"]


def test_a_queued_job_leaves_out_what_was_erased_since(line: Line) -> None:
    tea, _ = line.say("Ann likes tea", "Bob likes chess")
    line.keeper.step()
    queued = tasks(line)
    line.forget(tea)
    line.extraction.run(queued)
    assert line.values() == ["chess"]
    decisions = [e.facts["decisions"] for e in line.events("extraction.completed")]
    assert decisions == [{tea.event_id: "erased"}, {}]
    line.until(line.settled)


def test_windows_of_erased_events_are_dropped(line: Line) -> None:
    tea, chess = line.say("Ann likes tea", "Bob likes chess")
    line.keeper.step()
    line.forget(tea)
    line.keeper.step()
    assert line.outbox.counts()["queued"] == 1
    line.forget(chess)
    line.keeper.step()
    assert line.settled()


def test_words_erased_while_they_are_being_read_give_no_claims(line: Line) -> None:
    tea, _ = line.say("Ann likes tea", "Bob likes chess")
    line.keeper.step()
    queued = tasks(line)

    class Slow(LikesExtractor):
        def extract(self, window: Window) -> Reading:
            reading = super().extract(window)
            if window.utterances[0].event_id == tea.event_id:
                line.forget(tea)
            return reading

    extraction = line.extraction
    extraction._extractor = Slow()
    extraction.run(queued)
    assert line.values() == ["chess"]
    completed = {e.facts["events"][0]: e.facts for e in line.events("extraction.completed")}
    assert completed[tea.event_id]["claims"] == 0
    assert completed[tea.event_id]["decisions"] == {tea.event_id: "erased"}


def test_a_poison_text_fails_visibly_while_others_pass_and_can_be_tried_again(line: Line) -> None:
    line.say("Ann likes tea", "Bob likes poison", "Eve likes go")
    line.start_worker()
    line.until(line.settled)
    assert line.values() == ["go", "tea"]
    (failed,) = line.events("extraction.failed")
    assert (failed.facts["error"], failed.facts["attempt"]) == ("ValueError", 0)
    assert len(line.events("extraction.completed")) == 2
    assert line.outbox.counts()["failed"] == 1
    assert line.outbox.retry(namespace="other") == 0
    assert line.outbox.retry() == 1
    line.until(line.settled)
    assert [e.facts["attempt"] for e in line.events("extraction.failed")] == [0, 1]
    line.outbox.retry()
    line.keeper.step()

    class Cured(LikesExtractor):
        version = "2"

        def extract(self, window: Window) -> Reading:
            return Reading(claims=[])

    extraction = line.extraction
    extraction._extractor = Cured()
    extraction.run(tasks(line))
    line.until(line.settled)
    assert line.outbox.counts()["failed"] == 0


def test_claims_that_the_log_refuses_are_a_visible_failure(line: Line) -> None:
    line.say("Ann likes tea", "Bob likes unwritable", "Eve likes go")
    line.start_worker()
    line.until(line.settled)
    assert line.values() == ["go", "tea"]
    assert [e.facts["error"] for e in line.events("extraction.failed")] == ["invalid-input"]


def test_a_text_that_takes_for_ever_is_cut_off(line: Line) -> None:
    line.say("Ann likes tea", "endless", "endless", "Eve likes go")
    line.start_worker(seconds=0.2)
    line.until(line.settled)
    assert line.values() == ["go", "tea"]
    assert [e.facts["error"] for e in line.events("extraction.failed")] == ["timeout", "timeout"]


def test_a_text_that_kills_workers_is_given_up_and_others_pass(line: Line) -> None:
    line.say("Ann likes tea", "deadly", "Eve likes go")

    def settled() -> bool:
        if all(worker.poll() is not None for worker in line.workers):
            line.start_worker()
        return line.settled()

    line.until(settled, seconds=60)
    assert line.values() == ["go", "tea"]
    (failed,) = line.events("extraction.failed")
    assert failed.facts["error"] == "worker_died"
    assert line.outbox.counts()["failed"] == 1


def test_a_killed_worker_gives_its_windows_back_at_once(line: Line, tmp_path: Path) -> None:
    deaths = tmp_path / "deaths"
    line.say("Ann likes tea", "Eve likes go")
    crash = {"TAISHI_CRASH_POINT": "extracted:1:1", "TAISHI_CRASH_FILE": str(deaths)}
    first = line.start_worker(environment=crash)
    line.until(lambda: first.poll() is not None)
    assert deaths.read_text().startswith("extracted ")
    assert line.values() == []
    line.start_worker(environment=crash)
    assert line.until(line.settled) < 5
    assert line.values() == ["go", "tea"]


def test_words_reach_neither_the_jobs_database_nor_a_log_line(line: Line) -> None:
    line.say("Xanthippe likes poison", "Xanthippe likes hemlock")
    line.keeper.step()
    stored = line.jobs()
    before = [stored.dump(key) for key in stored.scan_iter()]
    worker = line.start_worker()
    line.until(line.settled)
    line.queue.enqueue(Job(job_id="broken", tasks=[]))
    stored.hset("rq:job:broken", "data", b"")
    line.until(lambda: "broken" in line.queue.fates(["broken"]))
    worker.terminate()
    assert worker.wait(10) == 0
    after = [stored.dump(key) for key in stored.scan_iter()]
    assert before
    for text in (*map(repr, before), *map(repr, after), line.worker_output()):
        assert "Xanthippe" not in text
        assert "hemlock" not in text
    assert "ValueError at " in line.worker_output()


class Flaky:
    """A job queue that takes jobs and then says that it could not be reached."""

    def __init__(self, line: Line, *, takes: bool) -> None:
        self._line, self._takes, self.left = line, takes, 1

    def __getattr__(self, name: str) -> object:
        return getattr(self._line.queue, name)

    def enqueue(self, job: Job) -> None:
        if self.left:
            self.left -= 1
            if self._takes:
                self._line.queue.enqueue(job)
            raise Unavailable("gone")
        self._line.queue.enqueue(job)


@pytest.mark.parametrize("takes", [True, False])
def test_a_job_of_which_it_is_not_known_whether_it_was_queued_is_queued_once(line: Line, takes: bool) -> None:
    line.say("Ann likes tea")
    keeper = Keeper(line.log, line.keys, line.outbox, Flaky(line, takes=takes), ledger=line.forgotten)  # type: ignore[arg-type]
    with pytest.raises(Unavailable):
        keeper.step()
    line.keeper.step()
    assert line.jobs().llen("rq:queue:taishi-extraction") == 1
    line.start_worker()
    line.until(line.settled)
    assert line.values() == ["tea"]


def test_a_second_keeper_finds_that_the_events_were_folded(line: Line) -> None:
    second = line.new_keeper()
    for text in ("Ann likes tea", "Bob likes chess", "Eve likes go"):
        second.step()
        line.say(text)
        line.keeper.step()
        second.step()
    line.until(lambda: line.outbox.counts()["queued"] == 3)  # the last ones are gathered for a moment


def test_two_keepers_do_no_harm(line: Line) -> None:
    line.start_worker()
    stop = threading.Event()
    keepers = [threading.Thread(target=line.new_keeper().run, args=(stop,)) for _ in range(2)]
    for keeper in keepers:
        keeper.start()
    for i in range(40):
        line.say(f"Ann likes tea{i}")
    line.until(line.settled)
    assert all(keeper.is_alive() for keeper in keepers)
    stop.set()
    for keeper in keepers:
        keeper.join(5)
    assert line.values() == sorted(f"tea{i}" for i in range(40))
    assert len(line.events("extraction.completed")) == 40


def test_gathered_windows_wait_for_more_words_but_not_for_ever(line: Line) -> None:
    now = [0]
    keeper = Keeper(line.log, line.keys, line.outbox, line.queue, GATHERED, ledger=line.forgotten, clock=lambda: now[0])
    line.keeper = keeper
    events = line.say("Zoe came by", "He likes jazz", *["Ann likes tea"] * 4)
    now[0] = events[-1].appended_at + 60 * SECOND
    keeper.step()
    assert [len(task.seqs) for task in tasks(line)] == [5]
    now[0] = events[-1].appended_at + 123 * SECOND
    line.until(lambda: sorted(len(task.seqs) for task in tasks(line)) == [1, 5], seconds=5)
    line.start_worker()
    line.until(line.settled)
    done = {tuple(e.facts["events"]): e.facts["claims"] for e in line.events("extraction.completed")}
    ids = [e.event_id for e in events]
    assert done == {tuple(ids[:5]): 4, tuple(ids[5:]): 1}


def test_a_window_is_not_closed_by_the_clock_while_what_follows_cannot_be_read(line: Line) -> None:
    events = line.say("Zoe came by", "He likes jazz", "Ann likes tea")
    partition, last = events[-1].position.partition, events[-1].position.seq

    class Damaged:
        mended = False

        def __getattr__(self, name: str) -> Any:
            return getattr(line.log, name)

        def read(self, of: int, *, after: int, limit: int) -> list[Event]:
            if of == partition and not self.mended:
                if after + 1 == last:
                    raise LogDamaged("a bit is turned")
                limit = min(limit, last - 1 - after)
            return line.log.read(of, after=after, limit=limit)

    def keeper(log: Any) -> Keeper:
        return Keeper(log, line.keys, line.outbox, line.queue, GATHERED, ledger=line.forgotten, clock=lambda: late)

    log, late = Damaged(), events[-1].appended_at + 123 * SECOND
    first = keeper(log)
    for _ in range(2):
        first.step()
    assert tasks(line) == []
    log.mended = True
    line.keeper = keeper(log)
    line.until(lambda: [len(task.seqs) for task in tasks(line)] == [3], seconds=5)


def test_a_window_whose_end_was_missed_does_not_go_round_for_ever(line: Line) -> None:
    (said,) = line.say("Ann likes tea")
    line.start_worker()
    line.until(line.settled)
    window = windows.Window(
        window_id=windows.window_id("n", [said.event_id]), seqs=(said.position.seq,), context=()
    )
    with line.outbox.fold(said.position.partition) as fold:
        fold.add([OpenWindow(window=window, namespace="n", zone=None)])
    assert line.outbox.counts()["pending"] == 1
    line.until(line.settled, seconds=5)
    assert line.values() == ["tea"]


def test_keys_are_destroyed_again_when_a_forgetting_is_read(line: Line) -> None:
    (said,) = line.say("Ann likes tea")
    line.forget(said, destroy=False)
    assert not line.fetch(said.position).erased
    line.keeper.step()
    assert line.fetch(said.position).erased


def test_a_log_rolled_back_under_the_keeper_is_folded_anew(line: Line, valkey: ValkeyServer) -> None:
    line.say(*[f"Ann likes tea{i}" for i in range(5)])
    line.keeper.step()
    valkey.client().flushall()
    line.log.close()
    line.say("Ann likes milk")
    line.keeper = line.new_keeper()
    line.start_worker()
    line.until(line.settled)
    assert line.values() == ["milk"]


def test_what_is_done_is_not_handed_out_again_when_the_keepers_memory_is_lost(line: Line, tmp_path: Path) -> None:
    line.say("Bob likes poison", *[f"Ann likes tea{i}" for i in range(450)])
    line.start_worker()
    line.until(line.settled)
    fresh = Outbox(tmp_path / "fresh.db")
    keeper = Keeper(line.log, line.keys, fresh, line.queue, ledger=line.forgotten)
    while keeper.step():
        assert fresh.out() == []
    assert fresh.counts() == {"pending": 0, "queued": 0, "failed": 1}
    assert fresh.failed()[0].attempts == line.outbox.failed()[0].attempts == 1
    fresh.dispose()


def test_a_killed_server_is_waited_for(own_valkey: ValkeyServer, tmp_path: Path) -> None:
    line = Line(own_valkey, tmp_path)
    stop = threading.Event()
    keeper = threading.Thread(target=line.new_keeper().run, args=(stop,))
    keeper.start()
    try:
        line.say("Ann likes tea")
        own_valkey.kill()
        own_valkey.start()
        line.say("Ann likes milk")
        line.start_worker()
        line.until(line.settled)
        assert line.values() == ["milk", "tea"]
    finally:
        stop.set()
        keeper.join(5)
        line.close()
    assert not keeper.is_alive()
