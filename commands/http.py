"""The write side over HTTP: routes, who may call them, and what the process says of its own health."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Final, TypeVar

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.registry import Collector
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from taishi.ingest.access import ApiKey, Guard, Right
from taishi.ingest.errors import InvalidInput, TaishiError
from taishi.ingest.extractor import Extractor
from taishi.ingest.keys import KeyStore
from taishi.ingest.ledger import Ledger
from taishi.ingest.log import EventLog
from taishi.ingest.names import check_namespace
from taishi.ingest.openapi import Operation
from taishi.ingest.registry import Registry
from taishi.ingest.slots import Fingerprints
from taishi.ingest.web import build_app, json_reply, parse_body, path_parameter, query_parameters

from .configure import Configure, Placed, configure
from .contract import MAX_REASON, Redactor
from .correct import Correct, Corrected, correct
from .directory import ClaimDirectory
from .forget import Forget, Forgotten, forget_memory, forget_scope
from .group_commit import GroupCommit
from .history import History, Replayed
from .identity import Alias, Identified, Merge, Split, alias, merge, split
from .judgement import Confirm, Feedback, Resolve, confirm, feedback, resolve
from .ports import Ports
from .pressure import Pressure, Unlimited
from .progress import in_lines, wanted_in_lines
from .proof import Proof, Prove, prove, receipts_namespace
from .publish import Accepted, Import, Publish, namespace_of, publish, publish_history
from .remember import Remember, Remembered, remember
from .replay import replay
from .skipping import Skip, Skipped, skip
from .turns import Turns

THREADS: Final = 32
"""Calls to the read models, the key store and the log's readers that may block at once."""
Health = Callable[[], Mapping[str, str]]
"""What is not ready, by part; empty when all is. Blocks for a moment at most."""
B = TypeVar("B", bound=BaseModel)


class _Routes:
    """Parses, asks who calls, runs the command, answers."""

    def __init__(self, ports: Ports, guard: Guard, health: Health) -> None:
        self._ports = ports
        self._guard = guard
        self._health = health

    async def _body(self, request: Request, model: type[B], right: Right) -> B:
        """The body of a caller who may do this in the namespace it names."""
        key = self._guard.identify(request)
        body = await parse_body(request, model)
        key.require(right, getattr(body, "namespace", None))
        return body

    async def publish(self, request: Request) -> Response:
        key = self._guard.identify(request)
        body = await parse_body(request, Publish)
        key.require("publish", namespace_of(body.events))
        self._ports.pressure.check(namespace_of(body.events))
        return json_reply(await publish(body, self._ports), 202)

    async def publish_history(self, request: Request) -> Response:
        key = self._guard.identify(request)
        body = await parse_body(request, Import)
        key.require("admin", namespace_of(body.events))
        self._ports.pressure.check(namespace_of(body.events))
        return json_reply(await publish_history(body, self._ports), 202)

    async def replay(self, request: Request) -> Response:
        body = await self._body(request, History, "admin")
        self._ports.pressure.check(body.namespace)
        return json_reply(await replay(body, self._ports), 202)

    async def remember(self, request: Request) -> Response:
        key = self._guard.identify(request)
        body = await parse_body(request, Remember)
        key.require("command" if body.recorded_at is None else "admin", body.namespace)
        self._ports.pressure.check(body.namespace)
        return json_reply(await remember(body, self._ports), 202)

    async def correct(self, request: Request) -> Response:
        body = await self._body(request, Correct, "command")
        async with self._ports.turns.of(body.namespace):
            return json_reply(await correct(path_parameter(request, "memory_id"), body, self._ports), 202)

    async def confirm(self, request: Request) -> Response:
        body = await self._body(request, Confirm, "command")
        return json_reply(await confirm(path_parameter(request, "memory_id"), body, self._ports), 202)

    async def forget_memory(self, request: Request) -> Response:
        key = self._guard.identify(request)
        given = query_parameters(request, known=("namespace", "reason"), required=("namespace",))
        namespace, reason = check_namespace(given["namespace"]), given.get("reason")
        if reason is not None and len(reason) > MAX_REASON:
            raise InvalidInput(f"a reason has at most {MAX_REASON} characters", field="reason")
        key.require("command", namespace)
        return json_reply(await forget_memory(path_parameter(request, "memory_id"), namespace, reason, self._ports))

    async def forget_scope(self, request: Request) -> Response:
        body = await self._body(request, Forget, "command")
        if wanted_in_lines(request):
            return in_lines(lambda tell: forget_scope(body, self._ports, tell))
        return json_reply(await forget_scope(body, self._ports))

    async def prove(self, request: Request) -> Response:
        key = self._guard.identify(request)
        body = await parse_body(request, Prove)
        key.require("command", receipts_namespace(body.receipt))
        return json_reply(await prove(body, self._ports))

    async def resolve(self, request: Request) -> Response:
        body = await self._body(request, Resolve, "command")
        return json_reply(await resolve(path_parameter(request, "slot"), body, self._ports), 202)

    async def alias(self, request: Request) -> Response:
        body = await self._body(request, Alias, "command")
        async with self._ports.turns.of(body.namespace):
            return json_reply(await alias(body, self._ports), 202)

    async def merge(self, request: Request) -> Response:
        body = await self._body(request, Merge, "command")
        async with self._ports.turns.of(body.namespace):
            return json_reply(await merge(body, self._ports), 202)

    async def split(self, request: Request) -> Response:
        body = await self._body(request, Split, "command")
        async with self._ports.turns.of(body.namespace):
            return json_reply(await split(body, self._ports), 202)

    async def skip(self, request: Request) -> Response:
        return json_reply(await skip(await self._body(request, Skip, "admin"), self._ports), 202)

    async def configure(self, request: Request) -> Response:
        key = self._guard.identify(request)
        namespace = check_namespace(path_parameter(request, "namespace"))
        key.require("admin", namespace)
        return json_reply(await configure(namespace, await parse_body(request, Configure), self._ports), 202)

    async def feedback(self, request: Request) -> Response:
        body = await self._body(request, Feedback, "command")
        return json_reply(await feedback(body, self._ports), 202)

    async def healthz(self, _: Request) -> Response:
        return json_reply({"status": "ok"})

    async def readyz(self, _: Request) -> Response:
        missing: dict[str, str] = {}
        try:
            missing |= await self._ports.call(self._health)
            await self._ports.call(self._ports.log.head, 0)
        except TaishiError as error:
            missing["log"] = error.slug
        return json_reply({"ready": not missing, "missing": missing}, 503 if missing else 200)

    def operations(self) -> Sequence[Operation]:
        memory = "/v1/memories/{memory_id}"
        return [
            Operation(method="POST", path="/v1/events", handler=self.publish, status=202, body=Publish, reply=Accepted,
                      summary="Publish raw events of one namespace, all or none"),
            Operation(method="POST", path="/v1/import", handler=self.publish_history, status=202, body=Import,
                      reply=Accepted, summary="Bring history from elsewhere, with the times it was recorded"),
            Operation(method="POST", path="/v1/import/log", handler=self.replay, status=202, body=History,
                      reply=Replayed, summary="Bring a namespace's exported history: raw events, claims and the rest"),
            Operation(method="POST", path="/v1/memories", handler=self.remember, status=202, body=Remember,
                      reply=Remembered, summary="Remember a claim, without any model"),
            Operation(method="POST", path=memory + "/correct", handler=self.correct, status=202, body=Correct,
                      reply=Corrected, summary="Say that a memory was wrong, or true until some time"),
            Operation(method="POST", path=memory + "/confirm", handler=self.confirm, status=202, body=Confirm,
                      reply=Placed, summary="Say that a memory still holds"),
            Operation(method="DELETE", path=memory, handler=self.forget_memory, reply=Forgotten,
                      summary="Forget a claim or a raw event; the reply is a signed receipt",
                      query={"namespace": "whose memory it is", "reason": "why, for the record"}),
            Operation(method="POST", path="/v1/forget", handler=self.forget_scope, body=Forget, reply=Forgotten,
                      summary="Forget a subject, session, time range or namespace: a dry run, then with its token"),
            Operation(method="POST", path="/v1/forget/verify", handler=self.prove, body=Prove, reply=Proof,
                      summary="Prove a receipt: tombstones, ledger, keys, bodies and read models are looked at anew"),
            Operation(method="POST", path="/v1/conflicts/{slot}/resolve", handler=self.resolve, status=202,
                      body=Resolve, reply=Placed, summary="Say which of contested claims holds"),
            Operation(method="POST", path="/v1/entities/alias", handler=self.alias, status=202, body=Alias,
                      reply=Identified, summary="Say that a name is another name of someone"),
            Operation(method="POST", path="/v1/entities/merge", handler=self.merge, status=202, body=Merge,
                      reply=Identified, summary="Say that two subjects are one"),
            Operation(method="POST", path="/v1/entities/split", handler=self.split, status=202, body=Split,
                      reply=Identified, summary="Say that a name is nobody else's"),
            Operation(method="PUT", path="/v1/namespaces/{namespace:path}", handler=self.configure, status=202,
                      body=Configure, reply=Placed, summary="Set up a namespace: time zone, words, fading"),
            Operation(method="POST", path="/v1/dead-letters/skip", handler=self.skip, status=202, body=Skip,
                      reply=Skipped, summary="Give up an event that cannot be folded"),
            Operation(method="POST", path="/v1/feedback", handler=self.feedback, status=202, body=Feedback,
                      reply=Placed, summary="Say whether what a recall returned helped"),
            Operation(method="GET", path="/healthz", handler=self.healthz, summary="Whether the process runs"),
            Operation(method="GET", path="/readyz", handler=self.readyz, summary="Whether it can take writes"),
        ]  # fmt: skip


def _now() -> int:
    return time.time_ns() // 1_000


def _all_well() -> Mapping[str, str]:
    return {}


def create_app(
    *,
    log: EventLog,
    keys: KeyStore,
    ledger: Ledger,
    directory: ClaimDirectory,
    registry: Registry,
    redact: Redactor,
    reader: Extractor | None = None,
    api_keys: Sequence[ApiKey] = (),
    health: Health = _all_well,
    pressure: Pressure | None = None,
    extraction: Callable[[], int] = lambda: 1,
    collectors: Sequence[Collector] = (),
    clock: Callable[[], int] = _now,
) -> FastAPI:
    """The write API. `collectors` add to what /metrics tells.

    Its committer thread ends with the application's lifespan; `log` and `keys` stay the caller's.
    """
    threads = ThreadPoolExecutor(THREADS, "command")
    commits = GroupCommit(log)
    ports = Ports(
        log=log, commits=commits, keys=keys, ledger=ledger, directory=directory, registry=registry,
        fingerprints=Fingerprints(keys.secret("fingerprint")), redact=redact, reader=reader, clock=clock,
        pressure=pressure or Unlimited(), extraction=extraction, threads=threads,
        turns=Turns(),
    )  # fmt: skip
    metrics = CollectorRegistry()
    waiting = Gauge("taishi_commit_waiting_events", "Events handed to the log, not yet answered", registry=metrics)
    waiting.set_function(lambda: float(commits.waiting))
    for collector in collectors:
        metrics.register(collector)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await commits.close()
        threads.shutdown(wait=False, cancel_futures=True)

    operations = _Routes(ports, Guard(api_keys), health).operations()
    return build_app(
        title="Taishi: write side", version=version("taishi"), operations=operations, lifespan=lifespan, metrics=metrics
    )
