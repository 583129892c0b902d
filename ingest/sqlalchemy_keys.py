"""The key store on SQLAlchemy Core: SQLite in a file of its own, or PostgreSQL where many hosts share it.

One row per key, and the row stays for good: `secret` is NULL once destroyed. Ids come from one counter row, so that any
number of processes can mint blocks at the same time; a block is committed (synchronous=FULL) before its first key is
handed out. Nothing that was read is cached: a key that one process destroys is gone for every other at its next read.

SQLite: file mode 0600, `secure_delete`, and a rollback journal that is truncated at commit, not a WAL, which would keep
old pages (and in them the destroyed keys) until some later checkpoint. Rows are written in the order of their ids and
shrink little when destroyed, so that SQLite never moves one, which would leave a copy behind (a test holds this).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    bindparam,
    create_engine,
    delete,
    event,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.schema import CreateTable

from .crashpoints import reach
from .crypto import KEY_BYTES
from .errors import ConfigurationError, Unavailable

_METADATA: Final = MetaData()
_ID: Final = BigInteger().with_variant(Integer, "sqlite")
DATA_KEYS: Final = Table(
    "data_keys",
    _METADATA,
    Column("key_id", _ID, primary_key=True, autoincrement=False),
    Column("secret", LargeBinary(KEY_BYTES), nullable=True),
    Column("destroyed_at", BigInteger, nullable=True),
)
COUNTERS: Final = Table(
    "counters", _METADATA, Column("name", String(32), primary_key=True), Column("last", BigInteger, nullable=False)
)
SECRETS: Final = Table(
    "secrets",
    _METADATA,
    Column("name", String(64), primary_key=True),
    Column("secret", LargeBinary(KEY_BYTES), nullable=False),
)

PASSING: Final = "passing:"
"""Names of secrets begin with it that go with the next destroyed key."""
_FIRST_BLOCK: Final = 256
_LARGEST_BLOCK: Final = 4096
"""Blocks double from the first to the largest: a process that writes little wastes little."""
_AT_ONCE: Final = 500
_LOCK_WAIT_MS: Final = 20_000

_IN_RANGE: Final = select(DATA_KEYS.c.key_id, DATA_KEYS.c.secret).where(
    DATA_KEYS.c.key_id.between(bindparam("low"), bindparam("high"))
)
_IN_LIST: Final = select(DATA_KEYS.c.key_id, DATA_KEYS.c.secret).where(
    DATA_KEYS.c.key_id.in_(bindparam("ids", expanding=True))
)
_ADVANCE: Final = (
    update(COUNTERS)
    .where(COUNTERS.c.name == "data_keys")
    .values(last=COUNTERS.c.last + bindparam("count"))
    .returning(COUNTERS.c.last)
)
_FILL: Final = text(
    """
    INSERT INTO data_keys (key_id, secret)
    WITH RECURSIVE block(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM block WHERE i + 1 < :count)
    SELECT CAST(:first AS BIGINT) + i, substr(:noise, i * 32 + 1, 32) FROM block
    """
)
"""One statement for a block, in the SQL that SQLite and PostgreSQL share: a quarter of the time of a row at a time."""


class SqlAlchemyKeyStore:
    """`KeyStore` adapter. Safe for many threads and processes, also across fork.

    Raises ConfigurationError for a URL it cannot use, Unavailable when the database does not answer.
    """

    def __init__(self, url: str) -> None:
        try:
            parsed = make_url(url)
            if parsed.get_backend_name() not in ("sqlite", "postgresql"):
                raise ConfigurationError("the key store's URL must begin with sqlite:/// or postgresql://")
            self._engine: Final = _engine(parsed)
        except (ArgumentError, NoSuchModuleError, ImportError) as problem:
            raise ConfigurationError(
                f"the key store's URL cannot be used ({type(problem).__name__}): is it well formed, its driver there?"
            ) from None
        self._insert: Final = sqlite.insert if parsed.get_backend_name() == "sqlite" else postgresql.insert
        self._lock: Final = threading.Lock()
        self._fresh: list[tuple[int, bytes]] = []
        self._block = _FIRST_BLOCK
        self._secrets: dict[str, bytes] = {}
        self._pid = os.getpid()
        self._create()

    def close(self) -> None:
        """Forgets the unused rest of the block and closes the connections."""
        with self._lock:
            self._fresh = []
        self._engine.dispose()

    def take(self, count: int) -> Sequence[tuple[int, bytes]]:
        with self._lock:
            self._after_fork()
            while len(self._fresh) < count:
                self._fresh += self._mint(max(self._block, count - len(self._fresh)))
                self._block = min(self._block * 2, _LARGEST_BLOCK)
            taken, self._fresh = self._fresh[:count], self._fresh[count:]
        return taken

    def keys(self, key_ids: Collection[int]) -> Mapping[int, bytes | None]:
        wanted = sorted(set(key_ids))
        found: dict[int, bytes | None] = {}
        if not wanted:
            return found
        with self._transaction() as connection:
            if wanted[-1] - wanted[0] < 2 * len(wanted) + 64:
                rows = connection.execute(_IN_RANGE, {"low": wanted[0], "high": wanted[-1]})
                found.update((key_id, secret) for key_id, secret in rows)
                if len(found) != len(wanted):
                    found = {key_id: found[key_id] for key_id in wanted if key_id in found}
            else:
                for start in range(0, len(wanted), _AT_ONCE):
                    rows = connection.execute(_IN_LIST, {"ids": wanted[start : start + _AT_ONCE]})
                    found.update((key_id, secret) for key_id, secret in rows)
        return found

    def destroy(self, key_ids: Collection[int], *, at: int) -> int:
        wanted = sorted(set(key_ids))
        destroyed = 0
        with self._transaction() as connection:
            for start in range(0, len(wanted), _AT_ONCE):
                result = connection.execute(
                    update(DATA_KEYS)
                    .where(DATA_KEYS.c.key_id.in_(wanted[start : start + _AT_ONCE]), DATA_KEYS.c.secret.is_not(None))
                    .values(secret=None, destroyed_at=at)
                )
                destroyed += result.rowcount
            if destroyed:
                connection.execute(delete(SECRETS).where(SECRETS.c.name.startswith(PASSING, autoescape=True)))
        return destroyed

    def secret(self, name: str) -> bytes:
        known = self._secrets.get(name)
        if known is None:
            known = self._secrets[name] = self._kept_secret(name)
        return known

    def passing_secret(self, name: str) -> bytes:
        """A 32-byte secret that lasts until the next key is destroyed, in the same transaction: copies of words that
        are sealed under it (snapshots of read models) go with whatever is forgotten next."""
        return self._kept_secret(PASSING + name)

    def _kept_secret(self, name: str) -> bytes:
        with self._transaction() as connection:
            minted = self._insert(SECRETS).values(name=name, secret=os.urandom(KEY_BYTES))
            connection.execute(minted.on_conflict_do_nothing())
            return bytes(connection.execute(select(SECRETS.c.secret).where(SECRETS.c.name == name)).scalar_one())

    def _mint(self, count: int) -> list[tuple[int, bytes]]:
        noise = os.urandom(KEY_BYTES * count)
        with self._transaction() as connection:
            first = connection.execute(_ADVANCE, {"count": count}).scalar_one() - count + 1
            connection.execute(_FILL, {"first": first, "count": count, "noise": noise})
        reach("key_minted")
        return [(first + i, noise[i * KEY_BYTES : (i + 1) * KEY_BYTES]) for i in range(count)]

    def _create(self) -> None:
        with self._transaction() as connection:
            for table in (COUNTERS, DATA_KEYS, SECRETS):
                connection.execute(CreateTable(table, if_not_exists=True))
            connection.execute(self._insert(COUNTERS).values(name="data_keys", last=0).on_conflict_do_nothing())

    def _after_fork(self) -> None:
        """A child must not hand out what its parent also holds, nor use its parent's connections."""
        if self._pid != os.getpid():
            self._fresh = []
            self._engine.dispose(close=False)
            self._pid = os.getpid()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        self._after_fork()
        try:
            with self._engine.begin() as connection:
                yield connection
        except DBAPIError as problem:
            raise Unavailable(f"the key store does not answer ({type(problem.orig).__name__})") from problem


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        return create_engine(url, hide_parameters=True, pool_pre_ping=True)
    if url.database in (None, "", ":memory:"):
        raise ConfigurationError("the key store needs a file: sqlite:////path/to/keys.db")
    path = Path(str(url.database)).absolute()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    path.chmod(0o600)
    engine = create_engine(url, hide_parameters=True, connect_args={"timeout": _LOCK_WAIT_MS / 1000})
    event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    """Journal and sync modes first: each may have to wait for another process's transaction."""
    deadline = time.monotonic() + _LOCK_WAIT_MS / 1000
    cursor = connection.cursor()
    cursor.execute("PRAGMA secure_delete = ON")
    cursor.execute("PRAGMA synchronous = FULL")
    while cursor.execute("PRAGMA journal_mode = TRUNCATE").fetchone()[0] != "truncate":
        if time.monotonic() > deadline:
            raise Unavailable("the key store's file is held by another program in another journal mode")
        time.sleep(0.01)
    cursor.close()
