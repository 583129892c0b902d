"""The Valkey adapter: the contract, and what is its own: damage, keys, refusals, kill -9."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from taishi.ingest.envelope import Event, NewEvent, Position
from taishi.ingest.errors import (
    ConfigurationError,
    KeyMissing,
    LogDamaged,
    TaishiError,
    Unavailable,
    UnknownEventVersion,
    UnsafeServer,
)
from taishi.ingest.ids import new_id
from taishi.ingest.keys import KeyStore
from taishi.ingest.log import Batch
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog
from tests.contract.event_log import EventLogContract, message, seqs
from tests.support.valkey_server import ValkeyServer


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[SqlAlchemyKeyStore]:
    store = SqlAlchemyKeyStore(f"sqlite:///{tmp_path}/keys/keys.db")
    yield store
    store.close()


@pytest.fixture
def log(valkey: ValkeyServer, keys: KeyStore) -> Iterator[ValkeyLog]:
    opened = ValkeyLog(valkey.url, keys=keys)
    yield opened
    opened.close()


class TestSealed(EventLogContract):
    pass


class TestOpen(EventLogContract):
    @pytest.fixture
    def log(self, valkey: ValkeyServer, keys: KeyStore) -> Iterator[ValkeyLog]:
        opened = ValkeyLog(valkey.url, keys=keys, encryption="off")
        yield opened
        opened.close()


class TestSynced(EventLogContract):
    @pytest.fixture
    def log(self, valkey: ValkeyServer, keys: KeyStore) -> Iterator[ValkeyLog]:
        with valkey.client() as client:
            client.config_set("appendfsync", "always")
        opened = ValkeyLog(valkey.url, keys=keys, durability="always", partitions=1)
        yield opened
        opened.close()
        with valkey.client() as client:
            client.config_set("appendfsync", "everysec")


def stream(log: ValkeyLog, namespace: str = "house") -> str:
    return f"taishi:{{p{log.partition_of(namespace)}}}:log"


def events_of(log: ValkeyLog, namespace: str = "house") -> list[Event]:
    return log.read(log.partition_of(namespace), after=0)


# -- what is in the stream


def test_words_are_in_no_file_of_the_server(own_valkey: ValkeyServer, keys: KeyStore) -> None:
    log = ValkeyLog(own_valkey.url, keys=keys)
    log.append(Batch(events=[message("the password of the cellar is quince", facts={"visible": "header"})]))
    with own_valkey.client() as client:
        client.bgrewriteaof()
    found = b"".join(p.read_bytes() for p in own_valkey.directory.rglob("*") if p.is_file())
    assert b"visible" in found and b"quince" not in found


def test_open_bodies_are_json_for_other_tools(valkey: ValkeyServer, keys: KeyStore) -> None:
    log = ValkeyLog(valkey.url, keys=keys, encryption="off")
    log.append(Batch(events=[message("legible " * 100)]))
    with valkey.client() as client:
        ((_, fields),) = client.xrange(stream(log))
    assert fields[b"b"] == b'{"text":"' + b"legible " * 100 + b'"}'


def test_sealed_and_open_events_stand_side_by_side(valkey: ValkeyServer, keys: KeyStore) -> None:
    sealed, open_ = (ValkeyLog(valkey.url, keys=keys, encryption=mode) for mode in ("on", "off"))
    for log, text in ((sealed, "a"), (open_, "b"), (sealed, "c")):
        log.append(Batch(events=[message(text)]))
    assert [e.body for e in events_of(sealed)] == [{"text": t} for t in "abc"] == [e.body for e in events_of(open_)]


def test_dedup_hashes_stay_compact(valkey: ValkeyServer, log: ValkeyLog) -> None:
    for _ in range(20):
        log.append(Batch(events=[message("x") for _ in range(100)]))
    with valkey.client() as client:
        buckets = list(client.scan_iter("taishi:*:ids:*"))
        assert sum(client.hlen(bucket) for bucket in buckets) == 2000
        assert {client.object("encoding", bucket) for bucket in buckets} == {b"listpack"}


# -- damage


def test_a_hole_stops_the_reader(valkey: ValkeyServer, log: ValkeyLog) -> None:
    log.append(Batch(events=[message(str(i)) for i in range(6)]))
    with valkey.client() as client:
        client.xdel(stream(log), "4-0")
    assert [e.position.seq for e in events_of(log)] == [1, 2, 3]
    with pytest.raises(LogDamaged):
        log.read(log.partition_of("house"), after=3)
    with pytest.raises(LogDamaged):
        log.fetch(Position(log.partition_of("house"), 4))


@pytest.mark.parametrize("end", ["head", "tail", "all"])
def test_a_trimmed_stream_stops_the_reader(valkey: ValkeyServer, log: ValkeyLog, end: str) -> None:
    log.append(Batch(events=[message(str(i)) for i in range(6)]))
    with valkey.client() as client:
        if end == "head":
            client.xtrim(stream(log), minid="3-0", approximate=False)
        elif end == "tail":
            client.xdel(stream(log), "6-0", "5-0")
        else:
            client.delete(stream(log))
    partition, after = log.partition_of("house"), 4 if end == "tail" else 0
    with pytest.raises(LogDamaged):
        log.read(partition, after=after)


def test_a_log_that_was_rolled_back_stops_the_reader(log: ValkeyLog) -> None:
    log.append(Batch(events=[message()]))
    with pytest.raises(LogDamaged):
        log.read(log.partition_of("house"), after=2)


@pytest.mark.parametrize("field", [b"h", b"b", b"d", b"t"])
def test_an_altered_entry_stops_the_reader(valkey: ValkeyServer, log: ValkeyLog, field: bytes) -> None:
    log.append(Batch(events=[message("first"), message("second")]))
    with valkey.client() as client:
        (first, fields), second = client.xrange(stream(log))
        changed = bytearray(fields[field])
        changed[-3] ^= 0x15
        client.delete(stream(log))
        client.xadd(stream(log), {**fields, field: bytes(changed)}, id=first)
        client.xadd(stream(log), second[1], id=second[0])
    with pytest.raises(LogDamaged):
        events_of(log)


def test_a_body_moved_to_another_header_does_not_open(valkey: ValkeyServer, log: ValkeyLog) -> None:
    from taishi.ingest.entries import digest_of

    log.append(Batch(events=[message("first")]))
    with valkey.client() as client:
        ((place, fields),) = client.xrange(stream(log))
        header = fields[b"h"].replace(b"house", b"mouse")
        client.delete(stream(log))
        client.xadd(stream(log), {**fields, b"h": header, b"d": digest_of(header, fields[b"b"])}, id=place)
    with pytest.raises(LogDamaged):
        events_of(log)


def test_a_counter_that_fell_behind_stops_the_writer(valkey: ValkeyServer, log: ValkeyLog) -> None:
    log.append(Batch(events=[message("a"), message("b")]))
    meta = stream(log).replace(":log", ":meta")
    with valkey.client() as client:
        client.hset(meta, "seq", 1)
        with pytest.raises(LogDamaged):
            log.append(Batch(events=[message("c")]))
        assert client.xlen(stream(log)) == 2
        client.hset(meta, "seq", 2)
        client.set(meta.replace(":meta", ":erased"), "not a set")
        with pytest.raises(LogDamaged):
            log.append(Batch(events=[message("d")]))
        assert client.xlen(stream(log)) == 2


def test_a_lost_key_stops_the_reader_at_its_event(log: ValkeyLog, keys: SqlAlchemyKeyStore) -> None:
    log.append(Batch(events=[message("a"), message("b")]))
    lost = events_of(log)[1].key_id
    with keys._engine.begin() as connection:
        connection.exec_driver_sql(f"DELETE FROM data_keys WHERE key_id = {lost}")
    assert [e.body for e in events_of(log)] == [{"text": "a"}]
    with pytest.raises(KeyMissing):
        log.read(log.partition_of("house"), after=1)


def test_an_event_from_a_later_release_holds_the_reader(log: ValkeyLog) -> None:
    log.append(Batch(events=[message("a"), message("b", schema_version=99)]))
    assert [e.position.seq for e in events_of(log)] == [1]
    with pytest.raises(UnknownEventVersion):
        log.read(log.partition_of("house"), after=1)


# -- the server


def test_another_number_of_partitions_is_refused(valkey: ValkeyServer, log: ValkeyLog, keys: KeyStore) -> None:
    log.append(Batch(events=[message()]))
    for wrong in (1, 8):
        with pytest.raises(ConfigurationError, match="4 partitions"):
            ValkeyLog(valkey.url, keys=keys, partitions=wrong).append(Batch(events=[message()]))
        with pytest.raises(ConfigurationError):
            ValkeyLog(valkey.url, keys=keys, partitions=wrong).head(0)
    assert ValkeyLog(valkey.url, keys=keys).head(log.partition_of("house")) == 1


def test_a_flushed_script_cache_is_filled_again(valkey: ValkeyServer, log: ValkeyLog) -> None:
    log.append(Batch(events=[message()]))
    with valkey.client() as client:
        client.script_flush()
    outcomes = log.append_many([Batch(events=[message()]), Batch(events=[message()])])
    assert [seqs(o) for o in outcomes if not isinstance(o, Exception)] == [[2], [3]]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--appendonly", "no"], "appendonly yes"),
        (["--maxmemory-policy", "allkeys-lru"], "noeviction"),
    ],
)
def test_an_unsafe_server_is_refused(keys: KeyStore, options: list[str], named: str) -> None:
    server = ValkeyServer(*options).start()
    try:
        log = ValkeyLog(server.url, keys=keys)
        for attempt in (lambda: log.append(Batch(events=[message()])), lambda: log.head(0)):
            with pytest.raises(UnsafeServer, match=named):
                attempt()
    finally:
        server.stop()


def test_a_full_server_takes_nothing_in_part(own_valkey: ValkeyServer, keys: KeyStore) -> None:
    log = ValkeyLog(own_valkey.url, keys=keys)
    log.append(Batch(events=[message()]))
    with own_valkey.client() as client:
        client.config_set("maxmemory", "1mb")
        with pytest.raises(Unavailable, match="memory"):
            log.append(Batch(events=[message("x" * 1000) for _ in range(50)]))
        client.config_set("maxmemory", "0")
    assert len(events_of(log)) == 1
    log.append(Batch(events=[message()]))
    assert len(events_of(log)) == 2


def test_a_replica_is_named_as_such(own_valkey: ValkeyServer, keys: KeyStore) -> None:
    log = ValkeyLog(own_valkey.url, keys=keys)
    log.append(Batch(events=[message()]))
    with own_valkey.client() as client:
        client.replicaof("127.0.0.1", 1)
    with pytest.raises(Unavailable, match="replica"):
        log.append(Batch(events=[message()]))


def test_a_server_that_is_down_is_unavailable_and_comes_back(own_valkey: ValkeyServer, keys: KeyStore) -> None:
    log = ValkeyLog(own_valkey.url, keys=keys)
    log.append(Batch(events=[message("before")]))
    own_valkey.kill()
    for attempt in (
        lambda: log.append(Batch(events=[message()])),
        lambda: events_of(log),
        lambda: log.wait({0: 0}, seconds=1),
        lambda: log.head(0),
    ):
        with pytest.raises(Unavailable) as down:
            attempt()
        assert down.value.retry_after >= 1
    own_valkey.start()
    log.append(Batch(events=[message("after")]))
    assert [e.body for e in events_of(log)] == [{"text": "before"}, {"text": "after"}]


def test_wrong_urls_are_refused(keys: KeyStore) -> None:
    with pytest.raises(ConfigurationError):
        ValkeyLog("http://localhost", keys=keys)


def test_a_wrong_password_is_named(own_valkey: ValkeyServer, keys: KeyStore) -> None:
    with own_valkey.client() as client:
        client.config_set("requirepass", "open sesame")
    with pytest.raises(ConfigurationError) as refused:
        ValkeyLog(own_valkey.url + "?password=wrong", keys=keys).head(0)
    assert "sesame" not in str(refused.value) and "wrong" not in str(refused.value)


# -- kill -9


def test_kill_9_under_load_loses_nothing_and_doubles_nothing(own_valkey: ValkeyServer, keys: KeyStore) -> None:
    """Writers retry until they are acknowledged, readers keep reading, the server is killed ten times."""
    log = ValkeyLog(own_valkey.url, keys=keys, partitions=2)
    acknowledged: list[NewEvent] = []
    ended = threading.Event()
    lock = threading.Lock()
    failures: list[BaseException] = []
    seen: dict[tuple[int, int], str] = {}

    def write(name: str) -> None:
        try:
            while not ended.is_set():
                batch = Batch(events=[message(f"{name} " * 20, namespace=name) for _ in range(5)])
                while not ended.is_set():
                    try:
                        log.append(batch)
                    except Unavailable:
                        time.sleep(0.01)
                        continue
                    with lock:
                        acknowledged.extend(batch.events)
                    break
        except BaseException as broken:
            failures.append(broken)

    def follow() -> None:
        after = {0: 0, 1: 0}
        try:
            while not ended.is_set():
                try:
                    log.wait(after, seconds=0.2)
                    for partition in after:
                        for event in log.read(partition, after=after[partition]):
                            seen[partition, event.position.seq] = event.event_id
                            after[partition] = event.position.seq
                except Unavailable:
                    time.sleep(0.01)
        except BaseException as broken:
            failures.append(broken)

    threads = [threading.Thread(target=write, args=(f"n{i}",)) for i in range(4)] + [threading.Thread(target=follow)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        time.sleep(0.15)
        own_valkey.kill()
        own_valkey.start()
    time.sleep(0.2)
    ended.set()
    for thread in threads:
        thread.join()
    assert not failures
    found: dict[tuple[int, int], str] = {}
    for partition in range(2):
        while events := log.read(partition, after=len([1 for p, _ in found if p == partition]), limit=1000):
            found.update({(partition, e.position.seq): e.event_id for e in events})
    ids = list(found.values())
    assert len(ids) == len(set(ids))
    assert {e.event_id for e in acknowledged} <= set(ids)
    assert len(acknowledged) > 100
    assert seen.items() <= found.items(), "what a reader saw is what the log holds after the kill"


@pytest.fixture
def slow_valkey(tmp_path: Path) -> Iterator[ValkeyServer]:
    """A server whose background fsync takes a second and a half: it answers before it has written its AOF."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler and Linux to make fsync slow")
    source = Path(__file__).parent.parent / "support" / "slow_fsync.c"
    library = tmp_path / "slow_fsync.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    server = ValkeyServer(environment={"LD_PRELOAD": str(library)}).start()
    yield server
    server.stop()


def postpone(server: ValkeyServer) -> None:
    """Returns when the server answers before it writes."""
    deadline = time.monotonic() + 20
    with server.client() as client:
        while client.info("persistence")["aof_buffer_length"] == 0:
            assert time.monotonic() < deadline
            client.incr("other writers")


def test_a_server_killed_during_a_slow_fsync_has_what_it_said(slow_valkey: ValkeyServer, keys: KeyStore) -> None:
    log = ValkeyLog(slow_valkey.url, keys=keys)
    for _ in range(2):
        log.head(0)
        postpone(slow_valkey)
        event = message()
        log.append(Batch(events=[event]))
        slow_valkey.kill()
        slow_valkey.start()
        assert log.locate("house", [event.event_id]) != [None]


def test_a_reader_sees_nothing_that_a_kill_could_take_back(slow_valkey: ValkeyServer, keys: KeyStore) -> None:
    log = ValkeyLog(slow_valkey.url, keys=keys)
    partition = log.partition_of("house")
    postpone(slow_valkey)
    outcomes: list[object] = []
    writer = threading.Thread(target=lambda: outcomes.extend(log.append_many([Batch(events=[message()])])))
    writer.start()
    assert log.wait({partition: 0}, seconds=5)
    (seen,) = log.read(partition, after=0)
    slow_valkey.kill()
    writer.join()
    slow_valkey.start()
    assert log.read(partition, after=0) == [seen]


def test_unknown_ids_after_a_lost_answer_are_safe_to_send_again(own_valkey: ValkeyServer, keys: KeyStore) -> None:
    log = ValkeyLog(own_valkey.url, keys=keys)
    batch = Batch(events=[message("once"), message("twice", event_id=new_id())])
    log.append(batch)
    own_valkey.kill()
    own_valkey.start()
    again = log.append(Batch(events=[*batch.events, replace(batch.events[0], event_id=new_id())]))
    assert seqs(again) == [1, 2, 3] and [r.duplicate for r in again.recorded] == [True, True, False]


def test_errors_of_the_link_hold_no_values(own_valkey: ValkeyServer, keys: KeyStore) -> None:
    log = ValkeyLog(own_valkey.url, keys=keys)
    own_valkey.kill()
    with pytest.raises(TaishiError) as down:
        log.append(Batch(events=[message("a very private sentence")]))
    assert "private" not in str(down.value) + repr(down.value.__cause__)
