"""The embedder dead, slow or killed: recall answers from words, says so, gives no 5xx, and heals by itself."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.embed_server import DIMENSION, EmbedServer
from tests.support.running import RunningTaishi


@pytest.fixture(scope="module")
def server() -> Iterator[EmbedServer]:
    with EmbedServer() as running:
        yield running


@pytest.fixture(scope="module")
def taishi(tmp_path_factory: pytest.TempPathFactory, server: EmbedServer) -> Iterator[RunningTaishi]:
    """Started while the embedder is down."""
    server.fault = "error"
    running = RunningTaishi(
        tmp_path_factory.mktemp("home"), "--no-story", embedder="openai", embedding__base_url=server.base_url,
        embedding__model="stand-in", embedding__dimension=str(DIMENSION), embedding__time_limit="0.5",
    )  # fmt: skip
    try:
        yield running.wait_until_up()
    finally:
        running.stop()


def recall(taishi: RunningTaishi, query: str) -> dict[str, Any]:
    reply = httpx.post(f"{taishi.read}/v1/recall", json={"namespace": "n", "query": query}, timeout=20)
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def say(taishi: RunningTaishi, text: str) -> str:
    reply = httpx.post(f"{taishi.write}/v1/events", json={"events": [{"namespace": "n", "content": text}]}, timeout=20)
    assert reply.status_code == 202, reply.text
    return str(reply.json()["accepted"][0]["position"])


def healed(taishi: RunningTaishi, query: str, *, seconds: float = 15) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while True:
        reply = recall(taishi, query)
        if not reply["degraded"]:
            return reply
        assert time.monotonic() < end, reply["degraded"]
        time.sleep(0.1)


def test_down_from_the_start_words_answer_and_then_it_heals(taishi: RunningTaishi, server: EmbedServer) -> None:
    position = say(taishi, "The cooper in Delft repaired two oak barrels.")
    found = httpx.post(
        f"{taishi.read}/v1/recall",
        json={"namespace": "n", "query": "Who repaired the oak barrels?", "min_position": position},
        timeout=20,
    ).json()
    assert "cooper" in found["items"][0]["text"]
    assert found["degraded"] == ["vectors"]
    assert httpx.get(f"{taishi.read}/readyz", timeout=5).status_code == 200
    server.fault = None
    reply = healed(taishi, "Who repaired the oak barrels?")
    taishi.settle("n")
    reply = healed(taishi, "Who repaired the oak barrels?")
    assert reply["items"][0]["why"]["scores"]["dense"] > 0


def test_the_command_line_tells_how_an_answer_came_about(taishi: RunningTaishi) -> None:
    exposure = recall(taishi, "Who repaired the oak barrels?")["exposure_id"]
    end = time.monotonic() + 10
    while (told := taishi.cli("explain", "--recall", exposure, "-n", "n")).returncode:
        assert time.monotonic() < end, told.stderr
    assert "The cooper in Delft repaired" in told.stdout
    assert "lexical rank 1" in told.stdout
    assert "barrels?" not in told.stdout
    assert taishi.cli("explain", "-n", "n").returncode == 2


def test_killed_while_asked_nothing_is_refused(taishi: RunningTaishi) -> None:
    before = taishi.kill("vectors")
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        assert "cooper" in recall(taishi, "Who repaired the oak barrels?")["items"][0]["text"]
    taishi.pid("vectors", other_than=before)
    say(taishi, "The cooper in Delft has a new apprentice.")
    taishi.settle("n")


def test_stopped_for_long_the_newest_are_found_by_words_and_it_is_said(taishi: RunningTaishi) -> None:
    pid = taishi.pid("vectors")
    os.kill(pid, signal.SIGSTOP)
    try:
        say(taishi, "The miller of Delft sharpened his saw.")
        end = time.monotonic() + 12
        while (reply := recall(taishi, "Who sharpened the saw?"))["degraded"] != ["vectors_behind"]:
            assert time.monotonic() < end, reply["degraded"]
            time.sleep(0.2)
        assert "miller" in reply["items"][0]["text"]
    finally:
        os.kill(pid, signal.SIGCONT)
    assert "miller" in healed(taishi, "Who sharpened the saw?")["items"][0]["text"]


def test_a_slow_one_costs_its_time_limit(taishi: RunningTaishi, server: EmbedServer) -> None:
    server.fault = "slow"
    try:
        begun = time.monotonic()
        reply = recall(taishi, "Which barrels were of oak wood?")
        assert time.monotonic() - begun < 6, "it takes eight seconds to answer"
        assert reply["degraded"] == ["vectors"]
        assert "barrels" in reply["items"][0]["text"]
        assert recall(taishi, "Which apprentice is new there?")["degraded"] == ["vectors"]
    finally:
        server.fault = None
    healed(taishi, "Which apprentice came to Delft?")
