"""The vector channel: the question's vector, and the index of each partition, warmed up in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from taishi.ingest.errors import TaishiError, Unavailable
from taishi.projections.embedding import Embedder, Vectors
from taishi.projections.rendering import for_embedding

from .channels import DenseHits
from .dense import DenseIndex
from .patience import Patience

REFRESH_SECONDS: Final = 1.0
QUESTION: Final = 400
"""Characters of a question that are embedded: its end, where the asking stands."""
PRIOR_DOCUMENTS: Final = 30
"""A background of few documents is blended with the usual one, as if so many had been seen."""
PRIOR_MEAN: Final = 0.15
PRIOR_DEVIATION: Final = 0.11
CALIBRATED: Final = "use-m3@"
"""How the id of a model begins whose similarities mean the same in every namespace, as `answerability` reads them."""

_LOG: Final = logging.getLogger(__name__)


class Meaning:
    """Implements `channels.DenseChannel`. `load` makes the embedder (it may take a second); until `warm` has run,
    `ready` is False and recall goes on without this channel. `patience` bounds the wait for an embedder that is a
    service; None for one in this process."""

    def __init__(
        self,
        *,
        load: Callable[[], Embedder | None],
        folder: Path,
        partitions: int,
        patience: Patience | None = None,
    ) -> None:
        self._load = load
        self._patience = patience
        self._folder = folder
        self._partitions = partitions
        self._embedder: Embedder | None = None
        self._indexes: list[DenseIndex] = []
        self._looked_at = 0.0
        self._lock = threading.Lock()
        self.off = False
        self.embed: Callable[[str], Vectors] = self._embed
        self.embed_parts: Callable[[tuple[str, ...]], Sequence[Vectors]] = self._embed_parts

    @property
    def ready(self) -> bool:
        return self.off or bool(self._indexes)

    def warm(self) -> None:
        """Loads the embedder and opens the indexes. A service that is down is no reason to wait: questions ask it
        again. Raises ConfigurationError."""
        embedder = self._load()
        if embedder is None:
            self.off = True
            return
        try:
            embedder.embed(["warm"])
        except Unavailable as e:
            _LOG.warning("starting without the embedder: %s", e.message)
        self._embedder = embedder
        self.embed = lru_cache(maxsize=1_024)(self._embed)
        self.embed_parts = lru_cache(maxsize=128)(self._embed_parts)
        indexes = [DenseIndex(self._folder, p, model=embedder.id) for p in range(self._partitions)]
        for index in indexes:
            index.warm()
        self._indexes = indexes

    def _embed(self, text: str) -> Vectors:
        vector: Vectors = self._embed_parts((text,))[0]
        return vector

    def _embed_parts(self, texts: tuple[str, ...]) -> Sequence[Vectors]:
        """Raises Unavailable while there is no embedder, or where it is down."""
        embedder = self._embedder
        if embedder is None:
            raise Unavailable("the embedder is not loaded")
        asked = [for_embedding(text[-QUESTION:]) for text in texts]
        rows = embedder.embed(asked) if self._patience is None else self._patience.ask(lambda: embedder.embed(asked))
        return list(rows)

    def search(
        self,
        partition: int,
        ns: int,
        vector: Vectors,
        k: int,
        *,
        last: int | None = None,
        among: Sequence[int] | None = None,
    ) -> DenseHits | None:
        index = self._index(partition)
        if index is None or self._embedder is None or index.model != self._embedder.id:
            return None
        allowed = None if among is None else np.array(among, dtype=np.int64)
        hits = index.search(ns, vector, k, last=last, allowed=allowed)
        seen = hits.searched
        share = seen / (seen + PRIOR_DOCUMENTS)
        mean = share * hits.mean + (1 - share) * PRIOR_MEAN
        deviation = share * hits.std + (1 - share) * PRIOR_DEVIATION
        return DenseHits(hits.found, mean, deviation, calibrated=self._embedder.id.startswith(CALIBRATED))

    def checkpoint(self, partition: int) -> int | None:
        """Position up to which vectors are made; None where the channel is off or not warm."""
        index = self._index(partition)
        return None if index is None else index.checkpoint()

    def _index(self, partition: int) -> DenseIndex | None:
        if not self._indexes:
            return None
        now = time.monotonic()
        with self._lock:
            due = now - self._looked_at > REFRESH_SECONDS
            if due:
                self._looked_at = now
        if due:
            for index in self._indexes:
                try:
                    index.refresh()
                except (TaishiError, OSError) as e:
                    _LOG.warning("cannot look for vector files: %s", type(e).__name__)
        return self._indexes[partition]
