"""The read side over HTTP, as an application.

Handlers parse in the event loop and work in a few threads of their own, each with its own connections: SQLite, numpy
and the embedder let go of the interpreter's lock while they work, and the loop stays free to answer health checks.
More threads than cores would only take that lock from each other; more load is served by more processes.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Final

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from taishi.ingest.access import ApiKey, Guard
from taishi.ingest.log import EventLog
from taishi.ingest.web import build_app
from taishi.projections.analysis import Analyzer

from .exposures import Exposures
from .meaning import Meaning
from .metrics import ReadMetrics
from .reading import ReadModels
from .reranking import Reranking
from .routes import ReadSide, Routes
from .status import VectorsAt

THREADS: Final = 2
"""Requests that work at once."""
WAITING_THREADS: Final = 8
"""And where some of them wait for a reranker."""


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
    reranking: Reranking | None = None,
    clock: Callable[[], int] = now,
    ablated: Collection[str] = (),
    worker: str = "1",
) -> FastAPI:
    """The read API. What is heavy warms up in the background from the application's start; `log` stays the caller's.
    `ablated` are channels that recall does without."""
    pool = ThreadPoolExecutor(THREADS if reranking is None else WAITING_THREADS, "query")
    exposures = Exposures(log) if record_exposures else None
    side = ReadSide(
        models=models, log=log, analyzer=analyzer, meaning=meaning, vectors=vectors, exposures=exposures,
        now=clock, reranking=reranking, ablated=ablated,
    )  # fmt: skip
    routes = Routes(side, Guard(api_keys), pool)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        threading.Thread(target=routes.readiness.warm_up, name="warm-up", daemon=True).start()
        if exposures is not None:
            exposures.start()
        yield
        if exposures is not None:
            await asyncio.get_running_loop().run_in_executor(None, exposures.stop)
        if reranking is not None:
            reranking.close()
        pool.shutdown(wait=False, cancel_futures=True)

    metrics = CollectorRegistry()
    dropped = (lambda: 0) if exposures is None else (lambda: exposures.dropped)
    metrics.register(ReadMetrics(models, log, vectors, now=clock, dropped=dropped))
    return build_app(
        title="Taishi: read side",
        version=version("taishi"),
        operations=routes.operations(),
        lifespan=lifespan,
        metrics=metrics,
        worker=worker,
    )
