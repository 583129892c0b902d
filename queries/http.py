"""The read side over HTTP: routes, their parameters, and who may ask.

Handlers parse in the event loop and work in a few threads of their own, each with its own connections: SQLite, numpy
and the embedder let go of the interpreter's lock while they work, and the loop stays free to answer health checks.
More threads than cores would only take that lock from each other; more load is served by more processes.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final, Literal, TypeVar

from fastapi import FastAPI
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from taishi.ingest.access import ApiKey, Guard
from taishi.ingest.envelope import Position
from taishi.ingest.errors import InvalidInput, NotCaughtUp, TaishiError, Unavailable
from taishi.ingest.log import EventLog
from taishi.ingest.openapi import Operation
from taishi.ingest.web import Contract, build_app, check_namespace, json_reply, parse_body, query_parameters
from taishi.projections.analysis import Analyzer

from .audit import AuditRequest, audit
from .exposures import Exposures
from .meaning import Meaning
from .memories import Found, ListRequest, explanation, life, list_memories, memory
from .ranking import Wanted
from .reading import ReadModel, ReadModels
from .recall import DEFAULT_BUDGET, DEFAULT_LIMIT, Recall, RecallRequest
from .status import VectorsAt, namespace_status, whole_status
from .timeline import timeline
from .times import instant, zone_of
from .validity import STATUSES, Point

THREADS: Final = 2
"""Requests that work at once."""
CATCH_UP_SECONDS: Final = 5.0
"""How long a request waits for `min_position`."""
CATCH_UP_STEP: Final = 0.004
MAX_LIMIT: Final = 200
MAX_QUERY: Final = 20_000
MAX_BUDGET: Final = 1_000_000

_LOG: Final = logging.getLogger(__name__)
R = TypeVar("R")


class Asker(Contract):
    """The one who asks."""

    id: str | None = None
    name: str | None = None
    role: Literal["user", "assistant", "tool", "system"] | None = None


class RecallBody(Contract):
    """Times are ISO 8601 (naive ones in the namespace's zone), positions tokens such as `p0:17`."""

    namespace: str
    query: str = Field(min_length=1, max_length=MAX_QUERY)
    valid_at: str | None = None
    known_at: str | None = None
    as_of_position: str | None = None
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    token_budget: int = Field(default=DEFAULT_BUDGET, ge=1, le=MAX_BUDGET)
    session: str | None = None
    actor: Asker | str | None = None
    kinds: list[Literal["claim", "event"]] | None = Field(default=None, min_length=1)
    filters: dict[str, str | int | float | bool | None] | None = None
    min_position: str | None = None
    explain: bool = False


class Context(Contract):
    text: str
    tokens: int
    truncated: bool


class AsOf(Contract):
    position: str
    valid_at: str
    known_at: str


class RecallReply(Contract):
    answerability: Literal["supported", "low_confidence", "no_evidence"]
    items: list[dict[str, Any]]
    context: Context
    as_of: AsOf
    degraded: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSide:
    """What the read API stands on. `analyzer` gives the text analysis of the indexes (the first call may load it)."""

    models: ReadModels
    log: EventLog
    analyzer: Callable[[], Analyzer]
    meaning: Meaning | None
    vectors: VectorsAt
    exposures: Exposures | None
    now: Callable[[], int]


class _Routes:
    def __init__(self, side: ReadSide, guard: Guard, pool: ThreadPoolExecutor) -> None:
        self._side = side
        self._guard = guard
        self._pool = pool
        self.warm: dict[str, bool] = {"analysis": False, "vectors": side.meaning is None}
        self._recall = Recall(
            side.models,
            analyzer=side.analyzer,
            now=side.now,
            dense=side.meaning,
            exposures=side.exposures,
        )

    async def _work(self, job: Callable[[], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._pool, job)

    def _asked(
        self, request: Request, known: Mapping[str, str], *, required: Sequence[str] = ("namespace",)
    ) -> dict[str, str]:
        """Query parameters of a caller who may ask in the namespace they name."""
        key = self._guard.identify(request)
        given = query_parameters(request, known=list(known), required=required)
        if "namespace" in given:
            check_namespace(given["namespace"])
        key.require("query", given.get("namespace"))
        return given

    # recall

    async def recall(self, request: Request) -> Response:
        key = self._guard.identify(request)
        body = await parse_body(request, RecallBody)
        check_namespace(body.namespace)
        key.require("query", body.namespace)
        if not body.query.strip():
            raise InvalidInput("a query is not blank", field="query")
        as_of = self._position(body.as_of_position, body.namespace, field="as_of_position")
        await self._caught_up(body.min_position, body.namespace)
        return json_reply(await self._work(lambda: self._recall.answer(self._request(body, as_of))))

    def _request(self, body: RecallBody, as_of: Position | None) -> RecallRequest:
        valid_at = known_at = None
        if body.valid_at is not None or body.known_at is not None:
            zone = zone_of(self._side.models.of(body.namespace).namespace(body.namespace))
            valid_at = instant(body.valid_at, zone=zone, field="valid_at")
            known_at = instant(body.known_at, zone=zone, field="known_at")
        asker = body.actor if not isinstance(body.actor, Asker) else body.actor.name or body.actor.id
        return RecallRequest(
            namespace=body.namespace,
            query=body.query,
            valid_at=valid_at,
            known_at=known_at,
            position=None if as_of is None else as_of.seq,
            limit=body.limit,
            token_budget=body.token_budget,
            session=body.session,
            asker=asker,
            wanted=Wanted(kinds=frozenset(body.kinds or ("claim", "event")), metadata=body.filters or None),
            explain=body.explain,
        )

    def _position(self, token: str | None, namespace: str, *, field: str) -> Position | None:
        """Raises InvalidInput where it is no token, or one of another partition."""
        if token is None:
            return None
        try:
            position = Position.parse(token)
        except ValueError as e:
            raise InvalidInput(str(e), field=field) from None
        partition = self._side.models.partition_of(namespace)
        if position.partition != partition:
            raise InvalidInput(f"the namespace lives in partition p{partition}", field=field)
        return position

    async def _caught_up(self, token: str | None, namespace: str) -> None:
        """Waits until the read model has folded that position. Raises NotCaughtUp."""
        position = self._position(token, namespace, field="min_position")
        if position is None:
            return
        until = time.monotonic() + CATCH_UP_SECONDS
        while await self._work(lambda: self._read_to(position.partition)) < position.seq:
            if time.monotonic() > until:
                raise NotCaughtUp(
                    f"the read models have not reached {token}: try again", retry_after=1, position=token
                )
            await asyncio.sleep(CATCH_UP_STEP)

    def _read_to(self, partition: int) -> int:
        try:
            return self._side.models.at(partition).checkpoint()
        except Unavailable:
            return -1

    # memories

    async def list(self, request: Request) -> Response:
        given = self._asked(request, _LIST)
        listed = await self._work(lambda: self._list(given))
        return json_reply(listed)

    def _list(self, given: Mapping[str, str]) -> dict[str, Any]:
        model = self._side.models.of(given["namespace"])
        statuses = None
        if "status" in given:
            statuses = frozenset(part.strip() for part in given["status"].split(",") if part.strip())
            if unknown := sorted(statuses - set(STATUSES)):
                raise InvalidInput(f"no status is {unknown[0][:40]!r}: {', '.join(STATUSES)}", field="status")
            if not statuses:
                raise InvalidInput(f"name a status: {', '.join(STATUSES)}", field="status")
        with model.view():
            namespace = model.namespace(given["namespace"])
            zone = zone_of(namespace)
            return list_memories(
                model,
                namespace,
                ListRequest(
                    namespace=given["namespace"],
                    subject=given.get("subject"),
                    predicate=given.get("predicate"),
                    statuses=statuses,
                    valid_at=instant(given.get("valid_at"), zone=zone, field="valid_at"),
                    known_at=instant(given.get("known_at"), zone=zone, field="known_at"),
                    limit=_limit(given, 50),
                    cursor=given.get("cursor"),
                ),
                self._side.now(),
            )

    async def memory(self, request: Request) -> Response:
        return json_reply(await self._one(request, lambda model, found, point: memory(model, found)))

    async def history(self, request: Request) -> Response:
        return json_reply(await self._one(request, life))

    async def explain(self, request: Request) -> Response:
        namespace = request.query_params.get("namespace", "")
        log = self._side.log
        return json_reply(
            await self._one(request, lambda model, found, point: explanation(model, found, point, log, namespace))
        )

    async def _one(
        self, request: Request, answer: Callable[[ReadModel, Found, Point], dict[str, Any]]
    ) -> dict[str, Any]:
        given = self._asked(request, _ONE)
        memory_id = request.path_params["memory_id"]

        def job() -> dict[str, Any]:
            model = self._side.models.of(given["namespace"])
            now = self._side.now()
            with model.view():
                namespace = model.namespace(given["namespace"])
                zone = zone_of(namespace)
                valid_at = instant(given.get("valid_at"), zone=zone, field="valid_at")
                known_at = instant(given.get("known_at"), zone=zone, field="known_at")
                point = Point(
                    valid_at=now if valid_at is None else valid_at,
                    known_at=now if known_at is None else known_at,
                    past_knowledge=known_at is not None and known_at < now,
                )
                return answer(model, Found(model, namespace, memory_id, point), point)

        return await self._work(job)

    async def timeline(self, request: Request) -> Response:
        given = self._asked(request, _TIMELINE)

        def job() -> dict[str, Any]:
            model = self._side.models.of(given["namespace"])
            with model.view():
                return timeline(
                    model,
                    model.namespace(given["namespace"]),
                    subject=given.get("subject"),
                    predicate=given.get("predicate"),
                    now=self._side.now(),
                )

        return json_reply(await self._work(job))

    async def audit(self, request: Request) -> Response:
        given = self._asked(request, _AUDIT)

        def job() -> dict[str, Any]:
            model = self._side.models.of(given["namespace"])
            namespace = model.namespace(given["namespace"])
            zone = zone_of(namespace)
            since = instant(given.get("from"), zone=zone, field="from")
            until = instant(given.get("to"), zone=zone, field="to")
            if since is not None and until is not None and since >= until:
                raise InvalidInput("`from` lies before `to`", field="from")
            asked = AuditRequest(
                namespace=given["namespace"],
                type=given.get("type"),
                actor=given.get("actor"),
                since=since,
                until=until,
                limit=_limit(given, 100),
                cursor=given.get("cursor"),
            )
            return audit(self._side.log, namespace, asked)

        return json_reply(await self._work(job))

    # health

    async def status(self, request: Request) -> Response:
        given = self._asked(request, _STATUS, required=())
        side = self._side

        def job() -> dict[str, Any]:
            if "namespace" in given:
                return namespace_status(side.models, side.log, side.vectors, given["namespace"])
            return whole_status(side.models, side.log, side.vectors)

        return json_reply(await self._work(job))

    async def healthz(self, _: Request) -> Response:
        return json_reply({"status": "ok"})

    async def readyz(self, _: Request) -> Response:
        missing = {part: "warming" for part, is_warm in self.warm.items() if not is_warm}
        missing |= await self._work(self._unread)
        return json_reply({"ready": not missing, "missing": missing}, 503 if missing else 200)

    def _unread(self) -> dict[str, str]:
        try:
            for partition in range(self._side.models.partitions):
                self._side.models.at(partition).checkpoint()
        except Unavailable as e:
            return {"read_models": e.message}
        return {}

    def warm_up(self) -> None:
        """Loads what is heavy, in a thread of its own."""
        self._side.analyzer().query("太史 writes")
        self.warm["analysis"] = True
        if self._side.meaning is not None:
            try:
                self._side.meaning.warm()
            except TaishiError as e:
                _LOG.error("the embedder cannot be loaded: %s", e.slug)
                return
            self.warm["vectors"] = True

    def operations(self) -> Sequence[Operation]:
        one = "/v1/memories/{memory_id}"
        return [
            Operation(method="POST", path="/v1/recall", handler=self.recall, body=RecallBody, reply=RecallReply,
                      summary="Answer a question from memory, with evidence, at a point of two times"),
            Operation(method="GET", path="/v1/memories", handler=self.list, query=_LIST,
                      summary="List claims, newest first"),
            Operation(method="GET", path=one, handler=self.memory, query=_ONE,
                      summary="One claim or raw event; a merged id leads to the surviving claim"),
            Operation(method="GET", path=one + "/history", handler=self.history, query=_ONE,
                      summary="A memory's whole life"),
            Operation(method="GET", path=one + "/explain", handler=self.explain, query=_ONE,
                      summary="From the words over window, extractor and rule to the chain"),
            Operation(method="GET", path="/v1/timeline", handler=self.timeline, query=_TIMELINE,
                      summary="What was true when, and when it was known"),
            Operation(method="GET", path="/v1/audit/events", handler=self.audit, query=_AUDIT,
                      summary="The event history of a namespace"),
            Operation(method="GET", path="/v1/status", handler=self.status, query=_STATUS,
                      summary="How far the read models have read, and what waits"),
            Operation(method="GET", path="/healthz", handler=self.healthz, summary="Whether the process runs"),
            Operation(method="GET", path="/readyz", handler=self.readyz, summary="Whether all is warm and read"),
        ]  # fmt: skip


def _limit(given: Mapping[str, str], default: int) -> int:
    text = given.get("limit", str(default))
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= MAX_LIMIT):
        raise InvalidInput(f"a limit is a whole number from 1 to {MAX_LIMIT}", field="limit")
    return int(text)


_POINT: Final = {
    "valid_at": "when it is true (ISO 8601; default now)",
    "known_at": "as it was known then (ISO 8601; default now)",
}
_PAGED: Final = {"limit": f"1 to {MAX_LIMIT}", "cursor": "where the last page ended"}
_NAMESPACE: Final = {"namespace": "whose memory it is"}
_LIST: Final = {
    **_NAMESPACE,
    "subject": "about whom or what",
    "predicate": "a predicate's name",
    "status": f"any of {', '.join(STATUSES)}, parted by commas (default: current,contested)",
    **_POINT,
    **_PAGED,
}
_ONE: Final = {**_NAMESPACE, **_POINT}
_TIMELINE: Final = {**_NAMESPACE, "subject": "about whom or what", "predicate": "a predicate's name"}
_AUDIT: Final = {
    **_NAMESPACE,
    "type": "an event type",
    "actor": "an actor's id",
    "from": "recorded at or after (ISO 8601)",
    "to": "recorded before (ISO 8601)",
    **_PAGED,
}
_STATUS: Final = {"namespace": "one namespace; without it, all partitions together"}


def now() -> int:
    return time.time_ns() // 1_000


def create_app(
    *,
    models: ReadModels,
    log: EventLog,
    analyzer: Callable[[], Analyzer],
    meaning: Meaning | None = None,
    vectors: VectorsAt,
    api_keys: Sequence[ApiKey] = (),
    record_exposures: bool = True,
    clock: Callable[[], int] = now,
) -> FastAPI:
    """The read API. What is heavy warms up in the background from the application's start; `log` stays the caller's."""
    pool = ThreadPoolExecutor(THREADS, "query")
    exposures = Exposures(log) if record_exposures else None
    side = ReadSide(
        models=models, log=log, analyzer=analyzer, meaning=meaning, vectors=vectors, exposures=exposures,
        now=clock,
    )  # fmt: skip
    routes = _Routes(side, Guard(api_keys), pool)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        threading.Thread(target=routes.warm_up, name="warm-up", daemon=True).start()
        if exposures is not None:
            exposures.start()
        yield
        if exposures is not None:
            await asyncio.get_running_loop().run_in_executor(None, exposures.stop)
        pool.shutdown(wait=False, cancel_futures=True)

    return build_app(
        title="Taishi: read side", version=version("taishi"), operations=routes.operations(), lifespan=lifespan
    )
