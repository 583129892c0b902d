"""The pages of a SQLite file that one connection writes: how what was deleted leaves them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import apsw

from taishi.ingest.page_gaps import zero_gaps


class Pages:
    """Of the database that `connection` has open. `close` comes after the connection's own end, never before."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection: Final = connection
        self._path: Final = Path(connection.filename)
        self._file: int | None = None

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def scrub(self, say: str) -> bool:
        """Moves every page into the file, empties the write-ahead log, overwrites what SQLite left between rows, and
        then runs the statement `say`.

        False, and nothing is said, when another connection was in the way: try again.
        """
        execute = self._connection.execute
        busy, _, _ = execute("PRAGMA wal_checkpoint(TRUNCATE)").get
        if busy:
            return False
        execute("BEGIN IMMEDIATE")
        try:
            alone = self._log_is_empty()
            if alone:
                if self._file is None:
                    self._file = os.open(self._path, os.O_RDWR)
                zero_gaps(self._file)
                execute("PRAGMA shrink_memory")
                execute(say)
            execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                execute("ROLLBACK")
            raise
        return alone

    def _log_is_empty(self) -> bool:
        try:
            return self._path.with_name(self._path.name + "-wal").stat().st_size == 0
        except FileNotFoundError:
            return True
