"""One partition's read-model file: opening, exactly-once batches, and the digest that tells whether two are equal.

A batch's effects and its checkpoint commit in one transaction, and the checkpoint moves only from where the batch
began (compare-and-set), so that a second worker on the same partition fails and changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import apsw
import orjson

from taishi.ingest.chain import GENESIS, extend
from taishi.ingest.envelope import FORGETTING_TYPES, Event
from taishi.ingest.errors import KeyMissing, LogDamaged, TaishiError, Unavailable, UnknownEventVersion

from . import fold
from .analysis import Analyzer
from .digest import content_digest
from .model import Model
from .pages import Pages
from .parking import Parking
from .schema import BULK_PRAGMAS, FOLD_VERSION, PRAGMAS, READERS_INDEXES, SCHEMA

MERGED_PAGES: Final = 500
"""Index pages merged at a time, each time in a transaction of its own."""
MERGES: Final = 8
"""How many times in one call."""


class CheckpointMoved(TaishiError):
    """Another worker folds this partition."""

    slug = "checkpoint-moved"


class ReadModelOutdated(TaishiError):
    """The file was built by another fold or analysis version, or stands on a log that was rolled back: replay it."""

    slug = "read-model-outdated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Position of the last event folded, the hash chain's value after it, and that event's digest."""

    seq: int
    chain: bytes
    digest: bytes


def checkpoint_of(path: Path) -> Checkpoint | None:
    """Of a read model that somebody may be folding. None where nothing was folded yet. Raises Unavailable."""
    try:
        connection = open_connection(path, read_only=True)
    except apsw.CantOpenError:
        return None
    try:
        found = checkpoint_in(connection)
    except apsw.SQLError:
        return None  # being made
    except apsw.BusyError:
        raise Unavailable(f"the read model {path.name} is busy") from None
    finally:
        connection.close()
    return found if found.seq else None


def checkpoint_in(connection: apsw.Connection) -> Checkpoint:
    seq, chain, digest = connection.execute("SELECT seq, chain, digest FROM checkpoint").get
    return Checkpoint(seq=seq, chain=chain, digest=digest)


def open_connection(path: Path, *, read_only: bool = False) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(str(path), flags=flags, statementcachesize=256)
    connection.set_busy_timeout(5_000)
    return connection


NOT_POISON: Final = (
    CheckpointMoved, LogDamaged, KeyMissing, UnknownEventVersion, apsw.BusyError, apsw.FullError, apsw.IOError,
)  # fmt: skip
"""What may go wrong in folding that is not the event's fault."""


_INDEXES: Final = re.compile(r"^(?=CREATE INDEX (\w+))(.*?;)", re.MULTILINE)
"""(name, statement) of each index of the schema."""


class ReadModelFile:
    """Write access to `claims-p<i>.db`. Makes it when it is not there; raises ReadModelOutdated where it does not
    fit. `generation` is the extraction generation it folds.
    While it is built in `bulk`, nobody reads it: `settle` makes the indexes that readers use, and no fold does."""

    def __init__(self, path: Path, analyzer: Analyzer, *, generation: int = 1, bulk: bool = False) -> None:
        self.path: Final = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = open_connection(path)
        self._pages = Pages(self._connection)
        for pragma in (*PRAGMAS, *(BULK_PRAGMAS if bulk else ())):
            self._connection.execute(pragma)
        self._model = Model(self._connection, analyzer, generation=generation)
        self._parking = Parking(self._model, fold.apply)
        settings = orjson.dumps(analyzer.settings(), option=orjson.OPT_SORT_KEYS).decode()
        with self._connection:
            if not self._connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'checkpoint'").get:
                self._connection.execute(SCHEMA)
                for index in READERS_INDEXES if bulk else ():
                    self._connection.execute(f"DROP INDEX {index}")
                self._connection.execute(
                    "INSERT INTO checkpoint (one, seq, chain, digest, fold_version, generation, settings)"
                    " VALUES (1, 0, ?, x'', ?, ?, ?)",
                    (GENESIS, FOLD_VERSION, generation, settings),
                )
        version, built_with = self._connection.execute("SELECT fold_version, settings FROM checkpoint").get
        if version != FOLD_VERSION or built_with != settings or generation != self._generation_there():
            self.close()
            raise ReadModelOutdated(f"{path.name} was built with fold {version} and {built_with}; it is replayed")
        self.checkpoint: Checkpoint = self._read_checkpoint()

    def close(self) -> None:
        self._connection.close()
        self._pages.close()

    def settle(self) -> None:
        """Ends building in bulk: from now on it may be read and followed."""
        with self._connection:
            for name, statement in _INDEXES.findall(SCHEMA):
                if name in READERS_INDEXES:
                    self._connection.execute(statement.replace("INDEX", "INDEX IF NOT EXISTS", 1))
        self.scrub()

    def _generation_there(self) -> int:
        return int(self._connection.execute("SELECT generation FROM checkpoint").get)

    def _read_checkpoint(self) -> Checkpoint:
        return checkpoint_in(self._connection)

    def apply(
        self, events: Sequence[Event], *, stop_at_poison: bool = False, skipping: Collection[int] = ()
    ) -> int:
        """Folds events that follow the checkpoint, all in one transaction. How many were parked.

        An event whose fold raises is tried once more, then parked, and the rest goes on, unless `stop_at_poison` (a
        rebuild). Events at `skipping` positions are left out: an operator gave them up.
        """
        commit = partial(self._commit, events, stop_at_poison=stop_at_poison, skipping=skipping)
        try:
            return commit(careful=False)
        except NOT_POISON:
            raise
        except Exception:
            if stop_at_poison:
                raise
            return commit(careful=True)

    def _commit(
        self, events: Sequence[Event], *, careful: bool, stop_at_poison: bool, skipping: Collection[int]
    ) -> int:
        model, parking, execute = self._model, self._parking, self._connection.execute
        start, chain = self.checkpoint, self.checkpoint.chain
        dead = 0
        execute("BEGIN IMMEDIATE")
        try:
            for event in events:
                chain = extend(chain, event)
                if event.position.seq in skipping:
                    parking.skip(event)
                elif (careful and not stop_at_poison) or not parking.is_empty:
                    dead += parking.fold(event)
                else:
                    fold.apply(model, event)
                if event.type in FORGETTING_TYPES:
                    execute("UPDATE tombstones SET chain = ? WHERE seq = ?", (chain, event.position.seq))
            last = events[-1]
            execute(
                "UPDATE checkpoint SET seq = ?, chain = ?, digest = ?, appended_at = ? WHERE one = 1 AND seq = ?",
                (last.position.seq, chain, last.digest, last.appended_at, start.seq),
            )
            if self._connection.changes() != 1 or events[0].position.seq != start.seq + 1:
                raise CheckpointMoved(f"another worker moved the checkpoint of {self.path.name}")
            execute("COMMIT")
        except BaseException:
            self._rolled_back()
            raise
        self.checkpoint = Checkpoint(seq=last.position.seq, chain=chain, digest=last.digest)
        return dead

    def ask_again(self) -> None:
        """Has what is parked tried again at the next `retry`, as after an upgrade."""
        with self._connection:
            self._parking.ask_again()

    def retry(self, fetch: Callable[[int], Event]) -> int:
        """Folds parked events that an operator, or a skip, has asked to be tried again. How many could be folded."""
        if not self._parking.asked():
            return 0
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            done = self._parking.retry(fetch)
            self._connection.execute("COMMIT")
        except BaseException:
            self._rolled_back()
            raise
        return done

    def _rolled_back(self) -> None:
        self._model.forget_cache()
        self._parking.forget_cache()
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    @property
    def is_scrubbed(self) -> bool:
        """Whether no page, old ones in the write-ahead log included, holds what the last tombstone erased."""
        return bool(
            self._connection.execute(
                "SELECT scrubbed >= ifnull((SELECT max(seq) FROM tombstones), 0) FROM checkpoint"
            ).get
        )

    def scrub(self) -> bool:
        """Moves every page into the file, empties the write-ahead log and overwrites what SQLite left between rows, so
        that erased words are nowhere; then `scrubbed` says so.

        False when another connection was in the way: try again.
        """
        return self._merge() and self._pages.scrub("UPDATE checkpoint SET scrubbed = seq")

    def _merge(self) -> bool:
        """Merges the full-text index where words were taken out of it the quick way. Whether it is done: a large index
        takes several calls."""
        execute = self._connection.execute
        if execute("SELECT v FROM fulltext_config WHERE k = 'secure-delete'").get:
            return True
        execute("INSERT INTO fulltext (fulltext, rank) VALUES ('merge', ?)", (-MERGED_PAGES,))
        for _ in range(MERGES):
            before = self._connection.total_changes()
            execute("INSERT INTO fulltext (fulltext, rank) VALUES ('merge', ?)", (MERGED_PAGES,))
            if self._connection.total_changes() - before < 2:
                execute("INSERT INTO fulltext (fulltext, rank) VALUES ('secure-delete', 1)")
                return True
        return False

    def digest(self) -> str:
        return content_digest(self._connection)
