"""What a namespace's documents are like: how many there are, how long, and in how many of them a word stands.

Kept up to date by reading only what was added since; read anew when something was forgotten, and after some fading.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from taishi.projections.analysis import base36

from .reading import ReadModel

COMMON: Final = 500
"""Documents from which on a word's count is remembered: counting takes 20 ns a document."""
GROWN: Final = 1.2
"""A remembered count serves until the namespace has grown by this factor: it moves a word's weight by less than .2."""
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
        self._common: OrderedDict[tuple[str, int, str], tuple[int, int]] = OrderedDict()

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
        about = (model.generation, model.partition, base36(ns) + "|")
        for key in [key for key in self._common if (*key[:2], key[2][: len(about[2])]) == about]:
            del self._common[key]

    def frequencies(
        self, model: ReadModel, ns: int, tokens: Iterable[str], corpus: CorpusStatistics, *, last: int | None = None
    ) -> dict[str, int]:
        """In how many documents (up to number `last`) each of `tokens` stands; absent where in none. Counts of common
        words may be a little old, where all documents count."""
        prefix = base36(ns) + "|"
        if last is not None:
            counted = {token: model.one(_COUNT_TO, f'words : "{prefix}{token}"', last) for token in tokens}
            return {token: int(row[0]) for token, row in counted.items() if row is not None and row[0]}
        found: dict[str, int] = {}
        unknown: list[str] = []
        for token in tokens:
            known = self._common.get((model.generation, model.partition, prefix + token))
            if known is not None and known[1] <= corpus.documents <= known[1] * GROWN:
                found[token] = known[0]
            else:
                unknown.append(prefix + token)
        for term, documents in model.rows_named(_COUNT, unknown):
            found[term[len(prefix) :]] = documents
            if documents >= COMMON:
                self._common[model.generation, model.partition, term] = (documents, corpus.documents)
        while len(self._common) > REMEMBERED:
            self._common.popitem(last=False)
        return found


_CHANGES: Final = """SELECT (SELECT count(*) FROM tombstones WHERE ns = ?1)
    + (SELECT ifnull(sum(fadings), 0) / 1000 FROM namespaces WHERE ns = ?1),
    (SELECT ifnull(sum(seq), 0) FROM dictionaries WHERE ns = ?1)"""
_COUNT_TO: Final = "SELECT count(*) FROM fulltext WHERE fulltext MATCH ? AND rowid <= ?"
_COUNT: Final = "SELECT term, doc FROM terms WHERE term IN carray(?) AND col = 'words'"
