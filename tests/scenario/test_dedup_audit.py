"""The grey zone of the dedup funnel: found, judged by a chat model when asked for, each verdict an event."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.chat_server import ChatServer
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
    server.answer = judging  # type: ignore[method-assign]
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


def told(taishi: RunningTaishi, *arguments: str) -> dict[str, Any]:
    done = taishi.cli("ops", "duplicates", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


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
