"""Routes of the read side: what each takes, what it waits for, and what it answers with."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from taishi.ingest.access import OPEN, ApiKey, Guard
from taishi.ingest.envelope import ORIGINS, Position
from taishi.ingest.errors import InvalidInput, NotCaughtUp, NotFound
from taishi.ingest.log import EventLog
from taishi.ingest.names import check_namespace
from taishi.ingest.openapi import Operation
from taishi.ingest.web import json_reply, parse_body, path_parameter, query_parameters
from taishi.projections.analysis import Analyzer

from .audit import AuditRequest, audit
from .contract import (
    AUDIT,
    ENTITIES,
    EXPOSURE,
    LIST,
    ONE,
    STATUS,
    TIMELINE,
    RecallBody,
    RecallReply,
    limit_of,
    request_of,
    statuses_of,
)
from .entities import entities
from .explanation import explanation
from .exposures import Exposures
from .listing import ListRequest, list_memories
from .meaning import Meaning
from .memories import Found, life, memory
from .point import Point
from .positions import position_of, reached, read_to
from .readiness import Readiness
from .reading import ReadModel, ReadModels
from .recall import Recall
from .reckoning import told
from .request import RecallRequest
from .reranking import Reranking
from .rows import NamespaceRow
from .status import VectorsAt, namespace_status, whole_status
from .timeline import timeline
from .times import instant, zone_of
from .vector_lag import VectorLag

CATCH_UP_SECONDS: Final = 5.0
"""How long a request waits for `min_position`, and for `as_of_position` where that was not read yet."""
CATCH_UP_STEP: Final = 0.004

R = TypeVar("R")


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
    reranking: Reranking | None = None
    ablated: Collection[str] = ()


class Routes:
    def __init__(self, side: ReadSide, guard: Guard, pool: ThreadPoolExecutor) -> None:
        self._side = side
        self._guard = guard
        self._pool = pool
        self.readiness: Final = Readiness(side.models, side.analyzer, side.meaning)
        self._recall = Recall(
            side.models,
            analyzer=side.analyzer,
            now=side.now,
            dense=side.meaning,
            exposures=side.exposures,
            reranking=side.reranking,
            lag=None if side.meaning is None else VectorLag(side.meaning.checkpoint),
            ablated=side.ablated,
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
        key.require("query", body.namespace)
        if not body.query.strip():
            raise InvalidInput("a query is not blank", field="query")
        as_of = position_of(self._side.models, body.as_of_position, body.namespace, field="as_of_position")
        least = position_of(self._side.models, body.min_position, body.namespace, field="min_position")
        await self._caught_up(as_of, field="as_of_position")
        await self._caught_up(least, field="min_position")
        return json_reply(await self._work(lambda: self._recall.answer(self._request(body, as_of, key))))

    def _request(self, body: RecallBody, as_of: Position | None, key: ApiKey) -> RecallRequest:
        valid_at = known_at = None
        if body.valid_at is not None or body.known_at is not None:
            zone = zone_of(self._side.models.of(body.namespace).namespace(body.namespace))
            valid_at = instant(body.valid_at, zone=zone, field="valid_at")
            known_at = instant(body.known_at, zone=zone, field="known_at")
        position = None if as_of is None else as_of.seq
        name = None if key is OPEN else key.name
        return request_of(body, valid_at=valid_at, known_at=known_at, position=position, key=name)

    async def _caught_up(self, position: Position | None, *, field: str) -> None:
        """Waits until the read model has folded that position. Raises NotCaughtUp, InvalidInput where the log ends
        before it."""
        if position is None:
            return
        until, known = time.monotonic() + CATCH_UP_SECONDS, False
        while await self._work(lambda: read_to(self._side.models, position.partition)) < position.seq:
            if not known:
                await self._work(lambda: reached(self._side.log, position, field=field))
                known = True
            if time.monotonic() > until:
                raise NotCaughtUp(
                    f"the read models have not reached {position}: try again", field=field, position=str(position)
                )
            await asyncio.sleep(CATCH_UP_STEP)

    # memories

    async def list(self, request: Request) -> Response:
        given = self._asked(request, LIST)
        listed = await self._work(lambda: self._list(given))
        return json_reply(listed)

    def _list(self, given: Mapping[str, str]) -> dict[str, Any]:
        model = self._side.models.of(given["namespace"])
        statuses = statuses_of(given)
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
                    limit=limit_of(given, 50),
                    cursor=given.get("cursor"),
                ),
                model.now(self._side.now()),
            )

    async def memory(self, request: Request) -> Response:
        return json_reply(await self._one(request, lambda model, found, point: memory(model, found)))

    async def history(self, request: Request) -> Response:
        return json_reply(await self._one(request, life))

    async def explain(self, request: Request) -> Response:
        log = self._side.log
        return json_reply(await self._one(request, lambda model, found, point: explanation(model, found, point, log)))

    async def _one(
        self, request: Request, answer: Callable[[ReadModel, Found, Point], dict[str, Any]]
    ) -> dict[str, Any]:
        given = self._asked(request, ONE)
        memory_id = path_parameter(request, "memory_id")

        def job() -> dict[str, Any]:
            model = self._side.models.of(given["namespace"])
            with model.view():
                now = model.now(self._side.now())
                namespace = model.namespace(given["namespace"])
                point = _point_of(given, namespace, now)
                return answer(model, Found(model, namespace, memory_id, point), point)

        return await self._work(job)

    async def exposure(self, request: Request) -> Response:
        given = self._asked(request, EXPOSURE)
        exposure_id = path_parameter(request, "exposure_id")

        def job() -> dict[str, Any]:
            model = self._side.models.of(given["namespace"])
            with model.view():
                namespace = model.namespace(given["namespace"])
                if namespace is None:
                    raise NotFound("nothing was recalled in this namespace: give another", field="namespace")
                return told(model, namespace.ns, exposure_id, self._side.log)

        return json_reply(await self._work(job))

    async def timeline(self, request: Request) -> Response:
        given = self._asked(request, TIMELINE)

        def job() -> dict[str, Any]:
            model = self._side.models.of(given["namespace"])
            with model.view():
                namespace = model.namespace(given["namespace"])
                return timeline(
                    model,
                    namespace,
                    subject=given.get("subject"),
                    predicate=given.get("predicate"),
                    point=_point_of(given, namespace, model.now(self._side.now())),
                )

        return json_reply(await self._work(job))

    async def entities(self, request: Request) -> Response:
        given = self._asked(request, ENTITIES)

        def job() -> dict[str, Any]:
            model = self._side.models.of(given["namespace"])
            with model.view():
                return entities(model, model.namespace(given["namespace"]), name=given.get("name"))

        return json_reply(await self._work(job))

    async def audit(self, request: Request) -> Response:
        given = self._asked(request, AUDIT)

        def job() -> dict[str, Any]:
            model = self._side.models.of(given["namespace"])
            namespace = model.namespace(given["namespace"])
            zone = zone_of(namespace)
            since = instant(given.get("from"), zone=zone, field="from")
            until = instant(given.get("to"), zone=zone, field="to")
            if since is not None and until is not None and since >= until:
                raise InvalidInput("`from` lies before `to`", field="from")
            if given.get("origin", ORIGINS[0]) not in ORIGINS:
                raise InvalidInput(f"an origin is one of {', '.join(ORIGINS)}", field="origin")
            asked = AuditRequest(
                namespace=given["namespace"],
                type=given.get("type"),
                actor=given.get("actor"),
                session=given.get("session"),
                origin=given.get("origin"),
                since=since,
                until=until,
                limit=limit_of(given, 100),
                cursor=given.get("cursor"),
            )
            return audit(self._side.log, namespace, asked)

        return json_reply(await self._work(job))

    # health

    async def status(self, request: Request) -> Response:
        given = self._asked(request, STATUS, required=())
        side = self._side

        def job() -> dict[str, Any]:
            if "namespace" in given:
                return namespace_status(side.models, side.log, side.vectors, given["namespace"])
            return whole_status(side.models, side.log, side.vectors)

        return json_reply(await self._work(job))

    async def healthz(self, _: Request) -> Response:
        return json_reply({"status": "ok"})

    async def readyz(self, _: Request) -> Response:
        missing = await self._work(self.readiness.missing)
        return json_reply({"ready": not missing, "missing": missing}, 503 if missing else 200)

    def operations(self) -> Sequence[Operation]:
        one = "/v1/memories/{memory_id}"
        return [
            Operation(method="POST", path="/v1/recall", handler=self.recall, body=RecallBody, reply=RecallReply,
                      summary="Answer a question from memory, with evidence, at a point of two times"),
            Operation(method="GET", path="/v1/memories", handler=self.list, query=LIST,
                      summary="List claims, newest first"),
            Operation(method="GET", path=one, handler=self.memory, query=ONE,
                      summary="One claim or raw event; a merged id leads to the surviving claim"),
            Operation(method="GET", path=one + "/history", handler=self.history, query=ONE,
                      summary="A memory's whole life"),
            Operation(method="GET", path=one + "/explain", handler=self.explain, query=ONE,
                      summary="From the words over window, extractor and rule to the chain"),
            Operation(method="GET", path="/v1/exposures/{exposure_id}", handler=self.exposure, query=EXPOSURE,
                      summary="How an answer came about: channels, ranks, weights, and what was left out and why"),
            Operation(method="GET", path="/v1/timeline", handler=self.timeline, query=TIMELINE,
                      summary="What was true when, and when it was known"),
            Operation(method="GET", path="/v1/entities", handler=self.entities, query=ENTITIES,
                      summary="Who goes by which names, and since when that is known"),
            Operation(method="GET", path="/v1/audit/events", handler=self.audit, query=AUDIT,
                      summary="The event history of a namespace"),
            Operation(method="GET", path="/v1/status", handler=self.status, query=STATUS,
                      summary="How far the read models have read, and what waits"),
            Operation(method="GET", path="/healthz", handler=self.healthz, summary="Whether the process runs"),
            Operation(method="GET", path="/readyz", handler=self.readyz, summary="Whether all is warm and read"),
        ]  # fmt: skip


def _point_of(given: Mapping[str, str], namespace: NamespaceRow | None, now: int) -> Point:
    """The asked point of both times; now where not given."""
    zone = zone_of(namespace)
    valid_at = instant(given.get("valid_at"), zone=zone, field="valid_at")
    known_at = instant(given.get("known_at"), zone=zone, field="known_at")
    return Point(
        valid_at=now if valid_at is None else valid_at,
        known_at=now if known_at is None else known_at,
        past_knowledge=known_at is not None and known_at < now,
    )
