"""One call to a chat model over HTTP, and what may go wrong with it.

Two kinds of trouble are told apart. An `Outage`: the model was not to be had (refused, throttled, down, silent), no
words came back, later is as good as now. An AnswerRefused: something came that is no answer (cut off, an error in
place of it, too slow to end); it is kept and the window fails visibly. A call takes no longer than its deadline even
where the other side sends a byte at a time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx

from ..errors import AnswerRefused
from ..timelimit import TimeLimitExceeded, time_limit
from .provider import Provider

Message = Mapping[str, str]
_LARGEST: Final = 1_048_576
"""Bytes of a reply; no answer that is asked for comes near it."""
_CONNECT_SECONDS: Final = 5.0
_GRACE_SECONDS: Final = 0.5
_REFUSES_THESE_WORDS: Final = frozenset({400, 413, 414, 422})
_FREE: Final = frozenset({401, 402, 403, 404, 405, 408, 409, 425, 429})
_CUT_OFF: Final = frozenset({"length", "max_tokens"})


class Outage(Exception):
    """`code` says how. `billed`: the provider may charge for it. `again`: trying at once may help. No words in it."""

    def __init__(self, code: str, *, billed: bool = False, again: bool = True, retry_after: float = 0.0) -> None:
        super().__init__(code)
        self.code = code
        self.billed = billed
        self.again = again
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """`text` is what the model wrote, `raw` the whole body. `tokens` are (in, out), None where none are given."""

    text: str
    raw: bytes
    tokens: tuple[int, int] | None


class Chat:
    """Not safe to share between threads: one call at a time."""

    def __init__(self, provider: Provider) -> None:
        self.provider: Final = provider
        self._http = self._client()

    def _client(self) -> httpx.Client:
        p = self.provider
        headers = {"Content-Type": "application/json"}
        if p.api_key is not None:
            headers["Authorization"] = f"Bearer {p.api_key}"
        return httpx.Client(base_url=p.base_url.rstrip("/") + "/", headers=headers, follow_redirects=False)

    def close(self) -> None:
        self._http.close()

    def request(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> bytes:
        """The body of a call."""
        p = self.provider
        shape: dict[str, Any] = {"type": p.mode}
        if p.mode == "json_schema":
            shape["json_schema"] = {"name": "reading", "strict": True, "schema": schema}
        asked: dict[str, Any] = {
            "model": p.model, "messages": list(messages), "response_format": shape, p.tokens_field: p.most_out,
            "stream": False, **p.extra,
        }
        if p.temperature is not None:
            asked.setdefault("temperature", p.temperature)
        return json.dumps(asked, ensure_ascii=False).encode()

    def ask(self, request: bytes, *, seconds: float) -> Reply:
        """Raises Outage, AnswerRefused, whose `usage` holds `tokens_in` and `tokens_out` where they are known."""
        began = time.monotonic()
        received = bytearray()
        try:
            with time_limit(seconds + _GRACE_SECONDS):
                status, headers = self._post(request, received, began + seconds, seconds)
        except TimeLimitExceeded:
            self._start_over()
            raise _too_slow(received) from None
        except httpx.TimeoutException as e:
            self._start_over()
            if received:
                raise _too_slow(received) from None
            raise Outage("outage.timeout", billed=not isinstance(e, httpx.ConnectTimeout)) from None
        except httpx.ConnectError:
            raise Outage("outage.unreachable") from None
        except httpx.HTTPError:
            self._start_over()
            raise AnswerRefused("model.disconnected", answer=bytes(received)) from None
        raw = bytes(received)
        if status != 200:
            raise _refusal(status, headers, raw)
        return _reply(raw)

    def _post(
        self, request: bytes, received: bytearray, deadline: float, seconds: float
    ) -> tuple[int, httpx.Headers]:
        """Status and headers; the body goes to `received`, as far as it came, whatever happens."""
        timeout = httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        with self._http.stream("POST", "chat/completions", content=request, timeout=timeout) as reply:
            for part in reply.iter_bytes():
                received += part
                if len(received) > _LARGEST:
                    raise AnswerRefused("model.too_long", answer=bytes(received[:_LARGEST]))
                if time.monotonic() > deadline:
                    raise _too_slow(received)
            return reply.status_code, reply.headers

    def _start_over(self) -> None:
        """A connection on which a call broke off is not used again."""
        self._http.close()
        self._http = self._client()


def _too_slow(received: bytearray) -> AnswerRefused:
    return AnswerRefused("model.too_slow", answer=bytes(received))


def _refusal(status: int, headers: httpx.Headers, raw: bytes) -> Exception:
    """What a reply other than 200 means: these words are refused, or nobody's words are taken now."""
    if status in _REFUSES_THESE_WORDS:
        return AnswerRefused("model.refused", answer=raw)
    if status >= 500 or status in (408, 425, 429):
        return Outage(f"outage.http_{status}", billed=False, retry_after=_seconds(headers.get("retry-after", "")))
    return Outage(f"outage.http_{status}", billed=status not in _FREE, again=False)


def _seconds(text: str) -> float:
    """`Retry-After` as a number of seconds; 0 for a date or anything else."""
    return float(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0.0


def _reply(raw: bytes) -> Reply:
    """Raises AnswerRefused where the body is not one finished answer."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise AnswerRefused("model.not_json" if raw.strip() else "model.empty", answer=raw) from None
    tokens = _usage(body)
    usage = None if tokens is None else {"tokens_in": tokens[0], "tokens_out": tokens[1]}
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise AnswerRefused("model.error_body", answer=raw, usage=usage)
    first = choices[0]
    message = first.get("message")
    text = message.get("content") if isinstance(message, dict) else None
    if first.get("finish_reason") in _CUT_OFF:
        raise AnswerRefused("model.truncated", answer=raw, usage=usage)
    if first.get("finish_reason") == "content_filter" or (isinstance(message, dict) and message.get("refusal")):
        raise AnswerRefused("model.filtered", answer=raw, usage=usage)
    if not isinstance(text, str) or not text.strip():
        raise AnswerRefused("model.empty", answer=raw, usage=usage)
    return Reply(text=text, raw=raw, tokens=tokens)


def _usage(body: Any) -> tuple[int, int] | None:
    usage = body.get("usage") if isinstance(body, dict) else None
    if not isinstance(usage, dict):
        return None
    sent, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(sent) is not int or type(written) is not int or not (0 <= sent < 10**9 and 0 <= written < 10**9):
        return None
    return sent, written
