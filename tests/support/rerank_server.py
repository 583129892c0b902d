"""A stand-in for a rerank service: real HTTP over loopback, both wire forms, and the ways such a service goes wrong.

It finds best what holds `favourite`. `fault` names what its answers suffer from until it is None again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from tests.support.loopback_service import LoopbackService


class RerankServer(LoopbackService):
    def __init__(self, *, favourite: str) -> None:
        super().__init__()
        self.favourite = favourite
        self.fault: str | None = None
        self.slowness = 1.0
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    def answer(self, path: str, body: dict[str, Any], headers: Mapping[str, str]) -> tuple[int, bytes]:
        self.asked.append(body)
        self.keys.append(headers.get("authorization"))
        native = path == "/v1/services/rerank/text-rerank/text-rerank"
        if not native and path != "/v1/rerank":
            return 404, b"{}"
        documents = body["input"]["documents"] if native else body["documents"]
        rows = [
            {"index": n, "relevance_score": 0.9 if self.favourite in text else 0.1} for n, text in enumerate(documents)
        ]
        rows.sort(key=lambda row: -row["relevance_score"])
        match self.fault:
            case "error":
                return 500, b"oops"
            case "no_json":
                return 200, b"<html>gateway</html>"
            case "one_missing":
                rows.pop()
            case "nan":
                rows[0]["relevance_score"] = float("nan")
            case "words":
                rows[0]["relevance_score"] = "high"
            case "one_twice":
                rows[0]["index"] = rows[-1]["index"]
            case "slow":
                time.sleep(self.slowness)
        return 200, json.dumps({"output": {"results": rows}} if native else {"results": rows}).encode()
