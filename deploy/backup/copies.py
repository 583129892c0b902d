"""Copies of SQLite files that others are writing to: SQLite's online backup, all pages of one moment.

A copy of a read model holds words. It is made in a scratch file that has no name any more by the time it holds any, so
that nothing is left of it whenever this process dies, and reaches the backup sealed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import apsw

from taishi.ingest.errors import BackupDamaged, Unavailable

_BUSY_MS = 20_000


@contextmanager
def nameless_copy(source: Path, scratch: Path, *, ask: str) -> Iterator[tuple[BinaryIO, int]]:
    """The file as it is at one moment, and what `ask` (a query for one number) says of that moment."""
    scratch.unlink(missing_ok=True)
    with scratch.open("xb+") as file, _connected(source, read_only=True) as held:
        scratch.chmod(0o600)
        with _connected(scratch) as target:
            scratch.unlink()
            target.execute("PRAGMA journal_mode = OFF").fetchall()
            target.execute("PRAGMA synchronous = OFF")
            held.execute("BEGIN")
            answer = int(held.execute(ask).get)
            _copy(held, target)
            held.execute("COMMIT")
        file.seek(0)
        yield file, answer


def copy_database(source: Path, target: Path) -> None:
    """A copy under a name, checked. Raises Unavailable, BackupDamaged where the source is damaged."""
    with target.open("xb"):
        target.chmod(0o600)
    with _connected(source, read_only=True) as held, _connected(target) as copy:
        copy.execute("PRAGMA journal_mode = OFF").fetchall()
        copy.execute("PRAGMA synchronous = FULL")
        _copy(held, copy)
        said = copy.execute("PRAGMA quick_check(1)").get
        if said != "ok":
            raise BackupDamaged(f"{source} is damaged: {said}")


def _copy(source: apsw.Connection, target: apsw.Connection) -> None:
    try:
        with target.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(-1)
    except (apsw.BusyError, apsw.LockedError) as e:
        raise Unavailable(f"a database is too busy to be copied ({type(e).__name__}): try again") from None


@contextmanager
def _connected(path: Path, *, read_only: bool = False) -> Iterator[apsw.Connection]:
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    connection = apsw.Connection(str(path), flags=flags)
    connection.set_busy_timeout(_BUSY_MS)
    try:
        yield connection
    finally:
        connection.close()
