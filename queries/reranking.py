"""The reranker's port, and how recall uses one: as a further summand of the best memories' scores, in good time or not.

A reranker reads the question and each memory's words together. It orders what the channels found and brings nothing
in; what holds, the fence and the forgotten are settled before. One that is slow, down or answers nonsense is left out
of the answer, which says so, and is not asked again for a growing while: so it costs a recall its time limit at most,
and a dead one costs nothing. It is asked again by itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Protocol

from taishi.ingest.errors import Unavailable

from .folding import Ranked
from .patience import Patience

NAME: Final = "reranker"
"""How `degraded` calls it."""
SUMMAND: Final = "rerank"
"""How `why` calls what it adds to a score."""
LONGEST: Final = 1_000
"""Characters of a memory that are sent."""


class Reranker(Protocol):
    @property
    def id(self) -> str: ...

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each of `texts` answers, in their order, 0..1. Raises Unavailable where it does not answer, or not
        with one finite number for each."""
        ...


class Reranking:
    """Safe to share between threads. `seconds` bound what a recall waits, `most` is how many memories are sent,
    `weight` what a relevance of 1 adds to a score (a perfect match of all the question's words is worth 1)."""

    def __init__(
        self,
        reranker: Reranker,
        *,
        seconds: float,
        most: int,
        weight: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reranker = reranker
        self.most: Final = most
        self._weight = weight
        self._patience = Patience(NAME, seconds=seconds, clock=clock)

    def reordered(self, query: str, ranked: Sequence[Ranked]) -> list[Ranked] | None:
        """The memories with what the reranker adds, best first; None where it did not answer in time."""
        first = [entry for entry in ranked[: self.most] if _words(entry)]
        if not first:
            return list(ranked)
        scores = self._scores(query, [_words(entry)[:LONGEST] for entry in first])
        if scores is None:
            return None
        added = {entry.doc: self._weight * min(max(s, 0.0), 1.0) for entry, s in zip(first, scores, strict=True)}
        entries = [_with(entry, added[entry.doc]) if entry.doc in added else entry for entry in ranked]
        return sorted(entries, key=lambda entry: -entry.score)

    def close(self) -> None:
        self._patience.close()

    def _scores(self, query: str, texts: Sequence[str]) -> Sequence[float] | None:
        def asked() -> Sequence[float]:
            scores = self._reranker.rerank(query, texts)
            if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
                raise Unavailable("the reranker answers with something else than a number for each text")
            return scores

        try:
            return self._patience.ask(asked)
        except Unavailable:
            return None


def _words(entry: Ranked) -> str:
    return (entry.claim.text if entry.claim is not None else entry.event.text if entry.event is not None else "") or ""


def _with(entry: Ranked, added: float) -> Ranked:
    return replace(entry, score=entry.score + added, parts={**entry.parts, SUMMAND: added})
