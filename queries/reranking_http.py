"""Reranker adapter over httpx: endpoints of the common form (`POST {base_url}/rerank`) and DashScope's own.

The common form is spoken by hosted services and by local model servers alike: `{model, query, documents, top_n}` →
`{results: [{index, relevance_score}]}`. DashScope wraps the same in `input`, `parameters` and `output`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import httpx

from taishi.ingest.errors import Unavailable

Style = Literal["openai", "dashscope"]

_PATH: Final[Mapping[Style, str]] = {"openai": "rerank", "dashscope": "services/rerank/text-rerank/text-rerank"}


class HttpReranker:
    """Safe to share between threads. Every failure is Unavailable; messages never hold the key, the question or a text.
    `seconds` bound each step of a request (the whole is bounded by `Reranking`)."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        style: Style = "openai",
        api_key: str | None = None,
        seconds: float = 1.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        self._http = httpx.Client(
            base_url=base_url.rstrip("/") + "/", headers=headers, timeout=seconds, transport=transport
        )
        self._model = model
        self._style: Style = style

    @property
    def id(self) -> str:
        return f"{self._style}:{self._model}"

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        try:
            reply = self._http.post(_PATH[self._style], json=self._asked(query, texts))
        except httpx.HTTPError as e:
            raise Unavailable(f"the rerank endpoint does not answer ({type(e).__name__})") from None
        if reply.status_code != 200:
            raise Unavailable(f"the rerank endpoint answers HTTP {reply.status_code}")
        return self._scores(reply, len(texts))

    def _asked(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        if self._style == "dashscope":
            return {
                "model": self._model,
                "input": {"query": query, "documents": list(texts)},
                "parameters": {"top_n": len(texts), "return_documents": False},
            }
        return {"model": self._model, "query": query, "documents": list(texts), "top_n": len(texts)}

    def _scores(self, reply: httpx.Response, count: int) -> list[float]:
        """In the order asked. Anything but one score for each text is refused."""
        try:
            body = reply.json()
            rows = (body["output"] if self._style == "dashscope" else body)["results"]
            scores = {int(row["index"]): float(row["relevance_score"]) for row in rows}
        except (ValueError, TypeError, KeyError):
            raise Unavailable("the rerank endpoint answers with something else than scores") from None
        if sorted(scores) != list(range(count)):
            raise Unavailable(f"the rerank endpoint answers with {len(scores)} scores for {count} texts")
        return [scores[n] for n in range(count)]

    def close(self) -> None:
        self._http.close()
