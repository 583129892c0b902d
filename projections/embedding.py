"""The embedder's port, and how a document becomes the texts that are embedded.

An embedder maps texts to unit vectors. Its `id` names model and version: vectors of different ids are never compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from .rendering import for_embedding

Vectors = npt.NDArray[np.float32]

CHUNK: Final = 300
"""Characters of one embedded text, at most (half as many in scripts that say more with each, such as Han): cost grows
with length, and a fact drowns in a long one."""
CHUNKS: Final = 32
"""Chunks of one document, at most."""
TAIL: Final = 8
"""Of a longer document the first CHUNKS - TAIL and the last TAIL chunks are embedded: turns end on what matters."""

_SENTENCES: Final = re.compile(r"(?<=[。！？；…])|(?<=[.!?;])(?=\s)")
_CLAUSES: Final = re.compile(r"(?<=[，、：])|(?<=[,:\s])")
_SPACE: Final = re.compile(r"\s+")


class Embedder(Protocol):
    @property
    def id(self) -> str:
        """Model and version, e.g. `use-m3@0.2.1`."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension) float32, every row of length 1. `n` may be 0.

        Raises Unavailable when the model is down (try again), InvalidInput when it refuses these texts.
        """
        ...


def chunks(text: str, *, size: int = CHUNK, most: int = CHUNKS, tail: int = TAIL) -> list[str]:
    """What of a document is embedded, in order: pieces of at most `size` characters, cut at sentence bounds
    where there are any. None for a text of white space."""
    text = for_embedding(_SPACE.sub(" ", text.encode("utf-8", "replace").decode()).strip())
    if len(text.encode()) > 2 * len(text):
        size //= 2
    if len(text) <= size:
        return [text] if text else []
    pieces = [piece for piece in map(str.strip, _packed(text, size, (_SENTENCES, _CLAUSES))) if piece]
    return pieces if len(pieces) <= most else pieces[: most - tail] + pieces[-tail:]


def _packed(text: str, size: int, bounds: tuple[re.Pattern[str], ...]) -> list[str]:
    """As many whole parts as fit into each piece; a part that is too long is cut at the next finer bounds, or anywhere
    when there are none."""
    if not bounds:
        return [text[i : i + size] for i in range(0, len(text), size)]
    pieces: list[str] = []
    held = ""
    for part in bounds[0].split(text):
        if len(held) + len(part) <= size:
            held += part
            continue
        pieces.append(held)
        held = part
        if len(part) > size:
            *whole, held = _packed(part, size, bounds[1:])
            pieces += whole
    return [*pieces, held]


def unit(rows: Vectors) -> Vectors:
    """Rows scaled to length 1; a zero row becomes the first axis, so that every text has a direction."""
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    zero = lengths == 0
    if zero.any():
        rows = rows.copy()
        rows[zero, 0] = 1.0
        lengths = np.where(zero, np.float32(1), lengths)
    result: Vectors = (rows / lengths[:, None]).astype(np.float32, copy=False)
    return result
