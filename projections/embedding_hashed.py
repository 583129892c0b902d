"""Embedder adapter of last resort: hashed words and character n-grams. No model, no meaning, but typos and inflections
come near each other. Deterministic on every platform."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final
from zlib import crc32

import numpy as np

from taishi.ingest.normal import normalise

from .embedding import Vectors, unit
from .scanner import HAN

DIMENSION: Final = 512
_RUNS: Final = re.compile(f"(?P<han>[{HAN}]+)|(?P<word>[^\\W_{HAN}]+)|(?P<mark>[^\\w\\s])")


def _features(text: str) -> list[str]:
    """Han: characters, pairs and triples. Words: the word and its 3- and 4-grams with bounds. Emoji as they are."""
    found: list[str] = []
    for match in _RUNS.finditer(text):
        run = match[0]
        if match.lastgroup == "han":
            found += run
            found += [run[i : i + n] for n in (2, 3) for i in range(len(run) - n + 1)]
        elif match.lastgroup == "word":
            bound = f"<{run}>"
            found.append(bound)
            found += [bound[i : i + n] for n in (3, 4) for i in range(len(bound) - n + 1) if n < len(bound)]
        elif not run.isascii():
            found.append(run)
    return found


class HashedEmbedder:
    @property
    def id(self) -> str:
        return f"hashed-{DIMENSION}@1"

    @property
    def dimension(self) -> int:
        return DIMENSION

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for feature, count in Counter(_features(normalise(text.encode("utf-8", "replace").decode()))).items():
                code = crc32(feature.encode())
                sign = 1.0 if code & 0x80000000 else -1.0
                row[code % DIMENSION] += sign * (1.0 + math.log(count)) * math.sqrt(len(feature))
        return unit(rows)
