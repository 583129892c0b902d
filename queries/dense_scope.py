"""One namespace's vectors in memory: all of them while they are few, the signs of their components when they are many.

Rows are only ever added behind the last, in document order but for what is put back; deleted documents are marked, and
their numbers wiped from memory with their rows when enough have gone.

What is found, and how near it is, depends on the rows alone: asked later as if there were no more than now
(`Query.last`), a scope answers as it does now, bit for bit.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import apsw
import numpy as np
import numpy.typing as npt

from taishi.projections.vector_schema import STRIDE

Documents = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Halves = npt.NDArray[np.uint16]
"""float16, bit by bit."""
Mask = npt.NDArray[np.bool_]

EXACT: Final = 10_000
"""Vectors of a namespace up to which every one is scored exactly (10 MB per 5,000 of 512 dimensions)."""
KEPT: Final = 128 << 20
"""Bytes of a larger one's vectors, as they are in the file, that stay in memory beside their signs: rescoring reads
them in a tenth of the time. Beyond it they are read from the file."""
RESCORED: Final = 300
"""Vectors that are scored exactly, of those nearest by signs."""
SAMPLE: Final = 512
"""Vectors that stand for the background of a namespace: of its first 2^n, n as great as may be."""
_LOADED: Final = 4_096
_MAPPED: Final = 4 << 30
"""Bytes of a file that are read through the mapping: rows here and there."""
_SHIFT: Final = STRIDE.bit_length() - 1
_FAR: Final = np.uint16(1 << 15)
_MAGNITUDE_AND_SIGN: Final = np.int32(-0x70002000)
"""Of a float16, sign extended to 32 bits and moved to where a float32 has its exponent's end."""
_REBIASED: Final = np.float32(2.0**112)
"""Makes up for the exponents' different origins, those of subnormal numbers as well."""


@dataclass(frozen=True, slots=True)
class Query:
    vector: Floats
    k: int
    allowed: Documents | None
    excluded: Documents | None
    last: int | None = None

    def within(self, ids: Documents) -> Mask | None:
        """Which rows there were; None for all."""
        return None if self.last is None else ids < (self.last + 1) * STRIDE

    def mask(self, ids: Documents, alive: Mask | None) -> Mask | None:
        """Which rows may be found; None for all."""
        mask = alive
        if self.allowed is None and self.excluded is None:
            return mask
        docs = ids >> _SHIFT
        if self.allowed is not None:
            within = np.isin(docs, self.allowed)
            mask = within if mask is None else mask & within
        if self.excluded is not None and len(self.excluded):
            without = np.isin(docs, self.excluded, invert=True)
            mask = without if mask is None else mask & without
        return mask


@dataclass(frozen=True, slots=True)
class _View:
    """A consistent state of the rows, valid while the scope goes on growing."""

    ids: Documents
    floats: Floats | None
    codes: npt.NDArray[np.uint64] | None
    halves: Halves | None
    alive: Mask | None
    sample: Floats
    sampled: int


def _signs(floats: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Sign bits as (words, rows): 64 components a word, the rest of the last word zero."""
    bits = np.packbits(floats > 0, axis=1)
    wide = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
    wide[:, : bits.shape[1]] = bits
    return np.ascontiguousarray(wide.view(np.uint64).T)


def _halves(vectors: Sequence[bytes], dimension: int) -> Halves:
    """float16 blobs as rows."""
    return np.frombuffer(b"".join(vectors), dtype=np.uint16).reshape(len(vectors), dimension)


def _floats(halves: Halves) -> Floats:
    """Finite ones. By bits, which takes a fifth of the time that the conversion does."""
    wide = halves.view(np.int16).astype(np.int32)
    wide <<= 13
    wide &= _MAGNITUDE_AND_SIGN
    floats: Floats = wide.view(np.float32)
    floats *= _REBIASED
    return floats


def _cosines(rows: Floats, vector: Floats) -> Floats:
    """Row by row: a product of matrix and vector rounds equal rows differently by where they stand."""
    found: Floats = np.vecdot(rows, vector)
    return found


def _best(ids: Documents, cosines: Floats, k: int) -> list[tuple[int, float]]:
    """The `k` best documents by their best row; equal ones by number. Rows of -inf are none."""
    rows, take = len(ids), min(len(ids), 4 * k + 64)
    while True:
        least = -np.inf if take == rows else -np.partition(-cosines, take - 1)[take - 1]
        top = np.flatnonzero(cosines >= least)
        top = top[np.lexsort((ids[top], -cosines[top]))]
        found: dict[int, float] = {}
        for doc, cosine in zip((ids[top] >> _SHIFT).tolist(), cosines[top].tolist(), strict=True):
            if cosine == -np.inf or len(found) == k:
                break
            found.setdefault(doc, cosine)
        if len(found) == k or take == rows:
            return list(found.items())
        take = min(rows, 4 * take)


_ROWS_OF: Final = "SELECT id, vector FROM vectors WHERE id BETWEEN ? AND ? AND ns = ? ORDER BY id"


class Scope:
    """`follow` brings it to the file's state, `search` answers from memory (and, for large ones, the file)."""

    def __init__(self, ns: int, dimension: int, exact: int = EXACT) -> None:
        self._ns = ns
        self._dimension = dimension
        self._exact = exact
        self._lock = threading.Lock()
        self._reset()

    def _reset(self) -> None:
        self._rows = self._last_doc = self._deletions = self._dead = 0
        self._ids: Documents = np.empty(0, dtype=np.int64)
        self._alive: Mask = np.empty(0, dtype=np.bool_)
        self._floats: Floats | None = np.empty((0, self._dimension), dtype=np.float32)
        self._codes: npt.NDArray[np.uint64] | None = None
        self._kept: Halves | None = None
        self._sample: Floats = np.empty((0, self._dimension), dtype=np.float32)
        self._sampled = 0

    @property
    def rows(self) -> int:
        """Vectors that can be found."""
        return self._rows - self._dead

    @property
    def size(self) -> int:
        """Bytes of its arrays."""
        parts = (self._ids, self._alive, self._floats, self._codes, self._kept, self._sample)
        return sum(part.nbytes for part in parts if part is not None)

    # following the file

    def follow(self, connection: apsw.Connection) -> None:
        """Takes up what changed in the file."""
        with self._lock:
            row = connection.execute(
                "SELECT last_doc, deletions FROM namespaces WHERE ns = ?", (self._ns,)
            ).fetchone()
            if row is not None and row != (self._last_doc, self._deletions):
                if not self._rows:  # all of it, once: the mapping would count as this process's memory ever after
                    connection.execute("PRAGMA mmap_size = 0").fetchall()
                with connection:  # one snapshot
                    self._take_up(connection)
                connection.execute(f"PRAGMA mmap_size = {_MAPPED}").fetchall()

    def _take_up(self, connection: apsw.Connection) -> None:
        last_doc, deletions = connection.execute(
            "SELECT last_doc, deletions FROM namespaces WHERE ns = ?", (self._ns,)
        ).get
        back: list[int] = []
        if self._last_doc and deletions > self._deletions:
            changed: list[Any] = connection.execute(
                "SELECT doc FROM deletions WHERE ns = ? AND number > ? ORDER BY number", (self._ns, self._deletions)
            ).fetchall()
            is_back = {abs(doc): doc < 0 for (doc,) in changed}
            back = [doc for doc, there in is_back.items() if there and doc <= self._last_doc]
            self._mark(np.array(list(is_back), dtype=np.int64))
        if 4 * self._dead > self._rows:
            self._reset()
            back = []
        rows = connection.execute(
            "SELECT id, vector FROM vectors WHERE ns = ? AND id >= ? ORDER BY id",
            (self._ns, (self._last_doc + 1) * STRIDE),
        )
        for part in _parts(rows):
            self._append(part)
        for doc in back:
            first = doc * STRIDE
            self._append(connection.execute(_ROWS_OF, (first, first + STRIDE - 1, self._ns)).fetchall())
        stale = deletions != self._deletions or _sampled_of(self.rows) != self._sampled
        self._last_doc, self._deletions = last_doc, deletions
        if self._codes is not None and stale:
            self._sampled = _sampled_of(self.rows)
            living = self._ids[: self._rows][self._alive[: self._rows]]
            _, self._sample = self._fetch(connection, living[_spread(self._sampled)])

    def _mark(self, gone: Documents) -> None:
        """Deleted documents are not found, and their vectors not kept."""
        rows = np.flatnonzero(np.isin(self._ids[: self._rows] >> _SHIFT, gone) & self._alive[: self._rows])
        self._alive[rows] = False
        self._dead += len(rows)
        if self._floats is not None:
            self._floats[rows] = 0
        if self._codes is not None:
            self._codes[:, rows] = 0
        if self._kept is not None:
            self._kept[rows] = 0

    def _append(self, part: Sequence[Any]) -> None:
        start, stop = self._rows, self._rows + len(part)
        halves = _halves([vector for _, vector in part], self._dimension)
        floats = _floats(halves)
        if self._codes is None and stop > self._exact and self._floats is not None:
            self._codes = _signs(self._floats[:start])
            self._kept = self._floats[:start].astype(np.float16).view(np.uint16)
            self._floats = None
        if stop * self._dimension * 2 > KEPT:
            self._kept = None
        self._grow(stop)
        if self._kept is not None:
            self._kept[start:stop] = halves
        self._ids[start:stop] = [row for row, _ in part]
        self._alive[start:stop] = True
        if self._floats is not None:
            self._floats[start:stop] = floats
        if self._codes is not None:
            self._codes[:, start:stop] = _signs(floats)
        self._rows = stop

    def _grow(self, rows: int) -> None:
        """Room for `rows`; what views hold is left as it is."""
        roomy = self._codes is None or rows <= self._codes.shape[1]
        if rows <= len(self._ids) and roomy and (self._kept is None or rows <= len(self._kept)):
            return
        room = rows if not self._rows else max(rows, self._rows + self._rows // 2)
        used = self._rows
        self._ids = np.concatenate([self._ids[:used], np.zeros(room - used, dtype=np.int64)])
        self._alive = np.concatenate([self._alive[:used], np.zeros(room - used, dtype=np.bool_)])
        if self._floats is not None:
            more = np.empty((room - used, self._dimension), dtype=np.float32)
            self._floats = np.concatenate([self._floats[:used], more])
        if self._codes is not None:
            words = np.zeros((len(self._codes), room - used), dtype=np.uint64)
            self._codes = np.concatenate([self._codes[:, :used], words], axis=1)
        if self._kept is not None:
            rest = np.zeros((room - used, self._dimension), dtype=np.uint16)
            self._kept = np.concatenate([self._kept[:used], rest])

    def _fetch(self, connection: apsw.Connection, ids: Documents) -> tuple[Documents, Floats]:
        """These rows, from the file: those of them that are still there."""
        rows: list[Any] = connection.execute(
            "SELECT id, vector FROM vectors WHERE id IN carray(?)", (apsw.carray(np.ascontiguousarray(ids)),)
        ).fetchall()
        found = np.array([row for row, _ in rows], dtype=np.int64)
        return found, _floats(_halves([vector for _, vector in rows], self._dimension))

    # searching

    def _view(self) -> _View:
        with self._lock:
            rows = self._rows
            return _View(
                ids=self._ids[:rows],
                floats=None if self._floats is None else self._floats[:rows],
                codes=None if self._codes is None else self._codes[:, :rows],
                halves=None if self._kept is None else self._kept[:rows],
                alive=self._alive[:rows] if self._dead else None,
                sample=self._sample,
                sampled=self._sampled,
            )

    def search(self, query: Query, connection: apsw.Connection) -> tuple[list[tuple[int, float]], float, float, int]:
        """The best documents; mean and standard deviation of all the scope's cosines, or of a sample; how many vectors
        there are."""
        view = self._view()
        within = query.within(view.ids)
        there = view.alive if within is None else within if view.alive is None else within & view.alive
        count = len(view.ids) if there is None else int(there.sum())
        if view.floats is not None:
            return *_exactly(query, view.ids, view.floats, there), count
        if within is not None and int(within.sum()) <= self._exact:
            return *_exactly(query, *self._read(view, connection, _numbers(view.ids, there)), None), count
        sample = view.sample
        if _sampled_of(count) != view.sampled:
            living = _numbers(view.ids, there)
            _, sample = self._read(view, connection, living[_spread(_sampled_of(count))])
        ids, floats = self._read(view, connection, self._near(view, query, there))
        return _best(ids, _cosines(floats, query.vector), query.k), *_moments(_cosines(sample, query.vector)), count

    def _read(self, view: _View, connection: apsw.Connection, rows: npt.NDArray[np.intp]) -> tuple[Documents, Floats]:
        if view.halves is not None:
            return view.ids[rows], _floats(view.halves[rows])
        return self._fetch(connection, view.ids[rows])

    def _near(self, view: _View, query: Query, there: Mask | None) -> npt.NDArray[np.intp]:
        """The rows whose signs agree most with the question's: RESCORED of them, or some more."""
        assert view.codes is not None
        asked = _signs(query.vector[None, :])[:, 0]
        distance = np.zeros(len(view.ids), dtype=np.uint16)
        for word, bits in zip(view.codes, asked, strict=True):
            distance += np.bitwise_count(word ^ bits)
        mask = query.mask(view.ids, there)
        if mask is not None:
            distance[~mask] = _FAR
        wanted = max(RESCORED, 4 * query.k)
        furthest = 64 * len(view.codes)
        bound = bisect_left(range(furthest), wanted, key=lambda most: int(np.count_nonzero(distance <= most)))
        rows = np.flatnonzero(distance <= bound)
        if len(rows) > 4 * wanted:  # many alike: the first of them
            nearer = rows[distance[rows] < bound]
            alike = rows[distance[rows] == bound]
            rows = np.concatenate([nearer, alike[: wanted - len(nearer)]])
        return rows


def _exactly(
    query: Query, ids: Documents, floats: Floats, there: Mask | None
) -> tuple[list[tuple[int, float]], float, float]:
    """The best of these rows; mean and standard deviation of the cosines of those that are there."""
    cosines = _cosines(floats, query.vector)
    moments = _moments(cosines if there is None else cosines[there])
    mask = query.mask(ids, there)
    if mask is not None:
        cosines = np.where(mask, cosines, np.float32(-np.inf))
    return _best(ids, cosines, query.k), *moments


def _numbers(ids: Documents, there: Mask | None) -> npt.NDArray[np.intp]:
    """The rows that are there."""
    return np.arange(len(ids)) if there is None else np.flatnonzero(there)


def _sampled_of(count: int) -> int:
    """Of how many vectors a sample is taken, where there are `count`."""
    return 1 << (count.bit_length() - 1) if count else 0


def _spread(count: int) -> npt.NDArray[np.intp]:
    return np.linspace(0, max(0, count - 1), min(SAMPLE, count)).astype(np.intp)


def _moments(cosines: Floats) -> tuple[float, float]:
    return (float(cosines.mean()), float(cosines.std())) if len(cosines) else (0.0, 0.0)


def _parts(rows: apsw.Cursor) -> Iterator[list[Any]]:
    """Rows (id, vector), some thousands at a time."""
    while part := list(islice(rows, _LOADED)):
        yield part
