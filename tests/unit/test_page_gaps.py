"""What SQLite leaves between rows when it moves them is overwritten, and nothing else is touched."""

from __future__ import annotations

import os
import random
from pathlib import Path

import apsw

from taishi.ingest.page_gaps import zero_gaps
from taishi.projections.pages import Pages


def filled(path: Path) -> apsw.Connection:
    """A table whose pages were split and merged, all of its words deleted again."""
    connection = apsw.Connection(str(path))
    for pragma in ("journal_mode = WAL", "secure_delete = ON", "page_size = 4096"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT, note TEXT)")
    connection.execute("CREATE INDEX by_word ON t (word)")
    rng = random.Random(3)
    ids = list(range(3_000))
    rng.shuffle(ids)
    with connection:
        for number in ids:
            connection.execute("INSERT INTO t VALUES (?, ?, ?)", (number, f"canary-{rng.random()}", "x" * 60))
    with connection:
        for number in ids[::2]:
            connection.execute("UPDATE t SET note = note || note WHERE id = ?", (number,))
    for part in (ids[:1_500], ids[1_500:]):
        with connection:
            for number in part:
                connection.execute("UPDATE t SET word = NULL WHERE id = ?", (number,))
    return connection


def test_no_copy_of_a_deleted_word_is_left(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    connection = filled(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"canary-" in path.read_bytes(), "secure_delete alone would do: this module is not needed any more"
    before = connection.execute("SELECT * FROM t").fetchall()
    pages = Pages(connection)
    assert pages.scrub("SELECT 1")
    assert b"canary-" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert connection.execute("SELECT * FROM t").fetchall() == before
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    with connection:
        connection.execute("UPDATE t SET note = 'y' WHERE id % 3 = 0")
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    assert b"canary-" not in b"".join(file.read_bytes() for file in tmp_path.iterdir()), "nor does the cache hold any"
    connection.close()
    pages.close()


def test_a_reader_in_the_way_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    connection = filled(path)
    pages = Pages(connection)
    reader = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    reading = reader.execute("SELECT id FROM t")
    next(reading)
    with connection:
        connection.execute("UPDATE t SET note = 'z' WHERE id = 7")
    assert not pages.scrub("SELECT 1")
    reading.close()
    reader.close()
    assert pages.scrub("SELECT 1")
    connection.close()
    pages.close()


def test_a_file_that_is_no_database_yet(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    file = os.open(tmp_path / "empty", os.O_RDWR)
    assert zero_gaps(file) == 0
    os.close(file)
