"""The composition root: what each process is made of. One function a process, which runs until SIGTERM.

Connections are made in the process that uses them; what may be shared over a fork is loaded by `warm`.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from taishi.commands.http import create_app as create_write_app
from taishi.ingest.answers import Answers
from taishi.ingest.cron import Cron
from taishi.ingest.dictionary import dictionary_words, words_in
from taishi.ingest.errors import ConfigurationError, InvalidInput
from taishi.ingest.extraction import Extraction as WindowExtraction
from taishi.ingest.extraction import gate_of
from taishi.ingest.keeper import Keeper
from taishi.ingest.keys import KeyStore
from taishi.ingest.ledger import Ledger
from taishi.ingest.log import EventLog
from taishi.ingest.outbox import Outbox
from taishi.ingest.redaction import redact
from taishi.ingest.registry import default_registry
from taishi.ingest.rq_jobs import QUEUE, REREADING, RqJobQueue
from taishi.ingest.rq_jobs import run_worker as run_rq_worker
from taishi.ingest.rq_upkeep import RqUpkeepQueue
from taishi.ingest.rq_upkeep import run_worker as run_upkeep_worker
from taishi.ingest.rules import RulesExtractor
from taishi.ingest.server_checks import unwritten
from taishi.ingest.server_memory import server_memory
from taishi.ingest.slots import Fingerprints
from taishi.ingest.upkeep import UpkeepQueue
from taishi.ingest.valkey_link import ValkeyLink
from taishi.projections.analysis import Analyzer
from taishi.projections.embedding import Embedder
from taishi.projections.embedding_choice import make_embedder
from taishi.projections.lookup import Lookup
from taishi.projections.vector_worker import VectorWorker
from taishi.queries.http import create_app as create_read_app
from taishi.queries.meaning import Meaning
from taishi.queries.patience import Patience
from taishi.queries.reading import ReadModels
from taishi.queries.reranking import Reranking
from taishi.queries.reranking_http import HttpReranker
from taishi.queries.status import VectorsAt

from .claim_directory import ReadModelDirectory
from .earlier import EarlierClaims
from .embedding_anew import EmbeddingAnew
from .event_log import open_keys, open_log, opened_log
from .extraction import keeping, make_extractor, reading, settings_of
from .followers import FollowedModels, KeptWindows
from .generations import Extraction, Generations, live_folder, models_folder, outbox_path, vectors_folder
from .kept_files import kept_files
from .metrics import DeploymentMetrics
from .pressure import MeasuredPressure
from .rebuilding import Rebuilding
from .setting_blocks import RerankerSetting
from .settings import Settings
from .upkeep import schedule, upkeep_jobs

_SHUTDOWN_SECONDS: Final = 3
EMBEDDER: Final = "embedder"
HOME_WORDS: Final = 100_000
"""Words of the home's dictionary."""
_SETTLE_SECONDS: Final = 20.0
_UPKEEP_NICE: Final = 5
"""What nobody waits for gives way to what somebody does."""


def open_ledger(settings: Settings, keys: KeyStore) -> Ledger:
    return Ledger(settings.ledger, keys.secret("ledger"))


def check_log(settings: Settings) -> None:
    """Raises TaishiError where the key store or the log's server cannot be used, before anything depends on them."""
    with opened_log(settings) as (log, _):
        log.head(0)


@lru_cache(maxsize=1)
def analyzer(dictionary: Path | None) -> Analyzer:
    """With the words of that file. Raises ConfigurationError where it cannot be read or has something else in it."""
    if dictionary is None:
        return Analyzer()
    try:
        words = dictionary_words(words_in(dictionary.read_text("utf-8")), most=HOME_WORDS)
    except (OSError, UnicodeDecodeError, InvalidInput) as e:
        said = e.message if isinstance(e, InvalidInput) else type(e).__name__
        raise ConfigurationError(f"the dictionary {dictionary} cannot be used: {said}", field="dictionary") from None
    return Analyzer().with_words(words)


@lru_cache(maxsize=1)
def embedder(settings: Settings) -> Embedder | None:
    service = settings.embedding
    if service is None:
        return make_embedder(settings.embedder)
    return make_embedder(
        settings.embedder,
        base_url=service.base_url,
        model=service.model,
        dimension=service.dimension,
        api_key=service.api_key.get_secret_value() if service.api_key else None,
    )


def reranking(service: RerankerSetting | None) -> Reranking | None:
    if service is None:
        return None
    reranker = HttpReranker(
        base_url=service.base_url,
        model=service.model,
        style=service.style,
        api_key=service.api_key.get_secret_value() if service.api_key else None,
        seconds=service.time_limit,
    )
    return Reranking(reranker, seconds=service.time_limit, most=service.top, weight=service.weight)


def warming(settings: Settings) -> Iterator[Callable[[], object]]:
    """Steps that load what is large, once, so that processes forked afterwards share it."""
    yield lambda: analyzer(settings.dictionary).index("太史 writes")
    if sys.platform == "darwin":
        return  # its own linear algebra does not survive a fork: there each process loads the model for itself
    model = embedder(settings)
    if model is not None and settings.embedder != "openai":
        yield lambda: model.embed(["太史"])


def run_write(settings: Settings, listening: socket.socket) -> None:
    keys = open_keys(settings)
    log = open_log(settings, keys)
    lookup = Lookup(partial(live_folder, settings.home))
    assert settings.redis_url is not None
    link = ValkeyLink(settings.redis_url)
    memory = partial(server_memory, link)
    pressure = MeasuredPressure(
        log=log,
        folded=lookup.checkpoint,
        memory=memory,
        most_lag=settings.max_lag,
        most_memory=settings.max_memory,
    )
    pressure.start()
    app = create_write_app(
        log=log,
        keys=keys,
        ledger=open_ledger(settings, keys),
        directory=ReadModelDirectory(log=log, lookup=lookup, kept=kept_files(settings.home)),
        registry=default_registry(),
        redact=redact,
        reader=RulesExtractor(mode=settings.provenance),
        api_keys=settings.guards,
        pressure=pressure,
        extraction=lambda: Generations(settings.home).read().live.extraction,
        health=partial(unwritten, link),
        collectors=[DeploymentMetrics(settings, memory=memory)],
    )
    _serve(app, listening)


def run_projector(settings: Settings) -> None:
    assert settings.jobs_url is not None
    log = open_log(settings, open_keys(settings))
    rebuilding = open_rebuilding(settings, log, RqUpkeepQueue(settings.jobs_url))
    followed = FollowedModels(
        generations=rebuilding.generations, log=log, analyzer=analyzer(settings.dictionary), drive=rebuilding.drive
    )
    followed.run(_until_terminated())


def open_rebuilding(settings: Settings, log: EventLog, queue: UpkeepQueue) -> Rebuilding:
    return Rebuilding(
        generations=Generations(settings.home), log=log, queue=queue,
        analyzer=partial(analyzer, settings.dictionary), workers=settings.upkeep_workers,
    )  # fmt: skip


def run_vectors(settings: Settings) -> None:
    keys = open_keys(settings)
    model = embedder(settings)
    assert model is not None  # this process is not started without one
    anew = EmbeddingAnew(settings.home)
    anew.begin(model=model.id, partitions=settings.partitions)
    worker = VectorWorker(
        log=open_log(settings, keys),
        folder=vectors_folder(settings.home),
        partitions=range(settings.partitions),
        embedder=model,
        secret=keys.secret("vectors"),
    )
    stop = _until_terminated()
    anew.watch(stop)
    worker.run(stop)
    worker.close()


def run_keeper(settings: Settings) -> None:
    keys = open_keys(settings)
    log = open_log(settings, keys)
    KeptWindows(
        generations=Generations(settings.home), make=lambda e, live: _keeper(settings, keys, log, e, live=live)
    ).run(_until_terminated())


def _keeper(settings: Settings, keys: KeyStore, log: EventLog, extraction: Extraction, *, live: bool) -> Keeper:
    assert settings.jobs_url is not None
    return Keeper(
        log,
        keys,
        Outbox(outbox_path(settings.home, extraction.number), generation=extraction.number),
        RqJobQueue(settings.jobs_url, name=QUEUE if live else REREADING),
        ledger=open_ledger(settings, keys),
        owed=kept_files(settings.home).owed if live else None,
        generation=extraction.number,
        carries=extraction.base is not None,
        **keeping(settings_of(settings, extraction)),
    )


def run_worker(settings: Settings) -> None:
    assert settings.jobs_url is not None
    keys = open_keys(settings)
    log = open_log(settings, keys)

    @cache
    def reader(number: int) -> WindowExtraction:
        extraction = Generations(settings.home).read().extraction(number)
        own = settings_of(settings, extraction)
        return WindowExtraction(
            log,
            make_extractor(own),
            default_registry(),
            Fingerprints(keys.secret("fingerprint")),
            gate=gate_of(settings.provenance),
            generation=number,
            answers=Answers(keys),
            earlier=None if extraction.base is None else EarlierClaims(settings.home, log, base=extraction.base),
            **reading(own),
        )

    run_rq_worker(reader, settings.jobs_url)


def run_upkeep(settings: Settings) -> None:
    assert settings.jobs_url is not None
    os.nice(_UPKEEP_NICE)
    run_upkeep_worker(upkeep_jobs(settings, RqUpkeepQueue(settings.jobs_url)), settings.jobs_url)


def run_cron(settings: Settings) -> None:
    assert settings.jobs_url is not None
    queue = RqUpkeepQueue(settings.jobs_url)
    Cron(queue, queue, every=schedule(settings)).run(_until_terminated(), settle=_SETTLE_SECONDS)


def run_read(settings: Settings, listening: socket.socket, *, name: str) -> None:
    log = open_log(settings, open_keys(settings))
    vectors = None if settings.embedder == "off" else vectors_folder(settings.home)
    meaning = None
    if vectors is not None:
        meaning = Meaning(
            load=partial(embedder, settings),
            folder=vectors,
            partitions=settings.partitions,
            patience=None if settings.embedding is None else Patience(EMBEDDER, seconds=settings.embedding.time_limit),
        )
    app = create_read_app(
        models=ReadModels(
            models_folder(settings.home), partitions=settings.partitions, partition_of=log.partition_of
        ),
        log=log,
        analyzer=partial(analyzer, settings.dictionary),
        meaning=meaning,
        vectors=VectorsAt(vectors),
        api_keys=settings.guards,
        reranking=reranking(settings.reranker),
        ablated=settings.ablated,
        worker=name,
    )
    _serve(app, listening)


def _serve(app: ASGIApp, listening: socket.socket) -> None:
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _until_terminated() -> threading.Event:
    """An event that SIGTERM sets."""
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    return stop
