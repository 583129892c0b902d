"""The tables of the keeper's SQLite file, and how a connection to it is opened."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import BigInteger, Column, Connection, Index, Integer, LargeBinary, MetaData, String, Table

meta: Final = MetaData()
VERSION: Final = 5
"""Of the tables. A file of another version is emptied: all of it can be folded from the log again."""

checkpoints: Final = Table(
    "checkpoints", meta,
    Column("partition", Integer, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("digest", LargeBinary, nullable=False),
)

zones: Final = Table(
    "zones", meta,
    Column("partition", Integer, primary_key=True),
    Column("namespace", String, primary_key=True),
    Column("zone", String, nullable=False),
    Column("set_by", BigInteger, nullable=False),
)
"""`set_by` is the position of the event that set it."""

recalls: Final = Table(
    "recalls", meta,
    Column("partition", Integer, primary_key=True),
    Column("namespace", String, primary_key=True),
    Column("shown", String, nullable=False),
)
"""What the last recalls of a namespace showed, JSON: pairs of an instant and positions."""

sessions: Final = Table(
    "sessions", meta,
    Column("partition", Integer, primary_key=True),
    Column("key", String, primary_key=True),
    Column("last_at", BigInteger, nullable=False),
    Column("open_at", BigInteger),
    Column("state", String, nullable=False),
    Index("sessions_by_age", "partition", "last_at"),
    Index("sessions_open", "partition", "open_at"),
)
"""`last_at`: its last event; `open_at`: the first event of a window that still grows (instants). `state` is JSON."""

windows: Final = Table(
    "windows", meta,
    Column("ordinal", Integer, primary_key=True),
    Column("window_id", String, nullable=False, unique=True),
    Column("partition", Integer, nullable=False),
    Column("namespace", String, nullable=False),
    Column("seqs", String, nullable=False),
    Column("context", String, nullable=False),
    Column("zone", String),
    Column("state", String, nullable=False),
    Column("job_id", String),
    Column("attempts", Integer, nullable=False),
    Column("deaths", Integer, nullable=False),
    Column("not_before", BigInteger, nullable=False),
    Column("error", String),
    Column("failures", Integer, nullable=False),
    Column("due", BigInteger, nullable=False),
    Column("recalled", String, nullable=False),
    Index("windows_by_state", "state", "deaths", "due", "ordinal"),
    Index("windows_by_job", "job_id"),
    Index("windows_by_namespace", "partition", "namespace"),
)
"""Windows that are not done. `zone` null: the deployment's own. `failures`: failure events since an operator last
retried it. `deaths`: workers that died with it in their hands. `recalled`: what recall had just shown.
`due`: the instant that windows are put in order by, when it was closed or is to be tried again: neither new ones nor
those that keep failing starve the others."""

jobs: Final = Table(
    "jobs", meta,
    Column("job_id", String, primary_key=True),
    Column("enqueued_at", BigInteger),
)
"""Jobs that hold open windows. `enqueued_at` null: the queue is not known to have it."""


def prepare(connection: Any, _: Any) -> None:
    """WAL; a lost last commit only means that the log is read again from an older checkpoint."""
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def create(connection: Connection) -> None:
    """Makes the tables where they are not there as this version wants them."""
    if connection.exec_driver_sql("PRAGMA user_version").scalar_one() != VERSION:
        meta.drop_all(connection)
        meta.create_all(connection)
        connection.exec_driver_sql(f"PRAGMA user_version = {VERSION}")


def begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
