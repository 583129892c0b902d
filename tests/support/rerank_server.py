"""A stand-in for a rerank service: real HTTP over loopback, both wire forms, and the ways such a service goes wrong.

It finds best what holds `favourite`. `fault` names what its answers suffer from until it is None again.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


class RerankServer:
    def __init__(self, *, favourite: str) -> None:
        self.favourite = favourite
        self.fault: str | None = None
        self.slowness = 1.0
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> RerankServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
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


def _handler(server: RerankServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.asked.append(body)
            server.keys.append(self.headers.get("authorization"))
            status, content = server.answer(self.path, body)
            try:
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
