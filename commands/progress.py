"""Answers in lines: what takes long tells how far it is, one JSON object a line, and ends with its result or problem.

For callers that send `Accept: application/x-ndjson`. Lines before the last are `{"done": n, "of": m}`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from taishi.ingest.errors import TaishiError
from taishi.ingest.problems import problem_of

LINES: Final = "application/x-ndjson"


def wanted_in_lines(request: Request) -> bool:
    return LINES in request.headers.get("accept", "")


def in_lines(work: Callable[[Callable[[int, int], None]], Awaitable[dict[str, Any]]]) -> Response:
    """`work` is given a function that it tells its progress to; it goes on when the caller goes away."""
    return StreamingResponse(_lines(work), media_type=LINES)


async def _lines(work: Callable[[Callable[[int, int], None]], Awaitable[dict[str, Any]]]) -> AsyncIterator[bytes]:
    told: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    async def run() -> None:
        try:
            told.put_nowait(await work(lambda done, of: told.put_nowait({"done": done, "of": of})))
        except TaishiError as error:
            told.put_nowait(orjson.loads(bytes(problem_of(error).body)))
        finally:
            told.put_nowait(None)

    task = asyncio.create_task(run())
    while (line := await told.get()) is not None:
        yield orjson.dumps(line) + b"\n"
    await task
