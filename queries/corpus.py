"""What a namespace's documents are like: how many there are, how long, and in how many of them a word stands.

Kept up to date by reading only what was added since; read anew when something was forgotten, and after some fading.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from taishi.projections.analysis import base36

from .reading import ReadModel

COMMON: Final = 500
"""Documents from which on a word is common."""
GROWN: Final = 1.2
ALL: Final = 2**63 - 1
"""As the number of the last document: all of them count."""
REMEMBERED: Final = 200_000
NAMESPACES: Final = 50_000


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Of one namespace's documents: how many, and how many tokens they have together."""

    documents: int
    tokens: int

    @property
    def mean_length(self) -> float:
        return max(self.tokens / self.documents, 1.0) if self.documents else 1.0

    def idf(self, known: int) -> float:
        """How telling a word is that stands in `known` documents, as BM25 has it."""
        return inverse_frequency(known, self.documents)


def inverse_frequency(known: int, documents: int) -> float:
    """BM25's, of a word that stands in `known` of so many documents."""
    known = min(known, documents)
    return math.log(1 + (documents - known + 0.5) / (known + 0.5))


@dataclass(frozen=True, slots=True)
class _Seen:
    last: int
    removals: tuple[int, int]
    sums: CorpusStatistics


class Corpora:
    """The statistics of every namespace that was asked about. Safe to share between threads: a lost update is made
    good by the next."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int, int], _Seen] = {}
        # of (generation, partition, namespace) and its first so many documents: those with a word; the last of them
        self._common: OrderedDict[tuple[str, int, int, int, str], int] = OrderedDict()
        self._ends: OrderedDict[tuple[str, int, int, int], int] = OrderedDict()

    def of(self, model: ReadModel, ns: int) -> CorpusStatistics:
        key = (model.generation, model.partition, ns)
        gone = model.one(_CHANGES, ns)
        removals = (int(gone[0]), int(gone[1])) if gone else (0, 0)
        seen = self._seen.get(key)
        if seen is not None and seen.removals[1] != removals[1]:
            self._forget_counts(model, ns)
        if seen is None or seen.removals != removals:
            seen = _Seen(-1, removals, CorpusStatistics(0, 0))
        added = model.one("SELECT count(*), sum(length), max(doc) FROM tokens WHERE ns = ? AND doc > ?", ns, seen.last)
        if added is not None and added[0]:
            sums = CorpusStatistics(seen.sums.documents + added[0], seen.sums.tokens + added[1])
            seen = _Seen(added[2], removals, sums)
        if len(self._seen) > NAMESPACES:
            self._seen.clear()
        self._seen[key] = seen
        return seen.sums

    def _forget_counts(self, model: ReadModel, ns: int) -> None:
        """The namespace's texts are cut by other words now."""
        about = (model.generation, model.partition, ns)
        for word in [word for word in self._common if word[:3] == about]:
            del self._common[word]
        for size in [size for size in self._ends if size[:3] == about]:
            del self._ends[size]

    def frequencies(
        self, model: ReadModel, ns: int, tokens: Iterable[str], corpus: CorpusStatistics, *, last: int | None = None
    ) -> dict[str, int]:
        """In how many documents (up to number `last`) each of `tokens` stands; absent where in none. Of common words it
        is told as it was when the namespace last grew by a fifth: counting them takes long, and it moves a word's
        weight by less than .2."""
        asked = dict.fromkeys(tokens)
        grown = _grown(corpus.documents)
        common = {token: (model.generation, model.partition, ns, grown, token) for token in asked}
        found = {token: self._common[key] for token, key in common.items() if key in self._common}
        exact = _counted(model, ns, asked.keys() - found.keys(), last)
        for token, documents in exact.items():
            found[token] = documents
            if documents >= COMMON:
                then = _count_to(model, ns, token, self._grown_to(model, ns, grown))
                if then >= COMMON:
                    found[token] = self._common[common[token]] = then
        while len(self._common) > REMEMBERED:
            self._common.popitem(last=False)
        while len(self._ends) > NAMESPACES:
            self._ends.popitem(last=False)
        return found

    def _grown_to(self, model: ReadModel, ns: int, documents: int) -> int:
        """The last of the namespace's first so many documents."""
        key = (model.generation, model.partition, ns, documents)
        if key not in self._ends:
            row = model.one("SELECT doc FROM tokens WHERE ns = ? ORDER BY doc LIMIT 1 OFFSET ?", ns, documents - 1)
            self._ends[key] = ALL if row is None else int(row[0])
        return self._ends[key]


def _grown(documents: int) -> int:
    """The last size, of those that lie a fifth apart, that a namespace of so many documents has passed."""
    size = COMMON
    while (larger := math.ceil(size * GROWN)) <= documents:
        size = larger
    return size


def _counted(model: ReadModel, ns: int, tokens: Iterable[str], last: int | None) -> dict[str, int]:
    if last is not None:
        counted = {token: _count_to(model, ns, token, last) for token in tokens}
        return {token: documents for token, documents in counted.items() if documents}
    prefix = base36(ns) + "|"
    rows = model.rows_named(_COUNT, [prefix + token for token in tokens])
    return {term[len(prefix) :]: documents for term, documents in rows}


def _count_to(model: ReadModel, ns: int, token: str, last: int) -> int:
    row = model.one(_COUNT_TO, f'words : "{base36(ns)}|{token}"', last)
    return 0 if row is None else int(row[0])


_CHANGES: Final = """SELECT (SELECT count(*) FROM tombstones WHERE ns = ?1)
    + (SELECT ifnull(sum(fadings), 0) / 1000 FROM namespaces WHERE ns = ?1),
    (SELECT ifnull(sum(seq), 0) FROM dictionaries WHERE ns = ?1)"""
_COUNT_TO: Final = "SELECT count(*) FROM fulltext WHERE fulltext MATCH ? AND rowid <= ?"
_COUNT: Final = "SELECT term, doc FROM terms WHERE term IN carray(?) AND col = 'words'"
