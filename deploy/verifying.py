"""Verifying: the content digests of a generation's read models, and the same from a clean replay of the log."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from taishi.projections.digest import content_digest
from taishi.projections.rebuild import PartitionBuild
from taishi.projections.store import checkpoint_in, open_connection
from taishi.projections.worker import model_path

from .generations import Generation, generation_folder
from .settings import Settings

_SCRATCH: Final = "verify-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """Of one partition's read model, at its position `seq`. `chain` is the log's hash chain there, in hex."""

    partition: int
    seq: int
    chain: str
    digest: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@contextmanager
def scratch(home: Path) -> Iterator[Path]:
    """A folder for a replay, which holds words: it goes at the end, and where its process was killed, with `sweep`."""
    sweep(home)
    folder = home / f"{_SCRATCH}{os.getpid()}"
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(home: Path) -> None:
    """Removes what replays that were killed left behind."""
    for folder in home.glob(f"{_SCRATCH}*"):
        if not _is_alive(int(folder.name.removeprefix(_SCRATCH))):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def digests(settings: Settings, generation: Generation) -> list[Digest]:
    """Each in one consistent view, while it may go on growing."""
    folder = generation_folder(settings.home, generation)
    return [digest_of(model_path(folder, p), p) for p in range(settings.partitions) if model_path(folder, p).exists()]


def digest_of(path: Path, partition: int) -> Digest:
    connection = open_connection(path, read_only=True)
    try:
        connection.execute("BEGIN")
        at = checkpoint_in(connection)
        return Digest(partition=partition, seq=at.seq, chain=at.chain.hex(), digest=content_digest(connection))
    finally:
        connection.close()


def replayed(
    settings: Settings, generation: Generation, found: Sequence[Digest], *, folder: Path, batch: int
) -> list[Digest]:
    """The digests of read models that are folded anew in `folder`, each up to the position of the one `found`."""
    from .event_log import opened_log
    from .processes import analyzer

    fresh = []
    with opened_log(settings) as (log, _):
        for digest in found:
            build = PartitionBuild(
                log=log, folder=folder, partition=digest.partition, analyzer=analyzer(settings.dictionary),
                generation=generation.extraction, batch=batch, upto=digest.seq,
            )  # fmt: skip
            while not build.slice(seconds=60).complete:
                pass
            build.finish()
            build.close()
            fresh.append(digest_of(model_path(folder, digest.partition), digest.partition))
    return fresh
