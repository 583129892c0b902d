"""The log as a deployment has it: its server, its keys, and the archive of what is old."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from taishi.ingest.archive import Archive
from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.keys import KeyStore
from taishi.ingest.signatures import Signer
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore

from .server import socket_path
from .settings import Settings


def open_keys(settings: Settings) -> SqlAlchemyKeyStore:
    return SqlAlchemyKeyStore(settings.keystore)


def open_log(settings: Settings, keys: KeyStore) -> ArchivedLog:
    """The log, read through its archive (which may be empty). Nothing is connected yet."""
    return ArchivedLog(
        log_url(settings),
        archive=Archive(settings.archive_folder, Signer.of(keys)),
        keys=keys,
        partitions=settings.partitions,
        encryption=settings.encryption,
        durability=settings.durability,
    )


@contextmanager
def opened_log(settings: Settings) -> Iterator[tuple[ArchivedLog, SqlAlchemyKeyStore]]:
    """The log and its keys, for as long as the block lasts."""
    keys = open_keys(settings)
    log = open_log(settings, keys)
    try:
        yield log, keys
    finally:
        log.close()
        keys.close()


def log_url(settings: Settings) -> str:
    """Where the log's server is: the one that is named, else the one that `taishi up` runs in this home folder."""
    return settings.redis_url or f"unix://{socket_path(settings.home / 'valkey')}?db=0"
