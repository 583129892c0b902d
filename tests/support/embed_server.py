"""A stand-in for an embedding service: real HTTP over loopback, vectors of hashed words, and the ways it goes wrong.

`fault` is None, `error` or `slow`, for all requests until it is another one.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from taishi.projections.embedding_hashed import DIMENSION, HashedEmbedder

__all__ = ["DIMENSION", "EmbedServer"]


class EmbedServer:
    def __init__(self) -> None:
        self.fault: str | None = None
        self.asked = 0
        self._embedder = HashedEmbedder()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> EmbedServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: dict[str, Any]) -> tuple[int, bytes]:
        self.asked += 1
        if self.fault == "error":
            return 503, b"{}"
        if self.fault == "slow":
            time.sleep(8)
        rows = self._embedder.embed(body["input"])
        return 200, json.dumps({"data": [{"index": n, "embedding": r.tolist()} for n, r in enumerate(rows)]}).encode()


def _handler(server: EmbedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, content = server.answer(body)
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
