"""Embedder adapter: any endpoint that speaks OpenAI's `POST {base_url}/embeddings`, over httpx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import httpx
import numpy as np

from taishi.ingest.errors import InvalidInput, Unavailable

from .embedding import Vectors, unit

_REFUSALS: Final = frozenset({400, 413, 422})
_MOST: Final = 64
"""Texts of one request; some providers take no more than 10, which `batch` sets."""


class OpenAIEmbedder:
    """Safe to share between threads. Every failure but a refused text is Unavailable, a wrong key too: the worker waits
    and says so, and goes on when it is put right. Messages never hold the key or a text."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        dimension: int,
        api_key: str | None = None,
        send_dimension: bool = False,
        batch: int = _MOST,
        seconds: float = 10.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        self._http = httpx.Client(
            base_url=base_url.rstrip("/") + "/",
            headers=headers,
            timeout=httpx.Timeout(seconds, connect=min(seconds, 3.0)),
            transport=transport,
        )
        self._model = model
        self._dimension = dimension
        self._batch = batch
        self._extra: dict[str, Any] = {"dimensions": dimension} if send_dimension else {}

    @property
    def id(self) -> str:
        return f"openai:{self._model}@{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        parts = [self._request(texts[i : i + self._batch]) for i in range(0, len(texts), self._batch)]
        return np.concatenate(parts) if parts else np.empty((0, self._dimension), dtype=np.float32)

    def _request(self, texts: Sequence[str]) -> Vectors:
        asked = {"model": self._model, "input": list(texts), "encoding_format": "float", **self._extra}
        try:
            reply = self._http.post("embeddings", json=asked)
        except httpx.HTTPError as e:
            raise Unavailable(f"the embedding endpoint does not answer ({type(e).__name__})") from None
        if reply.status_code in _REFUSALS:
            raise InvalidInput(f"the embedding endpoint refuses these texts (HTTP {reply.status_code})")
        if reply.status_code != 200:
            after = reply.headers.get("retry-after", "")
            wait = int(after) if after.isascii() and after.isdigit() else 1
            raise Unavailable(f"the embedding endpoint answers HTTP {reply.status_code}", retry_after=wait)
        return self._vectors(reply, len(texts))

    def _vectors(self, reply: httpx.Response, count: int) -> Vectors:
        """The rows in the order asked. What is not `count` finite vectors of the right length is refused."""
        try:
            data = sorted(reply.json()["data"], key=lambda row: int(row["index"]))
            rows = np.array([row["embedding"] for row in data], dtype=np.float32)
            indexes = [int(row["index"]) for row in data]
        except (ValueError, TypeError, KeyError):
            raise Unavailable("the embedding endpoint answers with something else than vectors") from None
        if indexes != list(range(count)) or rows.shape != (count, self._dimension) or not np.isfinite(rows).all():
            shape = "x".join(map(str, rows.shape))
            raise Unavailable(f"the embedding endpoint answers with {shape} numbers for {count}x{self._dimension}")
        return unit(rows)

    def close(self) -> None:
        self._http.close()
