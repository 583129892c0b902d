"""The write API on its real parts: the log on a real server, the key store, the read models folded from the log."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from taishi.commands.http import create_app
from taishi.deploy.claim_directory import ReadModelDirectory
from taishi.deploy.kept_files import Folders, KeptFiles
from taishi.ingest.claims import Claim
from taishi.ingest.envelope import Event
from taishi.ingest.ledger import Ledger
from taishi.ingest.registry import default_registry
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog
from taishi.projections.analysis import Analyzer
from taishi.projections.lookup import Lookup
from taishi.projections.worker import Projector
from tests.support.valkey_server import ValkeyServer


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    return text, ()


@dataclass(frozen=True, slots=True)
class Running:
    http: TestClient
    app: FastAPI
    log: ValkeyLog
    namespace: str

    def post(self, path: str, body: dict[str, Any], status: int = 202) -> dict[str, Any]:
        reply = self.http.post(path, json={"namespace": self.namespace, **body})
        assert reply.status_code == status, reply.text
        found: dict[str, Any] = reply.json()
        return found

    def publish(self, *contents: str, status: int = 202, path: str = "/v1/events", **more: Any) -> dict[str, Any]:
        events = [{"namespace": self.namespace, "content": content, **more} for content in contents]
        reply = self.http.post(path, json={"events": events})
        assert reply.status_code == status, reply.text
        found: dict[str, Any] = reply.json()
        return found

    def events(self) -> list[Event]:
        found: list[Event] = []
        for partition in range(self.log.partitions):
            while batch := self.log.read(partition, after=found[-1].position.seq if _in(found, partition) else 0):
                found += batch
        return [event for event in found if event.namespace == self.namespace]


def _in(found: list[Event], partition: int) -> bool:
    return bool(found) and found[-1].position.partition == partition


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    return Analyzer()


def running_on(server: ValkeyServer, folder: Path, analyzer: Analyzer, *, project: bool = True) -> Iterator[Running]:
    keys = SqlAlchemyKeyStore(f"sqlite:///{folder}/keys.db")
    log = ValkeyLog(server.url, keys=keys)
    app = create_app(
        log=log,
        keys=keys,
        ledger=Ledger(folder / "ledger.jsonl", keys.secret("ledger")),
        directory=ReadModelDirectory(
            log=log,
            lookup=Lookup(lambda: folder),
            kept=KeptFiles(lambda: Folders(following=[folder], resting=[]), folder),
        ),
        registry=default_registry(),
        redact=redact,
    )
    stop = threading.Event()
    projector = Projector(log=log, folder=folder, partitions=range(log.partitions), analyzer=analyzer)
    worker = threading.Thread(target=projector.run, args=[stop])
    if project:
        worker.start()
    with TestClient(app, raise_server_exceptions=False) as http:
        yield Running(http, app, log, "ns-" + uuid4().hex[:8])
    stop.set()
    if project:
        worker.join()
    projector.close()
    log.close()


@pytest.fixture
def run(valkey: ValkeyServer, tmp_path: Path, analyzer: Analyzer) -> Iterator[Running]:
    yield from running_on(valkey, tmp_path, analyzer)


def test_words_come_back_from_the_log_and_a_retry_adds_nothing(run: Running) -> None:
    known = str(uuid4())
    first = run.publish("the gate opens at dawn", event_id=known, metadata={"mood": "calm"})["accepted"][0]
    again = run.publish("the gate opens at dawn", event_id=known, metadata={"mood": "calm"})["accepted"][0]
    assert again == {**first, "duplicate": True}
    assert run.publish("the gate is shut", event_id=known, status=409)["type"] == "urn:taishi:problem:event-id-conflict"
    (event,) = run.events()
    assert event.body == {"text": "the gate opens at dawn", "metadata": {"mood": "calm"}}
    assert str(event.position) == first["position"]


def test_history_cannot_be_slipped_in_behind(run: Running) -> None:
    run.publish("the bridge was built", path="/v1/import", recorded_at="2024-05-01T00:00:00Z")
    problem = run.publish("the bridge was sold", path="/v1/import", recorded_at="2024-04-01T00:00:00Z", status=409)
    assert (problem["earliest"], problem["field"]) == ("2024-05-01T00:00:00Z", "events.0.recorded_at")
    memory = {"subject": "user", "predicate": "owns", "value": "a boat", "recorded_at": "2024-04-01T00:00:00Z"}
    assert run.post("/v1/memories", memory, 409)["field"] == "recorded_at"
    assert len(run.events()) == 1


def test_a_correction_finds_its_claim_and_a_forgotten_one_is_gone_for_good(run: Running) -> None:
    memory = {"subject": "user", "predicate": "works_at", "value": "the mill", "valid_from": "2020-01-01T00:00:00Z"}
    first = run.post("/v1/memories", memory)["memory_id"]
    changed = {"was": "true_until", "value": "the forge", "valid_from": "2022-01-01T00:00:00Z"}
    second = run.post(f"/v1/memories/{first}/correct", changed)["memory_id"]
    receipt = run.http.delete(f"/v1/memories/{second}", params={"namespace": run.namespace}).json()["receipt"]
    assert receipt["counts"]["claims"] == 1 and receipt["read_models"] == "dropped"
    stated, corrected, tombstone = run.events()
    assert stated.body is not None and Claim.from_body(stated.body).value == "the mill"
    assert corrected.body is None, "its key is destroyed"
    assert tombstone.digest.hex() == receipt["digest"]
    assert run.http.delete(f"/v1/memories/{second}", params={"namespace": run.namespace}).status_code == 410
    assert run.http.delete(f"/v1/memories/{first}", params={"namespace": "elsewhere"}).status_code == 404
    run.post(f"/v1/memories/{second}/correct", {"was": "wrong"}, 410)


def test_an_old_value_of_a_many_valued_slot_ends_with_the_correction(run: Running) -> None:
    memory = {"subject": "user", "predicate": "uses", "value": "chalk", "valid_from": "2020-01-01T00:00:00Z"}
    first = run.post("/v1/memories", memory)["memory_id"]
    changed = {"was": "true_until", "value": "ink", "valid_from": "2022-01-01T00:00:00Z"}
    run.post(f"/v1/memories/{first}/correct", changed)
    _, ended, new = run.events()
    claims = [Claim.from_body(event.body or {}) for event in (ended, new)]
    assert [(c.value, c.negated) for c in claims] == [("chalk", True), ("ink", False)]


def test_a_message_is_erased_and_does_not_come_back(run: Running) -> None:
    known = str(uuid4())
    run.publish("the well is dry", event_id=known)
    reply = run.http.delete(f"/v1/memories/{known}", params={"namespace": run.namespace})
    assert reply.status_code == 200, reply.text
    assert run.events()[0].body is None
    assert run.publish("the well is dry", event_id=known, status=410)["type"] == "urn:taishi:problem:gone"


def test_a_subject_is_forgotten_after_its_dry_run(run: Running) -> None:
    for subject, value in (("Orla", "baker"), ("Orla", "singer"), ("Pim", "smith")):
        run.post("/v1/memories", {"subject": subject, "predicate": "role", "value": value})
    dry = run.post("/v1/forget", {"subject": "orla"}, 200)
    assert dry["would_forget"]["claims"] == 2
    receipt = run.post("/v1/forget", {"subject": "orla", "confirm": dry["confirm"]}, 200)["receipt"]
    assert receipt["counts"]["claims"] == 2
    assert [event.body is None for event in run.events()] == [True, True, False, False]


def test_the_zone_of_a_namespace_holds_from_the_moment_it_is_set(run: Running) -> None:
    zone = run.http.put(f"/v1/namespaces/{run.namespace}", json={"timezone": "Asia/Tokyo"})
    assert zone.status_code == 202
    run.publish("tea at nine", occurred_at="2025-03-01T09:00:00")
    assert run.events()[-1].occurred_offset == 540


def test_without_read_models_publishing_goes_on_and_commands_say_try_again(
    valkey: ValkeyServer, tmp_path: Path, analyzer: Analyzer
) -> None:
    for run in running_on(valkey, tmp_path, analyzer, project=False):
        run.publish("still here")
        made = run.post("/v1/memories", {"subject": "user", "predicate": "likes", "value": "quiet"})
        began = time.monotonic()
        reply = run.http.delete(f"/v1/memories/{made['memory_id']}", params={"namespace": run.namespace})
        assert reply.status_code == 503 and reply.headers["retry-after"] and time.monotonic() - began < 10
        assert len(run.events()) == 2


def test_a_dead_server_acknowledges_nothing_and_a_restarted_one_goes_on(
    own_valkey: ValkeyServer, tmp_path: Path, analyzer: Analyzer
) -> None:
    for run in running_on(own_valkey, tmp_path, analyzer):
        run.publish("before")
        own_valkey.kill()
        problem = run.publish("during", status=503)
        assert problem["retry_after"] >= 1
        assert run.http.get("/readyz").status_code == 503
        assert run.http.get("/healthz").status_code == 200
        own_valkey.start()
        run.publish("after")
        assert [event.body["text"] for event in run.events() if event.body] == ["before", "after"]


def test_many_clients_at_once_each_get_their_own_place(run: Running) -> None:
    async def client(number: int, http: httpx.AsyncClient) -> list[tuple[str, str, str]]:
        placed = []
        for n in range(25):
            event = {"namespace": f"{run.namespace}-{number % 3}", "content": f"client {number} line {n}"}
            reply = await http.post("/v1/events", json={"events": [event]})
            assert reply.status_code == 202, reply.text
            (accepted,) = reply.json()["accepted"]
            placed.append((accepted["event_id"], accepted["position"], event["content"]))
        return placed

    async def scene() -> list[tuple[str, str, str]]:
        app = create_app(
            log=run.log, keys=run.log._key_store, ledger=None, directory=None,  # type: ignore[arg-type]
            registry=default_registry(), redact=redact,
        )  # fmt: skip
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://t") as http,
        ):
            placed = await asyncio.gather(*(client(number, http) for number in range(8)))
        return [one for each in placed for one in each]

    placed = asyncio.run(scene())
    stored = []
    for partition in range(run.log.partitions):
        events = run.log.read(partition, after=0)
        assert [event.position.seq for event in events] == list(range(1, len(events) + 1))
        stored += [(e.event_id, str(e.position), e.body["text"]) for e in events if e.body]
    assert sorted(stored) == sorted(placed) and len(placed) == 200
