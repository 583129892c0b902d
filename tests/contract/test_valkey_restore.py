"""A log put back has every key of the server as the one it was copied from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import redis

from taishi.ingest.envelope import NewEvent
from taishi.ingest.errors import Gone, LogDamaged
from taishi.ingest.ids import derived_id, new_id
from taishi.ingest.log import Batch
from taishi.ingest.valkey_restore import ValkeyRestore
from tests.support.lived_home import LivedHome
from tests.support.valkey_server import ValkeyServer


def everything(url: str) -> dict[bytes, Any]:
    with redis.Redis.from_url(url) as client:
        found: dict[bytes, Any] = {}
        for key in client.keys("taishi:{p*"):
            kind = client.type(key)
            if kind == b"stream":
                found[key] = client.xrange(key)
            elif kind == b"hash":
                found[key] = {k: v for k, v in client.hgetall(key).items() if k != b"synced"}
            else:
                found[key] = client.smembers(key)
        return found


@pytest.fixture
def lived(valkey: ValkeyServer, tmp_path: Path) -> LivedHome:
    home = LivedHome(tmp_path / "home", valkey.url + "?db=0")
    said = home.say(*(f"word {n}" for n in range(30)))
    home.say("from long ago", namespace="attic", recorded_at=1_600_000_000_000_000)
    home.say("and later", namespace="attic", recorded_at=1_700_000_000_000_000)
    for namespace in ("a", "b", "ü", "名"):
        home.say("hello", namespace=namespace)
    derived = NewEvent(
        event_id=derived_id("x"), type="extraction.completed", namespace="house", body={}, generation=1,
        facts={"window": "w", "events": [], "claims": 0, "decisions": {}, "extractor": "x"},
    )  # fmt: skip
    home.log.append(Batch(events=[derived]))
    home.log.append(Batch(events=[NewEvent(event_id=new_id(), type="namespace.configured", namespace="new", body={})]))
    home.forget(*said[3:7])
    return home


def put_back(lived: LivedHome, url: str, *, batch: int) -> None:
    server = ValkeyRestore(url, partitions=4)
    for partition in range(4):
        head = lived.log.head(partition)
        while (there := server.head(partition)) < head:
            server.append(partition, lived.log.stored.run(partition, after=there, limit=batch).entries)
    server.close()


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_every_key_is_as_it_was(lived: LivedHome, valkey: ValkeyServer, batch: int) -> None:
    put_back(lived, valkey.url + "?db=5", batch=batch)
    assert everything(valkey.url + "?db=5") == everything(valkey.url + "?db=0")


def test_a_log_put_back_goes_on_as_the_old_one_would(lived: LivedHome, valkey: ValkeyServer, tmp_path: Path) -> None:
    put_back(lived, valkey.url + "?db=5", batch=10)
    there = LivedHome(tmp_path / "home", valkey.url + "?db=5")
    heads = [there.log.head(p) for p in range(4)]
    (new,) = there.say("one more")
    assert new.position.seq == heads[new.position.partition] + 1
    gone = next(e for e in there.log.read(new.position.partition, after=0) if e.body is None)
    again = NewEvent(event_id=gone.event_id, type="message.recorded", namespace="house", body={"text": "again"})
    with pytest.raises(Gone):
        there.log.append(Batch(events=[again]))


def test_what_does_not_follow_is_refused(lived: LivedHome, valkey: ValkeyServer) -> None:
    server = ValkeyRestore(valkey.url + "?db=5", partitions=4)
    partition = lived.log.partition_of("house")
    entries = lived.log.stored.run(partition, after=1, limit=5).entries
    with pytest.raises(LogDamaged, match="does not follow"):
        server.append(partition, entries)
    server.close()
