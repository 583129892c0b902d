"""From texts to vectors, each text embedded once: what was embedded before is found by a keyed hash of its content."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np

from taishi.ingest.errors import InvalidInput, TaishiError, Unavailable

from .embedding import Embedder, Vectors
from .vectors import VectorStore

BATCH: Final = 64
"""Texts embedded, and committed, at a time."""
REMEMBERED: Final = 2_048
"""Vectors kept in memory: a claim often has the very words of the event it was read from."""


class TextVectors:
    """`secret` keys the content hashes, so that a file of them tells nothing to one who guesses texts."""

    def __init__(self, embedder: Embedder, secret: bytes) -> None:
        self._embedder = embedder
        self._secret = secret
        self._remembered: OrderedDict[bytes, Vectors] = OrderedDict()

    def key(self, text: str) -> bytes:
        return blake2b(text.encode(), key=self._secret, digest_size=16).digest()

    def forget(self) -> None:
        """Nothing embedded before stays in memory."""
        self._remembered.clear()

    def vectors(self, store: VectorStore, texts: Sequence[str]) -> tuple[dict[bytes, Vectors], dict[bytes, str]]:
        """Vectors by content key; for texts that the model refuses, its error code.

        Raises Unavailable where the model does not answer, or answers nonsense.
        """
        wanted = {self.key(text): text for text in texts}
        found = {key: self._remembered[key] for key in wanted if key in self._remembered}
        found |= store.known_vectors(key for key in wanted if key not in found)
        fresh, errors = self._embed({key: text for key, text in wanted.items() if key not in found})
        self._remembered |= {key: row.copy() for key, row in fresh.items()}  # not the whole batch with each row
        while len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)
        return found | fresh, errors

    def _embed(self, texts: dict[bytes, str]) -> tuple[dict[bytes, Vectors], dict[bytes, str]]:
        """Refused texts are found by asking one at a time."""
        keys = list(texts)
        found: dict[bytes, Vectors] = {}
        errors: dict[bytes, str] = {}
        for i in range(0, len(keys), BATCH):
            part = keys[i : i + BATCH]
            try:
                found |= zip(part, self._ask([texts[key] for key in part]), strict=True)
            except InvalidInput:
                for key in part:
                    try:
                        found[key] = self._ask([texts[key]])[0]
                    except InvalidInput as e:
                        errors[key] = e.slug
        return found, errors

    def _ask(self, texts: Sequence[str]) -> Vectors:
        try:
            rows = self._embedder.embed(texts)
        except (InvalidInput, Unavailable):
            raise
        except Exception as e:
            said = e.message if isinstance(e, TaishiError) else f"the embedder failed with {type(e).__name__}"
            raise Unavailable(said) from e
        if rows.shape != (len(texts), self._embedder.dimension) or not np.isfinite(rows).all():
            raise Unavailable(f"the embedder gave {rows.shape} for {len(texts)} texts, or what is no number")
        return rows
