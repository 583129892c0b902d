"""A namespace exported and imported under another name answers everything as the first one does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.running import RunningTaishi

SAID = [
    ("2025-03-01", "I work in Hangzhou."),
    ("2025-03-02", "I like jasmine tea and rice."),
    ("2025-03-03", "我对花生过敏"),
    ("2025-03-05", "My name is Wendell."),
    ("2025-03-06", "I live in Hangzhou."),
    ("2025-04-06", "I live in Shanghai now."),
    ("2025-05-06", "I live in Beijing now."),
    ("2025-06-01", "I no longer like rice."),
    ("2025-08-01", "I actually moved to Beijing in May."),
]
FORGOTTEN = ("jasmine", "Shanghai")
STATUSES = "current,planned,ended,superseded,contested,archived,retracted,forgotten"
POINTS: list[dict[str, str]] = [
    {},
    {"known_at": "2025-03-04T00:00:00Z"},
    {"known_at": "2025-06-15T00:00:00Z"},
    {"valid_at": "2025-04-20T00:00:00Z"},
    {"valid_at": "2025-04-20T00:00:00Z", "known_at": "2025-04-21T00:00:00Z"},
    {"valid_at": "2025-06-20T00:00:00Z", "known_at": "2025-07-21T00:00:00Z"},
]
QUESTIONS = ["Where do I live?", "Where does Bobby work?", "我对什么过敏？", "What tea do I like?", "What do I like?"]
OWN = ("id", "slot", "exposure_id", "position", "memory_id", "appended_at", "window", "as_of")
"""What follows from a namespace's name, the deployment's secrets or the log's own places."""
ASKING = ("reads", "read_at", "score", "why")
"""What asking changes: a memory that is read stays longer, as soon as the log has it."""


@pytest.fixture(scope="module")
def taishi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningTaishi]:
    running = RunningTaishi(tmp_path_factory.mktemp("home"), "--no-story", embedder="off").wait_until_up()
    try:
        live_through(running)
        yield running
    finally:
        running.stop()


def call(taishi: RunningTaishi, method: str, path: str, **given: Any) -> dict[str, Any]:
    side = taishi.read if path in ("/v1/recall", "/v1/timeline") or method == "GET" else taishi.write
    reply = httpx.request(method, side + path, timeout=60, **given)
    assert reply.is_success, reply.text
    return dict(reply.json())


def live_through(taishi: RunningTaishi) -> None:
    call(taishi, "PUT", "/v1/namespaces/src", json={"timezone": "Asia/Macau"})
    ids: dict[str, str] = {}
    for day, text in SAID:
        at = f"{day}T09:00:00+08:00"
        event = {"namespace": "src", "content": text, "session": "s", "recorded_at": at, "occurred_at": at}
        ids[text] = call(taishi, "POST", "/v1/import", json={"events": [event]})["accepted"][0]["event_id"]
    taishi.settle("src")
    bob = {"namespace": "src", "subject": "Bob", "predicate": "works_at", "value": "Acme"}
    first = call(taishi, "POST", "/v1/memories", json=bob)["memory_id"]
    corrected = {"namespace": "src", "value": "Initech", "was": "wrong", "reason": "a slip"}
    second = call(taishi, "POST", f"/v1/memories/{first}/correct", json=corrected)["memory_id"]
    call(taishi, "POST", f"/v1/memories/{second}/confirm", json={"namespace": "src"})
    note = call(taishi, "POST", "/v1/memories", json={"namespace": "src", "text": "The gate code changed twice."})
    taken_back = {"namespace": "src", "was": "wrong"}
    call(taishi, "POST", f"/v1/memories/{note['memory_id']}/correct", json=taken_back)
    call(taishi, "POST", "/v1/entities/alias", json={"namespace": "src", "name": "Bobby", "of": "Bob"})
    shown = call(taishi, "POST", "/v1/recall", json={"namespace": "src", "query": "Where does Bob work?"})
    feedback = {"namespace": "src", "exposure_id": shown["items"][0]["exposure_id"], "helpful": True, "note": "good"}
    call(taishi, "POST", "/v1/feedback", json=feedback)
    for word in FORGOTTEN:
        (memory_id,) = (i for text, i in ids.items() if word in text)
        call(taishi, "DELETE", f"/v1/memories/{memory_id}", params={"namespace": "src"})
    taishi.settle("src")


def plain(found: Any) -> Any:
    """Without what is a namespace's own; places in context lines likewise."""
    if isinstance(found, dict):
        return {k: plain(v) for k, v in found.items() if k not in OWN + ASKING}
    if isinstance(found, list):
        return [plain(one) for one in found]
    return re.sub(r"p\d+:\d+", "p", found) if isinstance(found, str) else found


def answers(taishi: RunningTaishi, namespace: str) -> list[Any]:
    found: list[Any] = []
    for point in POINTS:
        query = {"namespace": namespace, "status": STATUSES, "limit": "200", **point}
        found.append(call(taishi, "GET", "/v1/memories", params=query))
        for question in QUESTIONS:
            asked = {"namespace": namespace, "query": question, **point}
            found.append(call(taishi, "POST", "/v1/recall", json=asked))
    found.append(call(taishi, "GET", "/v1/timeline", params={"namespace": namespace}))
    for item in found[0]["items"]:
        history = call(taishi, "GET", f"/v1/memories/{item['id']}/history", params={"namespace": namespace})
        found.append(history)
    return found


def test_the_round_trip_gives_the_same_answers(taishi: RunningTaishi, tmp_path: Path) -> None:
    told = json.loads(taishi.cli("export", "-n", "src", str(tmp_path / "x.jsonl"), "--json").stdout)
    assert told["left_out"] == 0 and told["events"] > len(SAID)
    content = (tmp_path / "x.jsonl").read_text("utf-8")
    assert "花生" in content and not any(word in content for word in FORGOTTEN)
    imported = taishi.cli("import", str(tmp_path / "x.jsonl"), "-n", "dst", "--json")
    assert json.loads(imported.stdout) == {"imported": told["events"], "duplicates": 0, "silent": 0}, imported.stderr
    taishi.settle("dst")
    before = plain(answers(taishi, "src"))
    after = plain(answers(taishi, "dst"))
    for one, other in zip(before, after, strict=True):
        assert one == other
    assert len(before[0]["items"]) >= 12 and any(item["status"] == "forgotten" for item in before[0]["items"])
    again = taishi.cli("import", str(tmp_path / "x.jsonl"), "-n", "dst", "--json")
    assert json.loads(again.stdout) == {"imported": 0, "duplicates": told["events"], "silent": 0}
    assert call(taishi, "GET", "/v1/status", params={"namespace": "dst"})["pending_extractions"] == 0


    life_goes_on(taishi)


def life_goes_on(taishi: RunningTaishi) -> None:
    event = {"namespace": "dst", "content": "I live in Nanjing now.", "session": "s"}
    call(taishi, "POST", "/v1/events", json={"events": [event]})
    taishi.settle("dst")
    asked = {"namespace": "dst", "query": "Where do I live?"}
    assert "Nanjing" in call(taishi, "POST", "/v1/recall", json=asked)["items"][0]["text"]
    query = {"namespace": "dst", "predicate": "lives_in", "status": "superseded"}
    superseded = call(taishi, "GET", "/v1/memories", params=query)["items"]
    assert superseded[0]["value"] == "Beijing"
    call(taishi, "DELETE", f"/v1/memories/{superseded[0]['id']}", params={"namespace": "dst"})


def test_an_encrypted_export_is_imported_with_its_passphrase(taishi: RunningTaishi, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("open sesame\n")
    sealed, key = str(tmp_path / "x.sealed"), str(tmp_path / "key")
    told = json.loads(taishi.cli("export", "-n", "src", sealed, "--passphrase-file", key, "--json").stdout)
    assert told["encrypted"] and b"Wendell" not in (tmp_path / "x.sealed").read_bytes()
    opened = taishi.cli("import", sealed, "-n", "sealed", "--passphrase-file", key, "--json")
    assert json.loads(opened.stdout)["imported"] == told["events"]
