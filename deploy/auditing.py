"""Verifying the log as a deployment has it: against its manifests, what its readers remember, and anchors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.outbox import Outbox
from taishi.ingest.verification import PartitionAudit, Remembered, Verdict
from taishi.projections.store import checkpoint_of
from taishi.projections.vector_schema import vector_paths
from taishi.projections.vectors import inspect
from taishi.projections.worker import model_path

from .generations import models_folder, vectors_folder
from .settings import Settings


def verify(
    settings: Settings,
    log: ArchivedLog,
    *,
    anchors: Sequence[Remembered] = (),
    progress: Callable[[int], None] = lambda _: None,
) -> list[Verdict]:
    """Of every partition, up to where it ends now. Raises Unavailable."""
    known = [*anchors, *remembered(settings)]  # before the heads: no reader is ahead of them
    heads = [log.stream.head(partition) for partition in range(log.partitions)]
    return [
        PartitionAudit(
            partition, archive=log.archive, stream=log.stream, head=head, remembered=known, progress=progress
        ).run()
        for partition, head in enumerate(heads)
    ]


def remembered(settings: Settings) -> Iterator[Remembered]:
    """What the checkpoints of read models, vectors and keeper say of the log they stand on."""
    for partition in range(settings.partitions):
        for folder in sorted(models_folder(settings.home).glob("g*")):
            path = model_path(folder, partition)
            if (read := checkpoint_of(path)) is not None:
                name = f"{folder.name}/{path.name}"
                yield Remembered(name=name, partition=partition, seq=read.seq, digest=read.digest, chain=read.chain)
        for path in vector_paths(vectors_folder(settings.home), partition):
            if (file := inspect(path)) is not None and file.seq:
                yield Remembered(name=path.name, partition=partition, seq=file.seq, digest=file.digest)
    for path in sorted((settings.home / "keeper").glob("*.db")):
        outbox = Outbox(path)
        for partition in range(settings.partitions):
            at = outbox.checkpoint(partition)
            if at.seq:
                yield Remembered(name=f"keeper/{path.name}", partition=partition, seq=at.seq, digest=at.digest)
        outbox.dispose()

