"""A client of the two HTTP APIs, as the command line and the story use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import httpx
import orjson

from .settings import Settings

_TIMEOUT: Final = httpx.Timeout(60.0, connect=5.0)
_NOT_UTF8: Final = {"title": "Not UTF-8", "detail": "what was given is not UTF-8 text: write it in UTF-8"}


class CallFailed(Exception):
    """A call that was refused or did not reach its server. `problem` is the RFC 9457 document; status 0: no reply."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(str(problem.get("detail") or problem.get("title") or "the call failed"))
        self.problem = dict(problem)

    @property
    def status(self) -> int:
        return int(self.problem.get("status", 0))

    def __str__(self) -> str:
        text = self.args[0]
        field = self.problem.get("field")
        return f"{field}: {text}" if field and not text.startswith(f"{field}:") else str(text)


class Side:
    """One API. Every method returns the decoded JSON reply, or raises CallFailed."""

    def __init__(self, base: str, *, name: str, api_key: str | None) -> None:
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        transport = httpx.HTTPTransport(retries=0)
        self._http = httpx.Client(base_url=base, headers=headers, timeout=_TIMEOUT, transport=transport)
        self._base = base
        self._name = name

    def call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, query: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """None values of `body` and `query` are left out."""
        params = {k: v for k, v in (query or {}).items() if v is not None}
        content = None if body is None else _encoded(body)
        headers = {} if content is None else {"content-type": "application/json"}
        try:
            reply = self._http.request(method, path, content=content, params=params, headers=headers)
        except UnicodeEncodeError:
            raise CallFailed(_NOT_UTF8) from None
        except (httpx.HTTPError, httpx.InvalidURL) as e:
            raise CallFailed(self._unreachable(e)) from None
        return _decoded(reply)

    def lines(self, method: str, path: str, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """A reply that comes in lines while the work goes on; the last one is the result."""
        headers = {"content-type": "application/json", "accept": "application/x-ndjson"}
        content = _encoded(body)
        try:
            with self._http.stream(method, path, content=content, headers=headers) as reply:
                if reply.headers.get("content-type") != "application/x-ndjson":
                    reply.read()
                    yield _decoded(reply)
                    return
                for line in reply.iter_lines():
                    told = orjson.loads(line)
                    if str(told.get("type", "")).startswith("urn:taishi:problem:"):
                        raise CallFailed(told)
                    yield told
        except (httpx.HTTPError, httpx.InvalidURL) as e:
            raise CallFailed(self._unreachable(e)) from None

    def _unreachable(self, error: Exception) -> dict[str, str]:
        return {
            "title": "unreachable",
            "detail": f"the {self._name} side at {self._base} does not answer ({type(error).__name__}): "
            "is `taishi up` running?",
        }

    def close(self) -> None:
        self._http.close()


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps({k: v for k, v in body.items() if v is not None})
    except orjson.JSONEncodeError:  # the shell's bytes are words in another encoding
        raise CallFailed(_NOT_UTF8) from None


def _decoded(reply: httpx.Response) -> dict[str, Any]:
    try:
        content = orjson.loads(reply.content)
    except orjson.JSONDecodeError:
        content = None
    if reply.is_success and isinstance(content, dict):
        return content
    if not isinstance(content, dict):
        content = {"title": reply.reason_phrase, "detail": f"unexpected reply {reply.status_code} from {reply.url}"}
    raise CallFailed({"status": reply.status_code, **content})


class Client:
    """Both sides: `write` and `read`."""

    def __init__(self, settings: Settings) -> None:
        key = settings.api_key.get_secret_value() if settings.api_key else None
        self.write: Final = Side(settings.write_base, name="write", api_key=key)
        self.read: Final = Side(settings.read_base, name="read", api_key=key)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.write.close()
        self.read.close()
