"""The key store: durable, private, shared by processes, and thorough when it destroys."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from taishi.ingest import sqlalchemy_keys
from taishi.ingest.errors import ConfigurationError, Unavailable
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore

Store = SqlAlchemyKeyStore


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/keys/keys.db"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = Store(url)
    yield opened
    opened.close()


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def test_keys_are_fresh_and_durable_before_they_are_given(store: Store, url: str) -> None:
    taken = [*store.take(3), *store.take(1), *store.take(10_000)]
    assert len({key_id for key_id, _ in taken}) == len({key for _, key in taken}) == 10_004
    assert all(len(key) == 32 and key_id > 0 for key_id, key in taken)
    with sqlite3.connect(path_of(url)) as other:
        rows = dict(other.execute("SELECT key_id, secret FROM data_keys"))
    assert all(rows[key_id] == key for key_id, key in taken)


def test_keys_are_read_back(store: Store) -> None:
    taken = dict(store.take(3000))
    assert store.keys(taken.keys()) == taken
    some = list(taken)[5::7]
    assert store.keys(some) == {key_id: taken[key_id] for key_id in some}
    ends = [min(taken), max(taken)]
    assert store.keys(ends) == {key_id: taken[key_id] for key_id in ends}
    assert store.keys([]) == {}
    assert store.keys([10**12, ends[0]]) == {ends[0]: taken[ends[0]]}, "a missing row is absent, not None"


def test_a_destroyed_key_is_gone_from_every_store_and_file(store: Store, url: str) -> None:
    other = Store(url)
    taken = dict(store.take(200))
    victims = list(taken)[50:60]
    assert other.keys(taken) == taken
    assert store.destroy([*victims, 10**12], at=5) == 10
    assert store.destroy(victims, at=6) == 0
    for reader in (store, other):
        found = reader.keys(taken)
        assert {key_id for key_id, key in found.items() if key is None} == set(victims)
    stored = b"".join(p.read_bytes() for p in path_of(url).parent.iterdir())
    assert not any(taken[key_id] in stored for key_id in victims)
    assert all(key in stored for key_id, key in taken.items() if key_id not in victims)
    with sqlite3.connect(path_of(url)) as reader:
        assert set(reader.execute("SELECT destroyed_at FROM data_keys WHERE secret IS NULL")) == {(5,)}


def test_the_file_is_private(store: Store, url: str) -> None:
    store.take(1)
    for path in path_of(url).parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path_of(url).chmod(0o644)
    Store(url).close()
    assert stat.S_IMODE(path_of(url).stat().st_mode) == 0o600


def test_the_file_is_opened_for_durability_and_erasure(store: Store) -> None:
    wanted = {"synchronous": 2, "secure_delete": 1, "journal_mode": "truncate"}
    with store._engine.connect() as connection:
        assert {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in wanted} == wanted


def test_secrets_are_minted_once(store: Store, url: str) -> None:
    assert len(store.secret("fingerprint")) == 32
    assert store.secret("fingerprint") == store.secret("fingerprint") == Store(url).secret("fingerprint")
    assert store.secret("ledger") != store.secret("fingerprint")


def test_a_reopened_store_gives_no_key_again(store: Store, url: str) -> None:
    first = {key_id for key_id, _ in store.take(10)}
    second = {key_id for key_id, _ in Store(url).take(10)}
    assert first.isdisjoint(second)


def _take(url: str, results: multiprocessing.SimpleQueue[list[int]]) -> None:
    store = Store(url)
    results.put([key_id for _ in range(20) for key_id, _ in store.take(300)])


def test_many_processes_mint_at_the_same_time(url: str) -> None:
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.SimpleQueue[list[int]] = context.SimpleQueue()
    processes = [context.Process(target=_take, args=(url, results)) for _ in range(4)]
    for process in processes:
        process.start()
    taken = [key_id for _ in processes for key_id in results.get()]
    for process in processes:
        process.join()
    assert len(taken) == len(set(taken)) == 4 * 20 * 300


def test_many_threads_take(store: Store) -> None:
    taken: list[int] = []
    lock = threading.Lock()

    def take() -> None:
        for _ in range(100):
            mine = store.take(17)
            with lock:
                taken.extend(key_id for key_id, _ in mine)

    threads = [threading.Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 6 * 100 * 17


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_takes_other_keys(store: Store) -> None:
    before = store.take(1)[0][0]
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writable, b"".join(key_id.to_bytes(8, "big") for key_id, _ in store.take(50)))
        os._exit(0)
    ours = {key_id for key_id, _ in store.take(50)}
    os.waitpid(child, 0)
    data = os.read(readable, 400)
    theirs = {int.from_bytes(data[i : i + 8], "big") for i in range(0, 400, 8)}
    assert len(theirs) == 50 and theirs.isdisjoint(ours) and before not in theirs


def test_a_killed_minter_leaves_a_sound_file(url: str) -> None:
    script = (
        "from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore\n"
        f"store = SqlAlchemyKeyStore({url!r})\n"
        "print('up', flush=True)\n"
        "while True: store.take(2000)"
    )
    for _ in range(3):
        minter = subprocess.Popen([sys.executable, "-P", "-c", script], stdout=subprocess.PIPE)
        assert minter.stdout is not None and minter.stdout.readline() == b"up\n"
        minter.kill()
        minter.wait()
        minter.stdout.close()
        store = Store(url)
        taken = dict(store.take(5))
        assert store.keys(taken) == taken
        store.close()
    with sqlite3.connect(path_of(url)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("wrong", ["keys.db", "mysql://x/y", "sqlite://", "sqlite:///:memory:", "nosuch://x"])
def test_urls_that_cannot_be_used_are_refused(wrong: str) -> None:
    with pytest.raises(ConfigurationError):
        Store(wrong)


def test_a_broken_file_is_unavailable_and_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "keys.db").write_bytes(b"this is no database, said the secret" * 100)
    with pytest.raises(Unavailable) as refused:
        Store(f"sqlite:///{tmp_path}/keys.db")
    assert "secret" not in str(refused.value)


def test_the_statements_are_ones_that_postgresql_knows() -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    assert "RETURNING counters.last" in str(sqlalchemy_keys._ADVANCE.compile(dialect=dialect))
    assert "BIGINT" in str(CreateTable(sqlalchemy_keys.DATA_KEYS).compile(dialect=dialect))
    assert "BYTEA" in str(CreateTable(sqlalchemy_keys.DATA_KEYS).compile(dialect=dialect))
    assert "BETWEEN" in str(sqlalchemy_keys._IN_RANGE.compile(dialect=dialect))


def test_no_copy_of_a_destroyed_key_is_left_between_rows(url: str) -> None:
    """Rows are written in the order of their ids, and what is left of a destroyed one keeps its page full enough: so
    SQLite never moves a row, whose copy would stay behind where it was (`page_gaps`)."""
    stores = [Store(url) for _ in range(3)]
    taken: list[tuple[int, bytes]] = []
    for _ in range(3):
        for one in stores:
            taken += one.take(250)
    store = stores[0]
    secrets = dict(taken)
    for ids in (sorted(secrets)[::2], sorted(secrets)[1::2]):
        assert store.destroy(ids, at=5) == len(ids)
        content = b"".join(path.read_bytes() for path in path_of(url).parent.iterdir())
        assert not [key_id for key_id in ids if secrets[key_id] in content]
        assert all(key is None for key in stores[1].keys(ids).values())
        fresh = stores[2].take(700)
        assert stores[1].keys([key_id for key_id, _ in fresh]) == dict(fresh)
    for one in stores:
        one.close()
    with sqlite3.connect(path_of(url)) as other:
        assert other.execute("PRAGMA integrity_check").fetchone() == ("ok",)
