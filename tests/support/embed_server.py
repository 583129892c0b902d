"""A stand-in for an embedding service: real HTTP over loopback, vectors of hashed words, and the ways it goes wrong.

`fault` is None, `error` or `slow`, for all requests until it is another one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from taishi.projections.embedding_hashed import DIMENSION, HashedEmbedder
from tests.support.loopback_service import LoopbackService

__all__ = ["DIMENSION", "EmbedServer"]


class EmbedServer(LoopbackService):
    def __init__(self) -> None:
        super().__init__()
        self.fault: str | None = None
        self.asked = 0
        self._embedder = HashedEmbedder()

    def answer(self, path: str, body: dict[str, Any], headers: Mapping[str, str]) -> tuple[int, bytes]:
        self.asked += 1
        if self.fault == "error":
            return 503, b"{}"
        if self.fault == "slow":
            time.sleep(8)
        rows = self._embedder.embed(body["input"])
        return 200, json.dumps({"data": [{"index": n, "embedding": r.tolist()} for n, r in enumerate(rows)]}).encode()
