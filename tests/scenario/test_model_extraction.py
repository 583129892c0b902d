"""A model that goes wrong in every way, on the real line: no window lost, none wrongly done, no claim doubled."""

import random
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from taishi.ingest.answers import Answers
from taishi.ingest.retries import NO_RETRIES
from tests.support.chat_server import BROKEN, MENDED, OUTAGES, WIRE, ChatServer
from tests.support.model_line import ModelLine
from tests.support.valkey_server import ValkeyServer

FAILING = (*BROKEN, *WIRE, "header_drip", "refused")
WINDOWS = 2


@pytest.fixture
def model() -> Iterator[ChatServer]:
    server = ChatServer()
    yield server
    server.stop()


@pytest.fixture
def line(valkey: ValkeyServer, tmp_path: Path, model: ChatServer) -> Iterator[ModelLine]:
    line = ModelLine(valkey, tmp_path, model)
    yield line
    line.close()


def test_words_become_claims_by_one_call_a_window(line: ModelLine) -> None:
    liked = line.say_windows(4)
    line.start_worker()
    line.until(line.settled)
    line.assert_all_read_once(liked, 4)
    usages = [e.facts["usage"] for e in line.events("extraction.completed")]
    assert all(u["calls"] == 1 and u["model"] == "m" and u["prompt"] == "1" and u["tokens_in"] == 100 for u in usages)
    assert {e.facts["extractor"] for e in line.events("extraction.completed")} == {"model@1"}
    ledger = line.spent()
    calls = ledger.calls(since=date(2000, 1, 1))
    assert sum(call.amount for call in calls) == 4 * 120
    assert [call.outcome for call in calls] == ["ok"] * 4
    ledger.close()


@pytest.mark.parametrize("faults", [FAILING[0::3], FAILING[1::3], FAILING[2::3]], ids=["a", "b", "c"])
def test_a_failing_model_is_seen_and_its_windows_are_read_when_it_recovers(
    line: ModelLine, faults: tuple[str, ...]
) -> None:
    worker = line.start_worker()
    for round_, fault in enumerate(faults):
        line.fail_and_recover(fault, WINDOWS, round_=round_)
    assert worker.poll() is None
    assert "tea" not in line.worker_output()


def test_while_a_model_is_not_to_be_had_windows_wait_and_nothing_is_written(line: ModelLine) -> None:
    line.start_worker()
    for round_, fault in enumerate(("http_429", "http_401", "silent")):
        line.be_away_and_return(fault, WINDOWS, round_=round_)


def test_what_is_mended_is_no_failure(line: ModelLine) -> None:
    line.model.faults.extend(MENDED)
    liked = line.say_windows(len(MENDED))
    line.start_worker()
    line.until(line.settled)
    line.assert_all_read_once(liked, len(MENDED))
    assert line.events("extraction.failed") == []


def test_all_faults_in_any_order_at_once(line: ModelLine) -> None:
    faults = [*FAILING, *OUTAGES, *MENDED]
    random.Random(5).shuffle(faults)
    line.model.faults.extend(faults)
    liked = line.say_windows(12)
    line.start_worker()
    line.start_worker()
    line.until(line.settled, seconds=60)
    line.assert_all_read_once(liked, 12)


def test_an_answer_that_failed_is_kept_until_its_words_are_forgotten(line: ModelLine) -> None:
    line.model.fault = "two_objects"
    line.keeper = line.keeper
    first, second = line.say("Ann likes tea very much", "Bob likes go very much")
    line.start_worker()
    line.until(lambda: bool(line.events("extraction.failed")))
    failed = line.events("extraction.failed")[0]
    opened = Answers(line.keys).opened(failed.body)
    assert opened is not None
    assert "Ann likes tea" in opened
    assert "Ann" not in str(failed.body)
    assert set(failed.evidence) == {first.event_id, second.event_id}
    line.forget(second)
    assert Answers(line.keys).opened(failed.body) is None


def test_what_keeps_failing_is_left_to_an_operator_and_can_be_retried(
    valkey: ValkeyServer, tmp_path: Path, model: ChatServer
) -> None:
    line = ModelLine(valkey, tmp_path, model, retries=NO_RETRIES)
    try:
        model.fault = "truncated"
        liked = line.say_windows(WINDOWS)
        line.start_worker()
        line.until(lambda: line.outbox.counts()["failed"] == WINDOWS)
        assert line.outbox.retrying() == []
        model.fault = None
        one = line.outbox.failed()[0].window_id
        assert line.outbox.retry(window_ids=[one]) == 1
        line.until(lambda: line.outbox.counts()["failed"] == WINDOWS - 1 and line.settled())
        assert line.outbox.retry() == WINDOWS - 1
        line.until(line.settled)
        line.assert_all_read_once(liked, WINDOWS)
    finally:
        line.close()


def test_a_wiped_reading_never_replaces_one_that_is_there(line: ModelLine) -> None:
    """A window read twice, well and then with an answer that says nothing, keeps what was read first."""
    liked = line.say_windows(1)
    line.keeper.step()
    tasks = [task for out in line.outbox.out() for task in line.outbox.job(out.job_id, zone="UTC").tasks]
    extraction = line.extraction
    extraction.run(tasks)
    line.model.answer = lambda words: {"events": [{"event": e["event"], "claims": []} for e in words["events"]]}
    line.extraction.run(tasks)
    line.model.fault = "empty"
    line.extraction.run(tasks)
    line.start_worker()
    line.until(line.settled)
    line.assert_all_read_once(liked, 1)
    assert line.events("extraction.failed") == []


def test_over_budget_words_wait_and_no_call_is_made(line: ModelLine) -> None:
    line.cap = "0.000000001"
    liked = line.say_windows(WINDOWS)
    poor = line.start_worker()
    line.until(lambda: line.ledger.exists() and bool(_refusals(line)), seconds=30)
    counts = line.outbox.counts()
    assert (counts["pending"] + counts["queued"], counts["failed"]) == (WINDOWS, 0)
    assert line.model.asked == []
    poor.kill()
    poor.wait()
    line.cap = "1000"
    line.start_worker()
    line.until(line.settled, seconds=40)
    line.assert_all_read_once(liked, WINDOWS)


def _refusals(line: ModelLine) -> list[object]:
    ledger = line.spent()
    try:
        return list(ledger.refusals(since=date(2000, 1, 1)))
    finally:
        ledger.close()


def test_a_worker_killed_in_the_middle_of_a_call_loses_nothing_and_pays(line: ModelLine) -> None:
    line.model.fault = "silent"
    line.model.pace = 0.5
    liked = line.say_windows(1)
    worker = line.start_worker()
    line.until(lambda: bool(line.model.asked), seconds=30)
    worker.kill()
    worker.wait()
    line.model.fault = None
    line.start_worker()
    line.until(line.settled, seconds=30)
    line.assert_all_read_once(liked, 1)
    ledger = line.spent()
    first = ledger.calls(since=date(2000, 1, 1))[0]
    assert first.outcome is None
    assert first.amount > 120
    ledger.close()


def test_a_window_not_worth_a_call_is_done_without_one(line: ModelLine) -> None:
    line.say("What is that?", "So it goes")
    line.start_worker()
    line.until(line.settled)
    (completed,) = line.events("extraction.completed")
    assert set(completed.facts["decisions"].values()) == {"prelook"}
    assert "usage" not in completed.facts
    assert line.model.asked == []
