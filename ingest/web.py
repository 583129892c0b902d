"""What both HTTP APIs share: the application, bodies parsed once and strictly, problems for every failure, OpenAPI.

An API is a list of `Operation`s. `build_app` mounts their handlers as plain routes (the framework's own argument
binding would cost more than the work itself) and writes the OpenAPI document from the same list.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, TypeVar

import orjson
from fastapi import FastAPI
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import InvalidInput, MalformedBody, TaishiError, TooLarge, TooSlow, UnsupportedContent
from .openapi import Handler, Operation, document_of, plain_path
from .problems import internal_problem, invalid, problem_of, status_problem

MAX_BODY: Final = 1 << 20
BODY_SECONDS: Final = 60.0
"""How long a client may take to send a body: one that never ends would hold its connection for good."""
_log: Final = logging.getLogger("taishi.web")
_STRINGS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"(?:[ \t\r\n]*(:))?', re.DOTALL)

M = TypeVar("M", bound=BaseModel)


class Contract(BaseModel):
    """Base of every request model: unknown fields are refused, nothing is coerced, no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def json_reply(content: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json")


def query_parameters(request: Request, *, known: Sequence[str], required: Sequence[str] = ()) -> dict[str, str]:
    """The query string as a dict. Raises InvalidInput for an unknown, repeated, missing or undecodable parameter."""
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in known:
            those = f"known ones are {', '.join(known)}" if known else "all is said in the body"
            raise InvalidInput(f"there is no such parameter: {those}", field=name[:100])
        if name in given:
            raise InvalidInput("the parameter is given twice: give it once", field=name)
        if "\ufffd" in value:
            raise InvalidInput("the parameter is not percent-encoded UTF-8", field=name)
        given[name] = value
    for name in required:
        if name not in given:
            raise InvalidInput("this parameter is missing: give it", field=name)
    return given


def path_parameter(request: Request, name: str) -> str:
    """Raises InvalidInput where it was not UTF-8: what the server could not decode would all be one name."""
    value: str = request.path_params[name]
    if "\ufffd" in value:
        raise InvalidInput("this part of the path is not percent-encoded UTF-8", field=name)
    return value


async def read_body(request: Request, *, limit: int = MAX_BODY) -> bytes:
    """The raw body, at most `limit` bytes; a request with a body has no parameters beside it. Raises InvalidInput,
    TooLarge, TooSlow, UnsupportedContent, ClientDisconnect."""
    if request.scope["query_string"]:
        query_parameters(request, known=())
    headers = request.headers
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and kind != "application/json" and not kind.endswith("+json"):
        raise UnsupportedContent("send JSON, with the header `content-type: application/json`")
    if not kind and "origin" in headers:  # a browser page that avoids the preflight request
        raise UnsupportedContent("say `content-type: application/json`")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedContent("send the body without a content-encoding")
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > limit:
        raise TooLarge(f"a request body holds at most {limit} bytes: split it", limit=limit)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _received(request, limit)
    except TimeoutError:
        raise TooSlow(f"a request body arrives within {BODY_SECONDS:g} seconds: send it again") from None


async def _received(request: Request, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise TooLarge(f"a request body holds at most {limit} bytes: split it", limit=limit)
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def _keys_of(value: Any) -> int:
    if isinstance(value, BaseModel):
        return len(value.model_fields_set) + sum(_keys_of(getattr(value, name)) for name in value.model_fields_set)
    if isinstance(value, dict):
        return len(value) + sum(_keys_of(one) for one in value.values())
    return sum(_keys_of(one) for one in value) if isinstance(value, (list, tuple)) else 0


def parse_json(raw: bytes, model: type[M]) -> M:
    """Validates raw JSON in one pass. Raises MalformedBody, InvalidInput.

    JSON readers keep the last of two equal keys without a word, so that what was checked by one reader may not be what
    another one stores: the keys that stand in the text are counted against those that came out.
    """
    try:
        parsed = model.model_validate_json(raw)
    except ValidationError as error:
        raise invalid(error) from None
    except (ValueError, RecursionError):
        raise MalformedBody("the body cannot be read as JSON: send one JSON object, in UTF-8") from None
    if _STRINGS.findall(raw).count(b":") != _keys_of(parsed):
        raise MalformedBody("a key occurs twice in one JSON object: give each key once")
    return parsed


async def parse_body(request: Request, model: type[M]) -> M:
    return parse_json(await read_body(request), model)


class _Boundary:
    """The outermost layer: every failure becomes a problem document, every request is counted.

    What is logged of an unexpected failure is its type and where it happened, never its message, which may hold words
    of a body.
    """

    def __init__(self, app: ASGIApp, *, metrics: CollectorRegistry, worker: str) -> None:
        self._app = app
        self._seconds = Histogram(
            "taishi_http_request_seconds",
            "Time to the reply",
            ("worker", "route"),
            registry=metrics,
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )
        self._requests = Counter("taishi_http_requests", "Replies", ("worker", "route", "status"), registry=metrics)
        self._worker = worker
        self._seen: dict[tuple[str, int], Callable[[], None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            status = status or 499
        except Exception as error:
            if status:
                raise
            _log.error("unexpected %s at %s", type(error).__name__, " < ".join(_frames(error)))
            await internal_problem()(scope, receive, watched)
        route = scope.get("taishi.route", "unknown")
        self._count(route, status)
        self._seconds.labels(self._worker, route).observe(time.perf_counter() - began)

    def _count(self, route: str, status: int) -> None:
        count = self._seen.get((route, status))
        if count is None:
            count = self._seen[route, status] = self._requests.labels(self._worker, route, str(status)).inc
        count()


def _frames(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return [f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in reversed(frames)]


async def _on_taishi_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, TaishiError)
    if error.status == 500:
        _log.error("%s: %s", error.slug, error.message)
    return problem_of(error)


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    details = {
        404: "there is no such route: GET /openapi.json lists the known ones",
        405: f"{request.method} is not served here: see the Allow header",
    }
    detail = details.get(error.status_code, str(error.detail))
    return status_problem(error.status_code, detail=detail, headers=error.headers)


def _named(operation: Operation) -> Handler:
    route, handler = f"{operation.method} {plain_path(operation.path)}", operation.handler

    async def endpoint(request: Request) -> Response:
        request.scope["taishi.route"] = route
        return await handler(request)

    return endpoint


def build_app(
    *,
    title: str,
    version: str,
    operations: Sequence[Operation],
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None,
    metrics: CollectorRegistry | None = None,
    worker: str = "1",
) -> FastAPI:
    """`metrics` is served at /metrics together with the counts of requests, which name the `worker`: where several
    processes share a socket, each look finds one of them, and rates are sums over their series."""
    metrics = metrics or CollectorRegistry()
    app = FastAPI(
        title=title, version=version, docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan,
        redirect_slashes=False,
    )  # fmt: skip
    app.add_middleware(_Boundary, metrics=metrics, worker=worker)
    app.add_exception_handler(TaishiError, _on_taishi_error)
    app.add_exception_handler(HTTPException, _on_http_exception)
    document = orjson.dumps(document_of(title=title, version=version, operations=operations))

    async def describe(_: Request) -> Response:
        return Response(document, media_type="application/json")

    async def measure(_: Request) -> Response:
        return PlainTextResponse(generate_latest(metrics))

    for operation in operations:
        app.add_route(operation.path, _named(operation), methods=[operation.method])
    app.add_route("/openapi.json", describe, methods=["GET"])
    app.add_route("/metrics", measure, methods=["GET"])
    return app
