"""The real log and key store as tests of what stands on them want them: one partition, and a look at what is in it."""

from __future__ import annotations

import atexit
import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import update

from taishi.ingest.envelope import Event, Position
from taishi.ingest.log import Appended, Batch
from taishi.ingest.sqlalchemy_keys import DATA_KEYS, SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog
from tests.support.valkey_server import ValkeyServer

_DATABASES = 64
_numbers = itertools.count()


class WatchedKeys(SqlAlchemyKeyStore):
    def __init__(self, folder: Path) -> None:
        super().__init__(f"sqlite:///{folder / 'keys.db'}")
        self._graves: dict[int, bytes | None] = {}

    def destroy(self, key_ids: Collection[int], *, at: int) -> int:
        self._graves |= {key_id: key for key_id, key in self.keys(key_ids).items() if key is not None}
        return super().destroy(key_ids, at=at)

    @property
    def destroyed(self) -> set[int]:
        """Ids of keys that are gone."""
        found = self.keys(range(1, 20_000))
        return {key_id for key_id, key in found.items() if key is None}


    def raise_up(self) -> None:
        """Makes what was destroyed look as if it never had been."""
        with self._engine.begin() as connection:
            for key_id, key in self._graves.items():
                gone = update(DATA_KEYS).where(DATA_KEYS.c.key_id == key_id)
                connection.execute(gone.values(secret=key, destroyed_at=None))


class WatchedLog(ValkeyLog):
    """`exchanges` are the sizes of what was appended together. `down`, when set, is raised by every append."""

    def __init__(self, url: str, keys: SqlAlchemyKeyStore) -> None:
        super().__init__(url, keys=keys, partitions=1)
        self.exchanges: list[int] = []
        self.down: Exception | None = None

    @property
    def events(self) -> list[Event]:
        found: list[Event] = []
        while batch := self.read(0, after=len(found), limit=1_000):
            found += batch
        return found

    def append_many(self, batches: Sequence[Batch]) -> list[Appended | Exception]:
        if self.down is not None:
            raise self.down
        self.exchanges.append(len(batches))
        return super().append_many(batches)


class ClockedLog(WatchedLog):
    """Its events are read as appended when `clock` said so, not the server's."""

    def __init__(self, url: str, keys: SqlAlchemyKeyStore) -> None:
        super().__init__(url, keys)
        self.clock: Callable[[], int] | None = None
        self._times: dict[int, int] = {}

    def append(self, batch: Batch) -> Appended:
        return self._stamped(super().append(batch))

    def append_many(self, batches: Sequence[Batch]) -> list[Appended | Exception]:
        told = super().append_many(batches)
        return [self._stamped(one) if isinstance(one, Appended) else one for one in told]

    def _stamped(self, told: Appended) -> Appended:
        assert self.clock is not None
        for one in told.recorded:
            if one.position.seq not in self._times:
                self._times[one.position.seq] = self.clock()
        return told

    def read(self, partition: int, *, after: int, limit: int = 500) -> list[Event]:
        return [self._then(event) for event in super().read(partition, after=after, limit=limit)]

    def fetch(self, position: Position) -> Event:
        return self._then(super().fetch(position))

    def _then(self, event: Event) -> Event:
        at = self._times[event.position.seq]
        return replace(event, appended_at=at, recorded_at=at)


@lru_cache(maxsize=1)
def _server() -> ValkeyServer:
    server = ValkeyServer("--databases", str(_DATABASES)).start()
    atexit.register(server.stop)
    return server


@contextmanager
def empty_database() -> Iterator[str]:
    """The URL of one that is empty, on a server that this process keeps for such tests."""
    number = next(_numbers) % _DATABASES
    url = f"{_server().url}?db={number}"
    with _server().client() as client:
        client.execute_command("SELECT", number)
        client.flushdb()
    yield url


@contextmanager
def watched_log(kind: type[WatchedLog] = WatchedLog) -> Iterator[WatchedLog]:
    with TemporaryDirectory() as folder, empty_database() as url:
        keys = WatchedKeys(Path(folder))
        log = kind(url, keys)
        yield log
        log.close()
        keys.close()
