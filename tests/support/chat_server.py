"""A stand-in for a chat model: real HTTP over loopback, the OpenAI wire format, and every way such a model goes wrong.

What it reads is simple enough to foresee: "X likes Y" wherever it stands. `fault` names what the next answers suffer
from; `faults` gives each of the coming calls its own, first come first served.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_LIKES = re.compile(r"(\w+) likes (\w+)")


def claims_in(text: str) -> list[dict[str, Any]]:
    return [
        {
            "subject": "speaker" if m[1] == "I" else m[1], "predicate": "likes", "value": m[2], "quote": m[0],
            "kind": "preference", "negated": False, "temporary": False, "past": False, "time": "", "qualifiers": [],
        }
        for m in _LIKES.finditer(text)
    ]


def reading(words: dict[str, Any]) -> dict[str, Any]:
    return {"events": [{"event": e["event"], "claims": claims_in(e["text"])} for e in words["events"]]}


Fault = Callable[[dict[str, Any], dict[str, Any]], str]


def _truncated(good: dict[str, Any], asked: dict[str, Any]) -> str:
    text = json.dumps(good)
    return text[: len(text) * 2 // 3]


def _echo(good: dict[str, Any], asked: dict[str, Any]) -> str:
    return json.dumps({"$schema": "…", "type": "object", "properties": {"events": {"type": "array"}}})


def _misquoting(good: dict[str, Any], asked: dict[str, Any]) -> str:
    for event in good["events"]:
        for claim in event["claims"]:
            claim["quote"] = "words that nobody said"
    return json.dumps(good)


def _other_ids(good: dict[str, Any], asked: dict[str, Any]) -> str:
    return json.dumps(good).replace('"event": "e', '"event": "x')


def _missing_one(good: dict[str, Any], asked: dict[str, Any]) -> str:
    return json.dumps({"events": good["events"][1:]})


def _one_twice(good: dict[str, Any], asked: dict[str, Any]) -> str:
    return json.dumps({"events": [*good["events"], good["events"][0]]})


def _surrogate(good: dict[str, Any], asked: dict[str, Any]) -> str:
    return json.dumps(good).replace('"likes"', '"likes\\ud800"')


def _commas(good: dict[str, Any], asked: dict[str, Any]) -> str:
    return json.dumps(good).replace("]}", ",]}").replace("}]", "},]")


MENDED: dict[str, Fault] = {
    "fence": lambda good, asked: f"```json\n{json.dumps(good, indent=1)}\n```",
    "bare_fence": lambda good, asked: f"Here it is:\n```\n{json.dumps(good)}\n```\nAnything else?",
    "prose": lambda good, asked: f"Sure, here is what I read:\n{json.dumps(good)}\nHope that helps!",
    "think": lambda good, asked: f'<think>The user {{likes}} "tea.</think>\n{json.dumps(good)}',
    "commas": _commas,
    "everything": lambda good, asked: f"<think>hm</think>Well:\n```json\n{_commas(good, asked)}\n```",
}
"""What is put right without a doubt."""

BROKEN: dict[str, Fault] = {
    "truncated": _truncated,
    "schema_echo": _echo,
    "schema_in_events": lambda good, asked: json.dumps({"events": {"type": "array", "items": {"type": "object"}}}),
    "empty": lambda good, asked: "",
    "blank": lambda good, asked: " \n ",
    "only_thinking": lambda good, asked: "<think>I wonder whether",
    "only_prose": lambda good, asked: "I am sorry, I cannot do that.",
    "other_ids": _other_ids,
    "missing_one": _missing_one,
    "one_twice": _one_twice,
    "no_events": lambda good, asked: '{"events": []}',
    "surrogate": _surrogate,
    "two_objects": lambda good, asked: f"{json.dumps(good)}\n{json.dumps(good)}",
    "list": lambda good, asked: json.dumps([good]),
    "name_twice": lambda good, asked: json.dumps(good)[:-1] + ', "events": []}',
    "wrong_types": lambda good, asked: json.dumps(good).replace('"claims": [', '"claims": [1, '),
    "misquoting": _misquoting,
}
"""Contents that are no answer. (`misquoting` only where something was to be read.)"""

WIRE = (
    "cut_by_length", "filtered", "error_body", "html", "not_json_body", "no_choices", "null_content", "drip", "hang_up",
    "half_body", "bad_gzip",
)
"""Replies that are no answer, whatever their content."""
OUTAGES = ("http_429", "http_500", "http_503", "http_401", "silent", "reset")
"""Nothing comes back at all: the window waits."""


class ChatServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, *, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.fault: str | None = None
        self.faults: deque[str | None] = deque()
        self.answer: Callable[[dict[str, Any]], dict[str, Any]] = reading
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answered = 0
        self.usage: dict[str, int] | None = {"prompt_tokens": 100, "completion_tokens": 20}
        self.pace = 0.05
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def next_fault(self) -> str | None:
        with self.lock:
            return self.faults.popleft() if self.faults else self.fault

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the game."""


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.asked.append(body)
            self.server.headers.append({k.lower(): v for k, v in self.headers.items()})
        if self.path != "/v1/chat/completions":
            self._send(404, b"{}")
            return
        words = json.loads(body["messages"][-1]["content"])
        fault = self.server.next_fault()
        good = self.server.answer(words)
        if fault is None:
            with self.server.lock:
                self.server.answered += 1
            self._say(json.dumps(good, ensure_ascii=False))
        elif fault in MENDED or fault in BROKEN:
            self._say({**MENDED, **BROKEN}[fault](good, words))
        else:
            getattr(self, f"_{fault}")(good)

    def _say(self, content: str | None, *, finish: str = "stop") -> None:
        self._send(200, self._completion(content, finish=finish))

    def _completion(self, content: str | None, *, finish: str = "stop") -> bytes:
        choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}
        body: dict[str, Any] = {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]}
        if self.server.usage is not None:
            body["usage"] = self.server.usage
        return json.dumps(body).encode()

    def _send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _cut_by_length(self, good: dict[str, Any]) -> None:
        self._say(json.dumps(good), finish="length")

    def _filtered(self, good: dict[str, Any]) -> None:
        self._say("", finish="content_filter")

    def _error_body(self, good: dict[str, Any]) -> None:
        self._send(200, json.dumps({"error": {"message": "overloaded", "code": "1302"}}).encode())

    def _html(self, good: dict[str, Any]) -> None:
        self._send(200, b"<html><body>gateway</body></html>")

    def _not_json_body(self, good: dict[str, Any]) -> None:
        self._send(200, b'{"choices": [')

    def _no_choices(self, good: dict[str, Any]) -> None:
        self._send(200, b'{"choices": []}')

    def _null_content(self, good: dict[str, Any]) -> None:
        self._say(None)

    def _refused(self, good: dict[str, Any]) -> None:
        self._send(400, b'{"error": {"message": "these words are not for me"}}')

    def _http_429(self, good: dict[str, Any]) -> None:
        self._send(429, b"{}")

    def _wait_an_hour(self, good: dict[str, Any]) -> None:
        self._send(429, b"{}", retry_after="3600")

    def _http_500(self, good: dict[str, Any]) -> None:
        self._send(500, b"oops")

    def _http_503(self, good: dict[str, Any]) -> None:
        self._send(503, b"{}")

    def _http_401(self, good: dict[str, Any]) -> None:
        self._send(401, b'{"error": "no such key"}')

    def _silent(self, good: dict[str, Any]) -> None:
        time.sleep(60 * self.server.pace)
        self.close_connection = True

    def _reset(self, good: dict[str, Any]) -> None:
        """The connection is there and nobody behind it: as with a balancer whose model is gone."""
        self._send(502, b"")

    def _hang_up(self, good: dict[str, Any]) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _half_body(self, good: dict[str, Any]) -> None:
        content = self._completion(json.dumps(good))
        self.send_response(200)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self._hang_up(good)

    def _bad_gzip(self, good: dict[str, Any]) -> None:
        self._send(200, b"\x1f\x8bnot gzip at all", content_encoding="gzip")

    def _drip(self, good: dict[str, Any]) -> None:
        self._drop_by_drop(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n", 0, 5000)

    def _header_drip(self, good: dict[str, Any]) -> None:
        self._drop_by_drop(b"HTTP/1.1 200 OK\r\nx: ", 0, 5000)

    def _drop_by_drop(self, start: bytes, sent: int, most: int) -> None:
        self.close_connection = True
        self.wfile.write(start)
        while sent < most:
            self.wfile.write(b"{")
            self.wfile.flush()
            sent += 1
            time.sleep(self.server.pace)

    def log_message(self, format: str, *args: Any) -> None:
        pass
