"""Write access to one vector file: exactly-once batches, forgetting that leaves no bytes, and which file serves.

Two cursors move over the log, each by compare-and-set: `seq`, up to which documents are embedded, and `forgotten`, up
to which forgetting is done. The second never waits for a model: what is forgotten ahead of the first is doomed, and is
not embedded when the first comes by.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw
import numpy as np

from taishi.ingest.errors import TaishiError

from .embedding import Vectors
from .pages import Pages
from .schema import PRAGMAS, document_of_claim, document_of_event
from .store import CheckpointMoved, open_connection
from .vector_schema import SCHEMA, SCRUBBED, STRIDE, VECTOR_VERSION, vector_path, vector_paths


class VectorFileUnfit(TaishiError):
    """Another schema version, another model or dimension, or a retired file: it is made anew."""

    slug = "vector-file-unfit"


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCheckpoint:
    seq: int
    digest: bytes
    forgotten: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What is stored of a document: a row of `vectors` (n, dimension) and a 16-byte content key for each chunk."""

    doc: int
    ns: int
    keys: Sequence[bytes]
    vectors: Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorFile:
    """What a reader needs to know of a file. `seq` is its checkpoint, `digest` that of the event there."""

    path: Path
    model: str
    dimension: int
    seq: int
    digest: bytes
    complete: bool
    retired: bool


def discard(path: Path) -> None:
    """Removes a file nobody writes to."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def inspect(path: Path) -> VectorFile | None:
    """None where the file is not there yet, half made, or of another version."""
    try:
        connection = open_connection(path, read_only=True)
    except apsw.CantOpenError:
        return None
    try:
        row = connection.execute(
            "SELECT version, model, dimension, complete_at, retired, seq, digest FROM meta, checkpoint"
        ).fetchone()
    except apsw.SQLError:
        return None
    finally:
        connection.close()
    if row is None or row[0] != VECTOR_VERSION:
        return None
    _, model, dimension, complete_at, retired, seq, digest = row
    return VectorFile(
        path=path, model=model, dimension=dimension, seq=seq, digest=digest, complete=seq >= complete_at,
        retired=bool(retired),
    )  # fmt: skip


def set_aside(folder: Path, partition: int, model: str) -> None:
    """Gives a complete file another name, under which it serves until one that is made anew is complete. Nobody may
    have it open for writing."""
    own = vector_path(folder, partition, model)
    aside = own.with_name(own.name.removesuffix(".db") + ".before.db")
    found = inspect(own)
    if found is None or not found.complete or aside.exists():
        return
    connection = open_connection(own)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    own.rename(aside)
    discard(own)


def serving(folder: Path, partition: int, model: str | None) -> VectorFile | None:
    """The file that answers for a partition: the wanted model's when complete, else another model's complete one, else
    the wanted one as far as it is. `model` None: whichever is furthest. None: there is none."""
    files = [found for path in vector_paths(folder, partition) if (found := inspect(path)) is not None]
    return max(
        files, key=lambda f: (f.complete and f.model == model, f.complete, f.model == model, f.seq), default=None
    )


def vectors_scrubbed(folder: Path, partition: int) -> int | None:
    """The position up to which no vector file of the partition holds what was forgotten; None: there is no file."""
    found: list[int] = []
    for path in vector_paths(folder, partition):
        with _looking(path) as connection:
            if connection is not None:
                found.append(_scrubbed(connection))
    return min(found, default=None)


def _scrubbed(connection: apsw.Connection) -> int:
    try:
        return int(connection.execute("SELECT ifnull((SELECT seq FROM scrubbed), 0)").get)
    except apsw.SQLError:  # half made, or of an older release and not opened yet
        return 0


def vectors_left(folder: Path, partition: int, claims: Iterable[int], events: Iterable[int]) -> int:
    """Vectors of claims and events at these positions that are still in some file."""
    docs = [*map(document_of_claim, claims), *map(document_of_event, events)]
    left = 0
    for path in vector_paths(folder, partition):
        with _looking(path) as connection:
            if connection is None or not connection.table_exists(None, "vectors"):
                continue
            for doc in docs:
                among = (doc * STRIDE, doc * STRIDE + STRIDE - 1)
                left += connection.execute("SELECT count(*) FROM vectors WHERE id BETWEEN ? AND ?", among).get
    return left


@contextmanager
def _looking(path: Path) -> Iterator[apsw.Connection | None]:
    """A connection that reads; None where the file is gone."""
    try:
        connection = open_connection(path, read_only=True)
    except apsw.CantOpenError:
        yield None
        return
    try:
        yield connection
    finally:
        connection.close()


_NOTHING: Final[Mapping[int, Collection[int]]] = {}


class VectorStore:
    """One partition's vectors of one model. Makes the file when it is not there; raises VectorFileUnfit where it does
    not fit. Not safe to share between threads."""

    def __init__(self, path: Path, *, model: str, dimension: int, complete_at: int = 0) -> None:
        self.path: Final = path
        self.dimension: Final = dimension
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = open_connection(path)
        self._pages = Pages(self._connection)
        self._namespaces: dict[str, int] = {}
        try:
            for pragma in PRAGMAS:
                self._connection.execute(pragma)
            self._create(model, dimension, complete_at)
            found = self._connection.execute("SELECT version, model, dimension FROM meta").get
        except apsw.Error:
            self.close()
            raise
        if found != (VECTOR_VERSION, model, dimension):
            self.close()
            raise VectorFileUnfit(f"{path.name} is of {found}, not of {(VECTOR_VERSION, model, dimension)}")
        self.scrub()  # what was forgotten before a crash may still stand in the write-ahead log

    def _create(self, model: str, dimension: int, complete_at: int) -> None:
        with self._connection:
            if not self._connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'meta'").get:
                self._connection.execute(SCHEMA)
                self._connection.execute(
                    "INSERT INTO meta VALUES (1, ?, ?, ?, ?, 0)", (VECTOR_VERSION, model, dimension, complete_at)
                )
                self._connection.execute("INSERT INTO checkpoint VALUES (1, 0, x'', 0)")
            self._connection.execute(SCRUBBED)

    def close(self) -> None:
        self._connection.close()
        self._pages.close()

    @property
    def checkpoint(self) -> VectorCheckpoint:
        seq, digest, forgotten = self._connection.execute("SELECT seq, digest, forgotten FROM checkpoint").get
        return VectorCheckpoint(seq=seq, digest=digest, forgotten=forgotten)

    @property
    def complete(self) -> bool:
        return bool(self._connection.execute("SELECT seq >= complete_at FROM meta, checkpoint").get)

    @property
    def retired(self) -> bool:
        return bool(self._connection.execute("SELECT retired FROM meta").get)

    def retire(self) -> None:
        self._connection.execute("UPDATE meta SET retired = 1")

    def namespace(self, name: str, seq: int) -> int:
        """The namespace's number: the position of its first event. `seq` is where it is met now. Not in a transaction:
        the number is right whatever becomes of the batch."""
        known = self._namespaces.get(name)
        if known is None:
            self._connection.execute("INSERT OR IGNORE INTO namespaces (ns, name) VALUES (?, ?)", (seq, name))
            known = int(self._connection.execute("SELECT ns FROM namespaces WHERE name = ?", (name,)).get)
            self._namespaces[name] = known
        return known

    def known_vectors(self, keys: Iterable[bytes]) -> dict[bytes, Vectors]:
        """Vectors of texts that were embedded before, by content key."""
        found: dict[bytes, Vectors] = {}
        for key in keys:
            row = self._connection.execute("SELECT vector FROM vectors WHERE content_key = ?", (key,)).fetchone()
            if row is not None:
                found[key] = np.frombuffer(row[0], dtype=np.float16).astype(np.float32)
        return found

    def add(
        self,
        documents: Sequence[Document],
        *,
        after: int,
        seq: int,
        digest: bytes,
        refused: Sequence[tuple[int, int, str]] = (),
        dropped: Mapping[int, Collection[int]] = _NOTHING,
    ) -> None:
        """All that was embedded of the events after position `after` up to `seq`, with the checkpoint, at once.

        `refused` are (doc, ns, error code) of texts that the model does not take. `dropped` are documents by ns that
        leave before the others are put in. The forgetting of the events up to
        `seq` must be done. Raises CheckpointMoved, and changes nothing, where the checkpoint is not at `after`.
        """
        execute = self._connection.execute
        with self._connection:
            execute(
                "UPDATE checkpoint SET seq = ?, digest = ?, forgotten = max(forgotten, ?) WHERE seq = ?",
                (seq, digest, seq, after),
            )
            if self._connection.changes() != 1:
                raise CheckpointMoved(f"another worker moved the checkpoint of {self.path.name}")
            for ns, docs in dropped.items():
                deletions = execute("SELECT deletions FROM namespaces WHERE ns = ?", (ns,)).get
                self._take_out(ns, deletions, docs)
            for document in documents:
                if not execute("SELECT 1 FROM doomed WHERE doc = ?", (document.doc,)).fetchone():
                    self._insert(document)
            for doc, ns, error in refused:
                execute("INSERT OR REPLACE INTO refused VALUES (?, ?, ?)", (doc, ns, error))
            execute("DELETE FROM doomed WHERE until <= ?", (seq,))

    def _insert(self, document: Document) -> None:
        rows = np.ascontiguousarray(document.vectors, dtype=np.float16)
        fits = rows.shape == (len(document.keys), self.dimension) and len(document.keys) <= STRIDE
        if not fits or not np.isfinite(rows).all():
            raise ValueError(f"vectors of shape {rows.shape} for {len(document.keys)} chunks of {self.dimension}")
        last, deletions = self._connection.execute(
            "SELECT last_doc, deletions FROM namespaces WHERE ns = ?", (document.ns,)
        ).get
        if document.doc <= last:
            self._connection.execute(
                "INSERT INTO deletions VALUES (?, ?, ?)", (document.ns, deletions + 1, -document.doc)
            )
            self._connection.execute("UPDATE namespaces SET deletions = deletions + 1 WHERE ns = ?", (document.ns,))
        self._connection.executemany(
            "INSERT INTO vectors (id, ns, content_key, vector) VALUES (?, ?, ?, ?)",
            (
                (document.doc * STRIDE + chunk, document.ns, key, row.tobytes())
                for chunk, (key, row) in enumerate(zip(document.keys, rows, strict=True))
            ),
        )
        self._connection.execute(
            "UPDATE namespaces SET vectors = vectors + ?, last_doc = max(last_doc, ?) WHERE ns = ?",
            (len(document.keys), document.doc, document.ns),
        )

    def forget(self, forgotten: Sequence[tuple[str, Sequence[int]]], *, after: int, upto: int) -> int:
        """Takes out documents, given by namespace name, and moves the second cursor from `after` to `upto`. How many
        vectors went. Raises CheckpointMoved, and changes nothing, where that cursor is not at `after`.

        Call `scrub` afterwards, until it is True.
        """
        execute = self._connection.execute
        gone = 0
        with self._connection:
            execute("UPDATE checkpoint SET forgotten = ? WHERE forgotten = ?", (upto, after))
            if self._connection.changes() != 1:
                raise CheckpointMoved(f"another worker moved the checkpoint of {self.path.name}")
            ahead = upto > self.checkpoint.seq
            for name, docs in forgotten:
                row = execute("SELECT ns, deletions FROM namespaces WHERE name = ?", (name,)).fetchone()
                for doc in docs:
                    if ahead:
                        execute("INSERT OR REPLACE INTO doomed VALUES (?, ?)", (doc, upto))
                if row is not None:
                    gone += self._take_out(row[0], row[1], docs)
        return gone

    def _take_out(self, ns: int, deletions: int, docs: Collection[int]) -> int:
        execute = self._connection.execute
        before, number = 0, deletions
        for doc in docs:
            execute("DELETE FROM refused WHERE doc = ?", (doc,))
            first = doc * STRIDE
            execute("DELETE FROM vectors WHERE id BETWEEN ? AND ? AND ns = ?", (first, first + STRIDE - 1, ns))
            if taken := self._connection.changes():
                before, number = before + taken, number + 1
                execute("INSERT INTO deletions VALUES (?, ?, ?)", (ns, number, doc))
        execute("UPDATE namespaces SET vectors = vectors - ?, deletions = ? WHERE ns = ?", (before, number, ns))
        return before

    def scrub(self) -> bool:
        """Overwrites what was deleted, wherever it may still be; then `scrubbed` says how far nothing forgotten is
        left. False when a reader was in the way."""
        return self._pages.scrub("INSERT OR REPLACE INTO scrubbed SELECT 1, forgotten FROM checkpoint")
