"""Sealing as a deployment does it: what its readers still need, and the job that seals from time to time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.keys import KeyStore
from taishi.ingest.outbox import Outbox
from taishi.ingest.sealing import Outcome, Sealing
from taishi.ingest.signatures import Signer
from taishi.projections.store import checkpoint_of
from taishi.projections.vectors import serving
from taishi.projections.worker import model_path

from .event_log import opened_log
from .generations import Generations, generation_folder, outbox_path, vectors_folder
from .settings import Settings

LEAST: Final = 10_000
"""The job makes no segments of fewer entries, nor of fewer than stay in the server."""


def sealing(
    settings: Settings,
    log: ArchivedLog,
    keys: KeyStore,
    *,
    keep: int | None = None,
    least: int = 1,
    progress: Callable[[Outcome], None] = lambda _: None,
) -> Sealing:
    """`keep` None: as the settings say."""
    return Sealing(
        log,
        Signer.of(keys),
        needed=partial(read_by_all, settings),
        keep=settings.archive_keep if keep is None else keep,
        least=least,
        progress=progress,
    )


def seal_what_is_old(settings: Settings) -> None:
    """The upkeep job."""
    with opened_log(settings) as (log, keys):
        sealing(settings, log, keys, least=min(LEAST, settings.archive_keep)).run()


def read_by_all(settings: Settings, partition: int) -> int:
    """Up to where all that follow the log (read models of every kept generation, vectors, keepers) have read the
    partition: 0 where one has not begun.

    Generations that are being built, and readers that come later, read what is behind it from the archive.
    """
    register = Generations(settings.home).read()
    reached = [
        *(_folded(generation_folder(settings.home, generation), partition) for generation in register.followed()),
        *(_kept(outbox_path(settings.home, extraction.number), partition) for extraction in register.extracting()),
    ]
    if settings.embedder != "off":
        file = serving(vectors_folder(settings.home), partition, None)
        reached.append(0 if file is None else file.seq)
    return min(reached)


def _folded(folder: Path, partition: int) -> int:
    found = checkpoint_of(model_path(folder, partition))
    return 0 if found is None else found.seq


def _kept(path: Path, partition: int) -> int:
    if not path.exists():
        return 0
    outbox = Outbox(path)
    try:
        return outbox.checkpoint(partition).seq
    finally:
        outbox.dispose()
