"""Backup → forget → restore the older backup, on whole running stacks: of what was forgotten nothing comes back."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

from taishi.deploy.backup.folders import default_keys_folder
from taishi.deploy.backup.marker import MARKER
from taishi.projections.store import open_connection
from tests.support.running import RunningTaishi

FORGOTTEN, ONE_BY_ONE, KEPT = 100, 10, 20
CLI = (sys.executable, "-P", "-m", "taishi.deploy.cli")


def alone(taishi: RunningTaishi, home: Path, *arguments: str) -> dict[str, Any]:
    """A command on a home that nothing runs on; its --json reply."""
    environment = {**taishi.environment, "TAISHI_HOME": str(home)}
    done = subprocess.run([*CLI, *arguments, "--json"], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def publish(taishi: RunningTaishi, namespace: str, words: list[str], *, session: str) -> list[str]:
    events = [{"namespace": namespace, "content": f"I like {word}.", "session": session} for word in words]
    reply = httpx.post(f"{taishi.write}/v1/events", json={"events": events}, timeout=30).raise_for_status().json()
    return [one["event_id"] for one in reply["accepted"]]


def delete(taishi: RunningTaishi, namespace: str, memory_id: str) -> None:
    where = f"{taishi.write}/v1/memories/{memory_id}"
    httpx.delete(where, params={"namespace": namespace}, timeout=30).raise_for_status()


def forget_session(taishi: RunningTaishi, namespace: str, session: str) -> None:
    body = {"namespace": namespace, "session": session}
    token = httpx.post(f"{taishi.write}/v1/forget", json=body, timeout=30).raise_for_status().json()["confirm"]
    httpx.post(f"{taishi.write}/v1/forget", json={**body, "confirm": token}, timeout=30).raise_for_status()


def seen(taishi: RunningTaishi, namespace: str, word: str) -> bool:
    """Whether recall shows the word."""
    asked = {"namespace": namespace, "query": f"who drinks {word}?", "limit": 50}
    recalled = httpx.post(f"{taishi.read}/v1/recall", json=asked, timeout=30).raise_for_status().json()
    return any(word in json.dumps(item) for item in recalled["items"])


def listed(taishi: RunningTaishi, namespace: str) -> str:
    """All that lists show."""
    query: dict[str, Any] = {"namespace": namespace, "limit": 100, "status": "current,ended,superseded,forgotten"}
    found = ""
    while True:
        reply = httpx.get(f"{taishi.read}/v1/memories", params=query, timeout=30).raise_for_status().json()
        found += json.dumps(reply["items"])
        if not reply["next_cursor"]:
            return found
        query["cursor"] = reply["next_cursor"]


def upgrade(taishi: RunningTaishi) -> None:
    """All words read anew by an extractor, and its generation made the live one."""
    rebuilt = taishi.cli("rebuild", "--extractor", "rules", "--json")
    assert rebuilt.returncode == 0, rebuilt.stderr
    number = json.loads(rebuilt.stdout)["generation"]["number"]
    assert taishi.cli("activate", str(number), "--json").returncode == 0


def folded(home: Path) -> list[int]:
    """Up to where the read models of a home have folded."""
    return [
        int(open_connection(path, read_only=True).execute("SELECT seq FROM checkpoint").get)
        for path in sorted((home / "models").glob("*/claims-p*.db"))
    ]


def test_of_a_hundred_forgotten_after_the_backup_none_comes_back(tmp_path: Path) -> None:
    taishi = RunningTaishi(tmp_path / "home", "--no-story", embedder="off").wait_until_up()
    one_by_one = [f"quillbrew{n:03}" for n in range(ONE_BY_ONE)]
    at_once = [f"quillbrew{n:03}" for n in range(ONE_BY_ONE, FORGOTTEN)]
    kept = [f"quillbrew{n:03}" for n in range(FORGOTTEN, FORGOTTEN + KEPT)]
    newer, older = tmp_path / "newer", tmp_path / "older"
    try:
        ids = publish(taishi, "ada", one_by_one, session="chat")
        publish(taishi, "ada", at_once, session="gone")
        publish(taishi, "ada", kept, session="chat")
        taishi.settle("ada")
        told = json.loads(taishi.cli("backup", str(older), "--json").stdout)
        assert told["models"] and told["entries"] == 3 * (FORGOTTEN + KEPT)
        shutil.copytree(older, newer)
        shutil.copytree(default_keys_folder(older), default_keys_folder(newer))
        for memory_id in ids:
            delete(taishi, "ada", memory_id)
        forget_session(taishi, "ada", "gone")
        upgrade(taishi)
        assert json.loads(taishi.cli("backup", str(newer), "--json").stdout)["part"] == 2
    finally:
        assert taishi.stop() == 0
    for copy in [*older.rglob("*"), *newer.rglob("*")]:
        assert copy.is_dir() or b"quillbrew" not in copy.read_bytes(), copy

    unforgetting = alone(taishi, tmp_path / "as-it-was", "restore", str(older), "--without-newer-ledger")
    assert unforgetting["models"] and sum(folded(tmp_path / "as-it-was")) == told["entries"]

    ledger = tmp_path / "home" / "keys" / "ledger.jsonl"
    restored = alone(taishi, tmp_path / "new", "restore", str(older), "--ledger", str(ledger))
    assert restored["tombstones"] == ONE_BY_ONE + 1 and restored["keys_destroyed"] >= 2 * FORGOTTEN
    assert restored["models"] is False
    again = RunningTaishi(tmp_path / "new", "--no-story", embedder="off").wait_until_up()
    try:
        again.settle("ada")
        for upgraded in (False, True):
            if upgraded:
                upgrade(again)
            everything = listed(again, "ada")
            assert [word for word in (*one_by_one, *at_once) if word in everything] == []
            assert [word for word in (*one_by_one[::2], *at_once[::10]) if seen(again, "ada", word)] == []
            assert all(word in everything for word in kept) and seen(again, "ada", kept[0])
        event = {"namespace": "ada", "content": f"I like {one_by_one[0]}.", "session": "chat", "event_id": ids[0]}
        assert httpx.post(f"{again.write}/v1/events", json={"events": [event]}, timeout=30).status_code == 410
        publish(again, "ada", [one_by_one[0]], session="chat")  # the same words said again are new evidence
        again.settle("ada")
        assert seen(again, "ada", one_by_one[0])
    finally:
        assert again.stop() == 0
    (tmp_path / "new" / MARKER).write_text("{}")
    assert "was not finished" in RunningTaishi(tmp_path / "new", "--no-story").refused()
