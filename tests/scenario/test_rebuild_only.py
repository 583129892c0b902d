"""`rebuild --only vectors` and `--only search` on a running Taishi, also after dictionaries changed."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from taishi.projections.store import open_connection
from tests.support.embed_server import DIMENSION, EmbedServer
from tests.support.running import RunningTaishi

TERM, OTHER_TERM = "竹里馆驿", "云雀引擎"
SAID = (
    "The cooper in Delft repaired two oak barrels.",
    f"上周住进了{TERM}。",
    f"我们的服务换成了{OTHER_TERM}。",
    *(f"Errand number {n} was run before noon." for n in range(40)),
)
ASKED = "Who repaired the oak barrels?"


@pytest.fixture(scope="module")
def server() -> Iterator[EmbedServer]:
    with EmbedServer() as running:
        yield running


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("only") / "home"


def started(home: Path, server: EmbedServer, **settings: str) -> RunningTaishi:
    return RunningTaishi(
        home, "--no-story", embedder="openai", embedding__base_url=server.base_url, embedding__model="stand-in",
        embedding__dimension=str(DIMENSION), **settings,
    ).wait_until_up()  # fmt: skip


@pytest.fixture(scope="module")
def running(home: Path, server: EmbedServer) -> Iterator[RunningTaishi]:
    running = started(home, server)
    yield running
    running.stop()


def told(running: RunningTaishi, *arguments: str) -> dict[str, Any]:
    done = running.cli(*arguments, "--json", seconds=300)
    assert done.returncode == 0, done.stdout + done.stderr
    reply: dict[str, Any] = json.loads(done.stdout)
    return reply


def recall(running: RunningTaishi, query: str) -> dict[str, Any]:
    asked = {"namespace": "n", "query": query, "explain": True}
    reply = httpx.post(f"{running.read}/v1/recall", json=asked, timeout=20)
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def cut_by(reply: dict[str, Any]) -> str:
    """The words that the question was cut into."""
    return " ".join(reply["explain"]["words"])


def inodes(home: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in (home / "vectors").glob("vectors-p*.db")}


def vectors(home: Path) -> dict[str, list[Any]]:
    """What is in each vector file."""
    found: dict[str, list[Any]] = {}
    for name in inodes(home):
        connection = open_connection(home / "vectors" / name, read_only=True)
        found[name] = connection.execute("SELECT id, ns, content_key, vector FROM vectors ORDER BY id").fetchall()
        connection.close()
    return found


class Asking:
    """Recalls in a loop; keeps what answers lacked."""

    def __init__(self, running: RunningTaishi) -> None:
        self.asked = 0
        self.wrong: list[dict[str, Any]] = []
        self._running, self._stop = running, threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop.is_set():
            reply = recall(self._running, ASKED)
            self.asked += 1
            if reply["degraded"] or not reply["items"] or not reply["items"][0]["why"]["scores"].get("dense"):
                self.wrong.append(reply)

    def __enter__(self) -> Asking:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def test_vectors_are_embedded_anew_while_those_there_serve(running: RunningTaishi, home: Path) -> None:
    events = [{"namespace": "n", "content": text} for text in SAID]
    httpx.post(f"{running.write}/v1/events", json={"events": events}, timeout=20).raise_for_status()
    running.settle("n", seconds=120)
    before, held = inodes(home), vectors(home)
    assert sum(map(len, held.values())) >= len(SAID)
    with Asking(running) as asking:
        assert told(running, "rebuild", "--only", "vectors") == {"vectors": "embedding anew"}
        end = time.monotonic() + 60
        while (after := inodes(home)).keys() != before.keys() or after.items() & before.items():
            assert time.monotonic() < end, (after, before)
            time.sleep(0.1)
        running.settle("n", seconds=120)
    assert asking.asked and not asking.wrong, asking.wrong[:1]
    assert vectors(home) == held
    assert not (home / "vectors" / "anew").exists()


def test_search_is_built_anew_with_the_namespace_s_words_and_keeps_its_vectors(
    running: RunningTaishi, home: Path
) -> None:
    httpx.put(f"{running.write}/v1/namespaces/n", json={"dictionary": [TERM]}, timeout=20).raise_for_status()
    running.settle("n", seconds=120)
    assert TERM in cut_by(recall(running, f"{TERM}怎么样？"))
    before = inodes(home)
    fresh = told(running, "rebuild", "--only", "search")["generation"]
    assert fresh["state"] == "ready"
    assert told(running, "activate", fresh["name"])["live"]["name"] == fresh["name"]
    reply = recall(running, f"{TERM}怎么样？")
    assert TERM in cut_by(reply) and TERM in reply["items"][0]["text"]
    assert inodes(home) == before, "vectors outlive generations"
    compared = told(running, "diff", "g1", fresh["name"], "--asked", "0")
    assert compared["share"] == 0.0 and compared["digests"][0] == compared["digests"][1]


def test_search_is_built_anew_after_the_home_s_dictionary_changed(
    running: RunningTaishi, home: Path, server: EmbedServer
) -> None:
    asked = f"{OTHER_TERM}怎么样？"
    assert OTHER_TERM not in cut_by(recall(running, asked))
    running.stop()
    words = home.parent / "words.txt"
    words.write_text(OTHER_TERM + "\n", "utf-8")
    again = started(home, server, dictionary=str(words))
    try:
        again.settle("n", seconds=120)
        before = recall(again, asked)
        assert OTHER_TERM in cut_by(before), "the live one was replayed at the start"
        fresh = told(again, "rebuild", "--only", "search")["generation"]
        assert fresh["state"] == "ready", fresh
        told(again, "activate", fresh["name"])
        after = recall(again, asked)
        assert OTHER_TERM in cut_by(after) and OTHER_TERM in after["items"][0]["text"]
        assert [i["id"] for i in after["items"]] == [i["id"] for i in before["items"]]
        assert told(again, "verify", "--replay")["equal"]
    finally:
        again.stop()
