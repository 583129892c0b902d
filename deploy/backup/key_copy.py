"""Copies of the key store, as a backup keeps them and a restore prepares them: SQLite files, and a ledger beside each.

Whoever holds such a copy and the log's can read everything in them, forgotten since or not: copies are few and do not
last (`keep_keys`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from taishi.ingest.errors import BackupDamaged, ConfigurationError
from taishi.ingest.sqlalchemy_keys import PASSING

KEYS_FILE: Final = "keys.db"
LEDGER_FILE: Final = "ledger.jsonl"


def keystore_file(keystore_url: str) -> Path:
    """Raises ConfigurationError where the key store is no SQLite file."""
    scheme, _, path = keystore_url.partition(":///")
    if not scheme.startswith("sqlite") or not path:
        raise ConfigurationError(
            "backup and restore work on a key store that is a SQLite file: back a PostgreSQL one up with its own tools",
            field="keystore_url",
        )
    return Path(path.partition("?")[0]).absolute()


def secret_in(copy: Path, name: str) -> bytes | None:
    """A secret of the deployment whose key store this is, without changing the file. Raises BackupDamaged."""
    try:
        uri = f"file:{quote(str(copy.absolute()))}?immutable=1"
        connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            row = connection.execute("SELECT secret FROM secrets WHERE name = ?", (name,)).fetchone()
        finally:
            connection.close()
    except apsw.Error as e:
        raise BackupDamaged(f"{copy} is no copy of a key store ({type(e).__name__})") from None
    return None if row is None else bytes(row[0])


def passing_secret_in(copy: Path, name: str) -> bytes | None:
    return secret_in(copy, PASSING + name)


def last_key(copy: Path) -> int:
    """The highest key id that was minted."""
    connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return int(connection.execute("SELECT last FROM counters WHERE name = 'data_keys'").get)
    finally:
        connection.close()


def mint_beyond(copy: Path, key_id: int) -> None:
    """Ids up to `key_id` are never given out: a ledger of later times names them as destroyed."""
    connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("UPDATE counters SET last = max(last, ?) WHERE name = 'data_keys'", (key_id,))
    finally:
        connection.close()
