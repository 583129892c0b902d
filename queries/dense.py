"""Search by meaning: the documents of one namespace that are nearest to a question's vector.

Small scopes are searched exactly. Large ones by the signs of their components (64 bytes a vector, in memory), and the
best of these are scored exactly from the file. What was searched once stays in memory, bounded in bytes, and follows
the file: new rows are added, deleted ones taken out, by what the namespace's row says has changed.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import apsw
import numpy as np

from taishi.projections.store import open_connection
from taishi.projections.vectors import VectorFile, serving

from .dense_scope import EXACT, Documents, Floats, Query, Scope

MEMORY: Final = 192 << 20
"""Bytes of vectors that an index keeps in memory, over all its namespaces."""
_OVERHEAD: Final = 1_000
"""Bytes of a scope besides its arrays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """`found`: (document, cosine), best first, each document once with its best chunk. `mean` and `std` are of the
    cosines of all the namespace's vectors, or a sample of them: what the question has in common with anything here.
    `searched` is how many vectors the namespace has."""

    found: Sequence[tuple[int, float]] = ()
    mean: float = 0.0
    std: float = 0.0
    searched: int = 0


@dataclass(slots=True)
class _Held:
    """`counted` is what the index's `bytes` holds of it."""

    scope: Scope
    counted: int = 0


@dataclass(slots=True)
class _Serving:
    """A file being read, and what is in memory of it."""

    file: VectorFile
    inode: int
    idle: list[apsw.Connection] = field(default_factory=list)
    scopes: OrderedDict[int, _Held] = field(default_factory=OrderedDict)
    bytes: int = 0
    closed: bool = False


class DenseIndex:
    """One partition's vectors, read-only. Safe to share between threads.

    `model` is whose vectors answer: questions must be embedded by that very model. It changes when another model's file
    takes over, which `refresh` looks for.
    """

    def __init__(
        self, folder: Path, partition: int, *, model: str | None = None, memory: int = MEMORY, exact: int = EXACT
    ) -> None:
        self._folder = folder
        self._partition = partition
        self._wanted = model
        self._memory = memory
        self._exact = exact
        self._lock = threading.Lock()
        self._serving: _Serving | None = None
        self.refresh()

    def refresh(self) -> None:
        """Looks which file serves now. Takes a millisecond; call it every second or so."""
        file = serving(self._folder, self._partition, self._wanted)
        try:
            inode = 0 if file is None else file.path.stat().st_ino
        except FileNotFoundError:
            file = None
        with self._lock:
            old = self._serving
            if file is not None and old is not None and (old.file.path, old.inode) == (file.path, inode):
                old.file = file
                return
            self._serving = None if file is None else _Serving(file, inode)
            if old is not None:
                old.closed = True
                for connection in old.idle:
                    connection.close()

    def close(self) -> None:
        with self._lock:
            old, self._serving = self._serving, None
            if old is not None:
                old.closed = True
                for connection in old.idle:
                    connection.close()

    @property
    def model(self) -> str | None:
        """None while there is no file."""
        serves = self._serving
        return None if serves is None else serves.file.model

    @property
    def complete(self) -> bool:
        """False while there is no file, or while the wanted model's is being made and another, or a part, serves."""
        serves = self._serving
        return serves is not None and serves.file.complete and self._wanted in (None, serves.file.model)

    def checkpoint(self) -> int:
        """Position up to which documents are embedded; 0 while there is no file."""
        with self._open() as found:
            return 0 if found is None else int(found[1].execute("SELECT seq FROM checkpoint").get)

    def search(
        self,
        ns: int,
        vector: Floats,
        k: int,
        *,
        allowed: Documents | None = None,
        excluded: Documents | None = None,
        last: int | None = None,
    ) -> Hits:
        """The `k` nearest documents of namespace number `ns`.

        `vector` has length 1. `allowed` and `excluded` are int64 document numbers; they act before ranking. `last`: as
        if there were no documents of greater numbers.
        """
        with self._open() as found:
            if found is None or k < 1:
                return Hits()
            serves, connection = found
            scope = self._follow(serves, ns, connection)
            if not scope.rows:
                return Hits()
            query = Query(np.ascontiguousarray(vector, dtype=np.float32), k, allowed, excluded, last)
            hits, mean, std, searched = scope.search(query, connection)
            return Hits(found=hits, mean=mean, std=std, searched=searched)

    def warm(self, *, largest: int = 4) -> None:
        """Reads the largest namespaces into memory, so that their first question need not wait for it."""
        with self._open() as found:
            if found is None:
                return
            serves, connection = found
            rows = connection.execute(
                "SELECT ns FROM namespaces WHERE vectors > 1000 ORDER BY vectors DESC LIMIT ?", (largest,)
            ).fetchall()
            for (ns,) in reversed(rows):
                self._follow(serves, ns, connection)

    def _follow(self, serves: _Serving, ns: int, connection: apsw.Connection) -> Scope:
        """The namespace as the file has it now; those not asked for longest make room."""
        with self._lock:
            held = serves.scopes.get(ns)
            if held is None:
                held = serves.scopes[ns] = _Held(Scope(ns, serves.file.dimension, self._exact))
            serves.scopes.move_to_end(ns)
        held.scope.follow(connection)
        size = held.scope.size + _OVERHEAD
        with self._lock:
            if serves.scopes.get(ns) is held and size != held.counted:
                serves.bytes += size - held.counted
                held.counted = size
                while serves.bytes > self._memory and len(serves.scopes) > 1:
                    _, out = serves.scopes.popitem(last=False)
                    serves.bytes -= out.counted
        return held.scope

    @contextmanager
    def _open(self) -> Iterator[tuple[_Serving, apsw.Connection] | None]:
        """A connection for this thread alone; None while there is no file."""
        if self._serving is None:
            self.refresh()
        with self._lock:
            serves = self._serving
            connection = serves.idle.pop() if serves is not None and serves.idle else None
        if serves is None:
            yield None
            return
        if connection is None:
            connection = open_connection(serves.file.path, read_only=True)
            connection.execute("PRAGMA mmap_size = 4294967296")
        try:
            yield serves, connection
        finally:
            with self._lock:
                if not serves.closed:
                    serves.idle.append(connection)
                else:
                    connection.close()
