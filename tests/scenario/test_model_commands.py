"""Commands around a chat model: near copies that it judges when asked, answers that could not be used; and names."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.chat_server import ChatServer, reading
from tests.support.running import RunningTaishi

TWO_OF_ONE = [("a quiet walk by the lake", "quiet lake walks"), ("清晨湖边散步", "清晨在湖边散步")]
OTHERS = [("green tea", "green curry"), ("walking 5 km", "walking 6 km"), ("不放糖的咖啡", "放糖的咖啡")]


def judging(asked: dict[str, Any]) -> dict[str, Any]:
    """Same where both hold a lake."""
    return {
        "pairs": [
            {"pair": p["pair"], "same": all("lake" in v or "湖" in v for v in p["values"])} for p in asked["pairs"]
        ]
    }


@pytest.fixture
def model() -> Iterator[ChatServer]:
    server = ChatServer()
    server.answer = judging
    yield server
    server.stop()


@pytest.fixture
def taishi(tmp_path: Path, model: ChatServer) -> Iterator[RunningTaishi]:
    running = RunningTaishi(
        tmp_path, "--no-story", embedder="off", model__name="m", model__base_url=model.base_url,
        model__price_in="1", model__price_out="1",
    )  # fmt: skip
    try:
        yield running.wait_until_up()
    finally:
        running.stop()


def run(taishi: RunningTaishi, *arguments: str) -> dict[str, Any]:
    done = taishi.cli(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def told(taishi: RunningTaishi, *arguments: str) -> dict[str, Any]:
    return run(taishi, "ops", "duplicates", *arguments)


def by_the_lake(taishi: RunningTaishi) -> list[str]:
    """What recall shows of the four."""
    taishi.settle("n")
    asked = {"namespace": "n", "query": "Do I like lake walks?"}
    items = httpx.post(f"{taishi.read}/v1/recall", json=asked, timeout=20).json()["items"]
    values = [item["value"] for item in items if item["kind"] == "claim"]
    return [value for value in values if "lake" in value or "湖" in value]


def test_what_may_be_the_same_is_asked_about_once_and_folded(taishi: RunningTaishi, model: ChatServer) -> None:
    for pair in (*TWO_OF_ONE, *OTHERS):
        for value in pair:
            body = {"namespace": "n", "subject": "user", "predicate": "likes", "value": value}
            assert httpx.post(f"{taishi.write}/v1/memories", json=body, timeout=20).status_code == 202
    taishi.settle("n")
    assert len(by_the_lake(taishi)) == 4
    found = {frozenset(pair["values"]) for pair in told(taishi)["pairs"]}
    assert found == {frozenset(pair) for pair in TWO_OF_ONE}
    assert model.asked == []

    model.faults.append("truncated")
    assert told(taishi, "--ask") == {"same": 0, "apart": 0, "refused": 2, "waits": None}
    assert told(taishi, "--ask") == {"same": 2, "apart": 0, "refused": 0, "waits": None}
    taishi.settle("n")
    assert len(by_the_lake(taishi)) == 2
    assert told(taishi)["pairs"] == []
    calls = len(model.asked)
    assert told(taishi, "--ask")["same"] == 0 and len(model.asked) == calls


def test_an_answer_that_could_not_be_used_is_shown_until_its_words_are_forgotten(
    tmp_path: Path, model: ChatServer
) -> None:
    model.answer = reading
    model.fault = "one_twice"
    taishi = RunningTaishi(
        tmp_path, "--no-story", embedder="off", extractor="model", model__name="m", model__base_url=model.base_url,
        model__price_in="1", model__price_out="1", model__prelook="0",
    )  # fmt: skip
    try:
        taishi.wait_until_up()
        events = [{"namespace": "n", "content": "Ann likes jasmine"}] * 5
        placed = httpx.post(f"{taishi.write}/v1/events", json={"events": events}, timeout=20).json()["accepted"]
        end = time.monotonic() + 30
        while not (failed := run(taishi, "dead-letters", "list")["items"]):
            assert time.monotonic() < end
        assert "jasmine" in run(taishi, "dead-letters", "answer", failed[0]["id"])["answer"]
        gone = f"{taishi.write}/v1/memories/{placed[0]['event_id']}?namespace=n"
        assert httpx.delete(gone, timeout=20).status_code == 200
        assert taishi.cli("dead-letters", "answer", failed[0]["id"]).returncode == 1
    finally:
        taishi.stop()


def test_who_is_who_is_said_and_shown(taishi: RunningTaishi) -> None:
    assert run(taishi, "entities", "list", "-n", "e")["items"] == []
    assert set(run(taishi, "entities", "alias", "Bobby", "--of", "Robert", "-n", "e")["names"]) == {"Robert", "Bobby"}
    taishi.settle("e")
    (item,) = run(taishi, "entities", "list", "bobby", "-n", "e")["items"]
    assert item["name"] == "Robert"
    assert "Robert: Bobby" in taishi.cli("entities", "list", "-n", "e").stdout
    run(taishi, "entities", "split", "Bobby", "-n", "e")
    taishi.settle("e")
    (item,) = run(taishi, "entities", "list", "-n", "e")["items"]
    assert item["names"] == [] and {one["name"] for one in item["history"]} == {"Bobby", "Robert"}
