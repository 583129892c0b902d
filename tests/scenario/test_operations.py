"""What an operator sees and what writers feel: metrics of a running Taishi, and back-pressure when folding stops."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from taishi.deploy.pressure import MeasuredPressure
from taishi.ingest.errors import Overloaded
from taishi.ingest.server_memory import ServerMemory, server_memory
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_link import ValkeyLink
from taishi.ingest.valkey_log import ValkeyLog
from tests.support.running import RunningTaishi
from tests.support.valkey_server import ValkeyServer


@pytest.fixture(scope="module")
def taishi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningTaishi]:
    running = RunningTaishi(
        tmp_path_factory.mktemp("operations"), "--no-story", embedder="hashed", max_lag="20", partitions="1"
    )
    try:
        yield running.wait_until_up()
    finally:
        running.stop()


def said(taishi: RunningTaishi, count: int) -> httpx.Response:
    events = [{"namespace": "n", "content": f"line {i} of many"} for i in range(count)]
    return httpx.post(f"{taishi.write}/v1/events", json={"events": events}, timeout=20)


def measured(url: str) -> dict[str, float]:
    text = httpx.get(f"{url}/metrics", timeout=10).text
    return {name: float(value) for name, value in re.findall(r"^(taishi_[^ ]+) (\S+)$", text, re.MULTILINE)}


def test_both_sides_tell_how_far_they_are_and_what_waits(taishi: RunningTaishi) -> None:
    assert said(taishi, 3).status_code == 202
    taishi.settle("n")
    read = measured(taishi.read)
    assert read['taishi_log_head{partition="p0"}'] >= 3
    assert read['taishi_lag_events{partition="p0",projection="claims"}'] == 0
    assert read['taishi_oldest_unapplied_seconds{partition="p0",projection="vectors"}'] == 0
    assert read["taishi_dead_letters"] == read["taishi_pending_extractions"] == 0
    assert read['taishi_generation_info{generation="g1"}'] == 1
    write = measured(taishi.write)
    assert write['taishi_extraction_windows{state="pending"}'] == 0
    assert 0 < write["taishi_server_memory_bytes"] < write["taishi_server_memory_limit_bytes"]


def test_alerts_speak_of_metrics_that_there_are(taishi: RunningTaishi) -> None:
    rules = (Path(__file__).parents[2] / "deploy" / "alerts.yaml").read_text("utf-8")
    asked = set(re.findall(r"taishi_[a-z_]+", rules)) - {"taishi_model_cost_today", "taishi_model_daily_cap"}
    assert len(asked) >= 9
    httpx.post(f"{taishi.read}/v1/recall", json={"namespace": "n", "query": "which line?"}, timeout=20)
    end = time.monotonic() + 10
    there: set[str] = set()
    while not asked <= there:  # each look finds one of the processes that answer
        assert time.monotonic() < end, asked - there
        there |= {name.partition("{")[0] for name in measured(taishi.read) | measured(taishi.write)}


def test_writers_wait_while_nothing_is_folded_and_forgetting_does_not(taishi: RunningTaishi) -> None:
    projector = taishi.pid("projector")
    os.kill(projector, signal.SIGSTOP)
    try:
        assert said(taishi, 30).status_code == 202
        end = time.monotonic() + 10
        while (reply := said(taishi, 1)).status_code == 202:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert reply.status_code == 429
        assert reply.headers["retry-after"] == "2"
        assert "max_lag=20" in reply.json()["detail"]
        assert measured(taishi.read)['taishi_lag_events{partition="p0",projection="claims"}'] > 20
        assert measured(taishi.read)['taishi_oldest_unapplied_seconds{partition="p0",projection="claims"}'] > 0
        dry = httpx.post(f"{taishi.write}/v1/feedback", json={"exposure_id": "x" * 32, "helpful": True}, timeout=20)
        assert dry.status_code != 429
    finally:
        os.kill(projector, signal.SIGCONT)
    end = time.monotonic() + 20
    while said(taishi, 1).status_code == 429:
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_server_near_the_end_of_its_memory_takes_no_new_words(valkey: ValkeyServer, tmp_path: Path) -> None:
    log = ValkeyLog(valkey.url, keys=SqlAlchemyKeyStore(f"sqlite:///{tmp_path / 'keys.db'}"), partitions=1)
    told = [server_memory(ValkeyLink(valkey.url))]
    pressure = MeasuredPressure(log=log, folded=lambda _: 0, memory=lambda: told[0], most_lag=0, most_memory=0.8)
    pressure.look()
    pressure.check("n")
    assert 0 < told[0].used < told[0].limit
    told[0] = ServerMemory(used=81, limit=100)
    pressure.look()
    with pytest.raises(Overloaded, match="max_memory=80%"):
        pressure.check("n")
    log.close()
