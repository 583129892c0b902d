"""Forgetting while the same words are being read, read models rebuilt and vectors made anew, at random moments.

    python -P -m tests.scenario.test_forget_interleavings [--rounds 100] [--seed N]

is the long form.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from starlette.testclient import TestClient

from taishi.commands import forget as forget_command
from taishi.ingest.errors import Gone
from taishi.projections.analysis import Analyzer
from taishi.projections.digest import content_digest
from taishi.projections.store import open_connection
from taishi.projections.worker import model_path
from tests.support.forgetting_stack import PARTITIONS, ForgettingStack
from tests.support.valkey_server import ValkeyServer

ANALYZER = Analyzer()
SCOPES = ("claim", "claim", "claim", "event", "subject", "session", "namespace")


@pytest.fixture
def stack(valkey: ValkeyServer, tmp_path: Path) -> Iterator[ForgettingStack]:
    stack = ForgettingStack(valkey, tmp_path, analyzer=ANALYZER)
    stack.run()
    yield stack
    stack.close()


def say(http: TestClient, namespace: str, text: str, **more: Any) -> str:
    body = {"events": [{"namespace": namespace, "content": text, **more}]}
    reply = http.post("/v1/events", json=body)
    assert reply.status_code == 202, reply.text
    return str(reply.json()["accepted"][0]["event_id"])


def known(stack: ForgettingStack, namespace: str, value: str, *, seconds: float = 20) -> str:
    end = time.monotonic() + seconds
    while True:
        found = [claim_id for claim_id, said in stack.claims(namespace) if value in said]
        if found:
            return found[0]
        assert time.monotonic() < end, f"{value} was never read"
        time.sleep(0.005)


def forget(http: TestClient, namespace: str, memory_id: str) -> dict[str, Any]:
    reply = http.delete(f"/v1/memories/{memory_id}", params={"namespace": namespace})
    assert reply.status_code == 200, reply.text
    return dict(reply.json()["receipt"])


def forget_scope(http: TestClient, namespace: str, scope: dict[str, Any]) -> dict[str, Any]:
    body = {"namespace": namespace, **scope}
    token = http.post("/v1/forget", json=body).json()["confirm"]
    reply = http.post("/v1/forget", json={**body, "confirm": token})
    assert reply.status_code == 200, reply.text
    return dict(reply.json()["receipt"])


def test_random_interleavings(stack: ForgettingStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taishi.commands.forget.READING_SECONDS", 0.01)
    assert interleave(stack, rounds=30, seed=5)


def interleave(stack: ForgettingStack, *, rounds: int, seed: int) -> int:
    """How many extractions came after the tombstone that forbade them. Raises AssertionError."""
    stack.reader.seconds = 0.05
    rng = random.Random(seed)

    def one(number: int, scope: str, pauses: list[float]) -> None:
        namespace, thing = f"ns-{number}", f"qv{number}zor"
        first = say(http, namespace, f"I like {thing}.", session="a")
        claim = known(stack, namespace, thing)
        again = say(http, namespace, f"I like {thing}.", session="b")
        time.sleep(pauses[0])
        say(http, namespace, f"I really like {thing}. I work at Acme{number}.", session="c")
        time.sleep(pauses[1])
        match scope:
            case "claim":
                forget(http, namespace, claim)
            case "event":
                forget(http, namespace, again)
                forget(http, namespace, first)
            case "subject":
                forget_scope(http, namespace, {"subject": "user"})
            case "session":
                forget_scope(http, namespace, {"session": "b"})
            case _:
                forget_scope(http, namespace, {"all": True})

    with stack.api() as http, ThreadPoolExecutor(12) as pool:
        plans = [(n, rng.choice(SCOPES), [rng.uniform(0, 0.06), rng.uniform(0, 0.06)]) for n in range(rounds)]
        running = [pool.submit(one, *plan) for plan in plans[: rounds // 2]]
        for future in running:
            future.result()
        stack.embed("second")
        stack.build_second()
        for future in [pool.submit(one, *plan) for plan in plans[rounds // 2 :]]:
            future.result()
        stack.settle()
        for number, scope, _ in plans:
            judge(stack, number, scope)
        claims = {n for n, scope, _ in plans if scope == "claim"}
        late = [e for e in stack.events() if e.type == "claim.forgotten" and e.facts["kind"] == "late"]
        for number in sorted(claims)[:3]:
            say(http, f"ns-{number}", f"I like qv{number}zor.", session="d")
            known(stack, f"ns-{number}", f"qv{number}zor")
    stack.settle()
    for partition in range(PARTITIONS):
        digests = [digest_of(folder, partition) for folder in (stack.live, stack.second)]
        assert digests[0] == digests[1], "a generation built meanwhile is another"
    return len(late)


def judge(stack: ForgettingStack, number: int, scope: str) -> None:
    """0 resurrected: no row, no readable event of the log says it; 0 stuck: nothing waits."""
    namespace, thing = f"ns-{number}", f"qv{number}zor"
    partition = stack.log.partition_of(namespace)
    whole = scope in ("claim", "subject", "namespace")
    said = [
        event.event_id
        for event in stack.events()
        if event.namespace == namespace and event.body is not None and thing in str(event.body)
    ]
    held = [value for _, value in stack.claims(namespace) if thing in value]
    for folder in stack.following:
        rows = open_connection(model_path(folder, partition), read_only=True)
        ns = rows.execute("SELECT ns FROM namespaces WHERE name = ?", (namespace,)).get
        assert not rows.execute("SELECT pending FROM namespaces WHERE ns = ?", (ns,)).get
        words = rows.execute("SELECT text FROM claims WHERE ns = ? AND text IS NOT NULL", (ns,)).fetchall()
        words += rows.execute("SELECT text FROM events WHERE ns = ? AND text IS NOT NULL", (ns,)).fetchall()
        words += rows.execute("SELECT words FROM tokens WHERE ns = ?", (ns,)).fetchall()
        found = [text for (text,) in words if thing in text]
        rows.close()
        assert not (whole and found), (scope, found)
    if whole:
        assert not said and not held, (scope, said, held)
    if scope in ("claim",):
        assert any(f"acme{number}" in value.lower() for _, value in stack.claims(namespace)), "other claims live on"


def digest_of(folder: Path, partition: int) -> str:
    connection = open_connection(model_path(folder, partition), read_only=True)
    try:
        return content_digest(connection)
    finally:
        connection.close()


def test_words_that_wait_for_a_model_are_forgotten_when_they_are_read(
    stack: ForgettingStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taishi.commands.forget.READING_SECONDS", 0.05)
    with stack.api() as http:
        say(http, "n", "I like oolong.", session="a")
        claim = known(stack, "n", "oolong")
        stack.jobs.going.clear()
        say(http, "n", "I like oolong.", session="b")
        mixed = say(http, "n", "I like oolong. I live in Bonn.", session="c")
        receipt = forget(http, "n", claim)
        assert receipt["unread"] == 2 and receipt["read_models"] == "dropped" and receipt["chain"]
        assert not stack.claims("n")
        stack.jobs.going.set()
        stack.settle()
        assert [value for _, value in stack.claims("n")] == ["Bonn"]
        left = [str(e.body) for e in stack.events() if e.body is not None]
        assert not any("oolong" in body for body in left)
        entries = stack.ledger.entries()
        assert {entry.kind for entry in entries} == {"claim", "late"}
        with pytest.raises(Gone):
            stack.directory.event("n", mixed)
        body = {"events": [{"namespace": "n", "content": "I like oolong. I live in Bonn.", "event_id": mixed}]}
        assert http.post("/v1/events", json=body).status_code == 410
        say(http, "n", "I like oolong.", session="d")
        known(stack, "n", "oolong")


def test_the_settings_of_a_namespace_are_forgotten_with_it_and_it_is_proved(
    stack: ForgettingStack, tmp_path: Path
) -> None:
    name = "欧阳若曦"
    with stack.api() as http:
        for words in ([name, "云雀引擎"], ["云雀引擎"]):
            http.put("/v1/namespaces/n", json={"dictionary": words, "timezone": "Asia/Shanghai"}).raise_for_status()
        receipt = forget_scope(http, "n", {"all": True})
        assert receipt["counts"]["settings"] == 2 and receipt["read_models"] == "dropped"
        assert http.post("/v1/forget/verify", json={"receipt": receipt}).json()["proved"]
        assert http.post("/v1/forget", json={"namespace": "n", "all": True}).json()["would_forget"] == {
            "claims": 0, "events": 0,
        }  # fmt: skip
    assert stack.directory.zone("n") == ZoneInfo("UTC")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and name.encode() in path.read_bytes()]
    assert [event.body for event in stack.events() if event.type == "namespace.configured"] == [None, None]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=100)
    options.add_argument("--seed", type=int, default=int(time.time()))
    given = options.parse_args()
    forget_command.READING_SECONDS = 0.01  # type: ignore[misc]
    server = ValkeyServer().start()
    with tempfile.TemporaryDirectory(prefix="taishi-") as folder:
        stack = ForgettingStack(server, Path(folder), analyzer=ANALYZER, seed=given.seed)
        stack.run()
        try:
            late = interleave(stack, rounds=given.rounds, seed=given.seed)
        finally:
            stack.close()
            server.stop()
    print(f"seed {given.seed}: {given.rounds} interleavings, 0 resurrected, 0 stuck; {late} extractions came late")


if __name__ == "__main__":
    main()
