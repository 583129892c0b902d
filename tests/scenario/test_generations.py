"""Another extractor takes over on a running Taishi, after corrections, forgetting and feedback; and goes again."""

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.anew import MARK, install
from tests.support.running import RunningTaishi

SAID = (
    "I live in Hangzhou and I like green tea.",
    "I work at Acme.",
    "I like jazz, and I moved to Ningbo.",
    "我叫小林，我在星河公司工作。",
    "My birthday is May 4.",
)
PLAIN = ("I work at Initech.", "I live in Dalian.", "我叫老周。")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningTaishi]:
    folder = tmp_path_factory.mktemp("generations")
    before = dict(os.environ)
    os.environ.update(install(folder / "site"))
    try:
        taishi = RunningTaishi(
            folder / "home", "--no-story", embedder="off", extractor_plugins='["anew"]', rq_workers="1"
        )
    finally:
        os.environ.clear()
        os.environ.update(before)
    try:
        yield taishi.wait_until_up()
    finally:
        taishi.stop()


def told(running: RunningTaishi, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = running.cli(*arguments, "--json")
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout) if code == 0 else {}


def say(running: RunningTaishi, *texts: str, namespace: str = "n") -> None:
    events = [{"namespace": namespace, "content": text, "session": "s"} for text in texts]
    httpx.post(f"{running.write}/v1/events", json={"events": events}, timeout=20).raise_for_status()
    running.settle(namespace)


def memories(running: RunningTaishi) -> dict[str, dict[str, Any]]:
    """What holds now, by predicate and value."""
    reply = httpx.get(f"{running.read}/v1/memories", params={"namespace": "n", "limit": 100}, timeout=20).json()
    return {f"{i['predicate']} {i['value']}": i for i in reply["items"] if i["status"] == "current"}


class Asking:
    """Recalls in a loop, where nothing was ever corrected or forgotten: every claim of an answer is marked, or none."""

    def __init__(self, running: RunningTaishi) -> None:
        self.asked, self.failed, self.mixed = 0, [], []  # type: ignore[var-annotated]
        self.seen: set[bool] = set()
        self._stop = threading.Event()
        self._url = f"{running.read}/v1/recall"
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with httpx.Client(timeout=20) as client:
            while not self._stop.is_set():
                reply = client.post(self._url, json={"namespace": "plain", "query": "Where do I work and live?"})
                self.asked += 1
                if reply.status_code != 200:
                    self.failed.append(reply.text)
                    continue
                items = reply.json()["items"]
                marked = {i["value"].endswith(MARK) for i in items if i["kind"] == "claim"}
                self.seen |= marked
                if len(marked) > 1:
                    self.mixed.append(items)

    def __enter__(self) -> "Asking":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def test_an_upgrade_on_a_history_that_was_corrected_forgotten_and_fed_back(
    running: RunningTaishi, tmp_path: Path
) -> None:
    say(running, *SAID)
    say(running, *PLAIN, namespace="plain")
    held = memories(running)
    assert {"works_at 星河公司", "likes jazz", "lives_in Ningbo"} <= held.keys(), held.keys()
    done = running.cli("correct", held["works_at 星河公司"]["id"], "--value", "Globex", "-n", "n")
    assert done.returncode == 0, done.stderr
    assert running.cli("forget", held["likes jazz"]["id"], "-n", "n").returncode == 0
    url = f"{running.write}/v1/memories/{held['likes green tea']['id']}/confirm"
    httpx.post(url, json={"namespace": "n"}, timeout=20).raise_for_status()
    running.settle("n")
    before = memories(running)
    assert "lives_in Ningbo" in before, "it outlives the words it was said in"

    assert told(running, "rebuild", "--extractor", "anew@3")["generation"]["state"] == "ready"
    assert memories(running).keys() == before.keys(), "the live one serves on"

    found = told(running, "diff", "--page", str(tmp_path / "diff.html"))
    assert found["after"]["extractor"] == "anew@3"
    kinds = {(c["kind"], c["predicate"]) for c in found["changes"]}
    assert {("lost", "likes"), ("gained", "note"), ("changed", "works_at")} <= kinds, kinds
    assert all(c["words"] in (None, *SAID, *PLAIN) for c in found["changes"])
    assert found["tombstones"] == {"checked": 1, "readable": []}
    assert {u["kind"] for u in found["unbound"]} == {"confirmed", "wrong"}, found["unbound"]
    page = (tmp_path / "diff.html").read_text("utf-8")
    assert all(c["words"] in page for c in found["changes"] if c["words"])

    assert running.cli("activate", "2").returncode == 1, "too much changes: it must be forced"
    with Asking(running) as asking:
        for command in (("activate", "2", "--force"), ("rollback",), ("activate", "g2", "--force")):
            told(running, *command)
            time.sleep(0.2)
    assert not asking.failed
    assert not asking.mixed
    assert asking.seen == {True, False}

    after = memories(running)
    assert "lives_in Ningbo" in after, "carried over, as it was read"
    assert not any("jazz" in name for name in after)
    assert "works_at Globex" in after, "what the user corrected still holds"
    told(running, "verify", "--replay")
    told(running, "verify", "g1", "--replay")


def test_what_is_said_later_is_read_for_both_and_a_forget_reaches_both(running: RunningTaishi) -> None:
    say(running, "I live in Suzhou.")
    assert f"lives_in Suzhou{MARK}" in memories(running)
    gone = memories(running)[f"lives_in Suzhou{MARK}"]["id"]
    assert running.cli("forget", gone, "-n", "n").returncode == 0
    running.settle("n")
    told(running, "rollback")
    running.settle("n")
    assert "lives_in Suzhou" not in memories(running)
    assert told(running, "diff", "g1", "2")["tombstones"]["readable"] == []
    told(running, "verify", "--replay")


def test_old_generations_go_and_the_live_one_never(running: RunningTaishi) -> None:
    assert told(running, "rebuild")["generation"]["number"] == 3
    found = told(running, "diff", "1", "3")
    assert found["share"] == 0.0
    assert found["claims"]["gained"] == 0
    assert [d["digest"] for d in found["digests"][0]] == [d["digest"] for d in found["digests"][1]]
    dropped = told(running, "generations", "--prune")
    assert (dropped["live"], dropped["dropped"]) == (1, [3])
    folder = running.home / "models"
    until = time.monotonic() + 10
    while (folder / "g3").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert sorted(p.name for p in folder.glob("g?")) == ["g1", "g2"]
