"""How far a namespace reached at a past point: what was there then is searched and weighed as if nothing had followed.

A question about the past must not be answered from what stands around the answer today: words that have become common
since, or newer documents that crowd out the older. The horizon is the last document that was known (or read) at the
point; what lies beyond it is not matched, and not counted.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .corpus import CorpusStatistics
from .point import Point
from .reading import ReadModel

NAMESPACES: Final = 16
"""Namespaces whose documents' times are kept in memory, the last asked about: 24 bytes a document."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Horizon:
    """Documents up to number `last` were there; `corpus` is of those."""

    last: int
    corpus: CorpusStatistics


@dataclass(frozen=True, slots=True)
class _Known:
    """Document numbers, ascending; when each was known; tokens up to and with each."""

    removals: tuple[Any, ...]
    docs: Numbers
    known: Numbers
    tokens: Numbers


class Horizons:
    """Safe to share between threads: a lost update is made good by the next."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._kept: OrderedDict[tuple[str, int, int], _Known] = OrderedDict()

    def of(self, model: ReadModel, ns: int, point: Point) -> Horizon | None:
        """None where all that is there is asked of."""
        if point.whole:
            return None
        kept = self._known(model, ns)
        count = len(kept.docs)
        if point.position is not None:
            count = int(np.searchsorted(kept.docs, 2 * point.position + 1, side="right"))
        if point.past_knowledge:
            there = np.flatnonzero(kept.known[:count] <= point.known_at)
            count = int(there[-1]) + 1 if len(there) else 0
        if not count:
            return Horizon(-1, CorpusStatistics(0, 0))
        return Horizon(int(kept.docs[count - 1]), CorpusStatistics(count, int(kept.tokens[count - 1])))

    def _known(self, model: ReadModel, ns: int) -> _Known:
        key = (model.generation, model.partition, ns)
        removals = model.one(_REMOVALS, ns, ns) or ()
        with self._lock:
            kept = self._kept.get(key)
        if kept is None or kept.removals != removals:
            kept = _Known(removals, *(np.empty(0, dtype=np.int64) for _ in range(3)))
        last = int(kept.docs[-1]) if len(kept.docs) else -1
        if rows := model.rows(_DOCUMENTS, ns, last):
            docs, known, lengths = np.array(rows, dtype=np.int64).T
            before = int(kept.tokens[-1]) if len(kept.tokens) else 0
            kept = _Known(
                removals,
                np.concatenate([kept.docs, docs]),
                np.concatenate([kept.known, known]),
                np.concatenate([kept.tokens, before + np.cumsum(lengths)]),
            )
        with self._lock:
            self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > NAMESPACES:
                self._kept.popitem(last=False)
        return kept


_REMOVALS: Final = """SELECT (SELECT count(*) FROM tombstones WHERE ns = ?),
    (SELECT ifnull(sum(seq), 0) FROM dictionaries WHERE ns = ?)"""
_DOCUMENTS: Final = """SELECT t.doc, ifnull(e.recorded_at, c.known_from), t.length FROM tokens t
    LEFT JOIN events e ON e.seq = t.doc / 2 AND t.doc % 2 = 0 LEFT JOIN claims c ON c.seq = t.doc / 2 AND t.doc % 2 = 1
    WHERE t.ns = ? AND t.doc > ? ORDER BY t.doc"""
