"""The projection worker: reads partitions of the log and folds them into their read-model files, until told to stop.

A partition whose log is damaged, whose keys are missing or whose next event is of a newer version than this code reads
stands still and says so; the others go on. A file that was built by another version is replayed from the start; one
that stands on a log that was rolled back under it is set aside and replayed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Final

import apsw

from taishi.ingest.crashpoints import reach
from taishi.ingest.envelope import Position
from taishi.ingest.errors import LogDamaged, NotFound, TaishiError, Unavailable, UnknownEventVersion
from taishi.ingest.log import EventLog

from .analysis import Analyzer
from .store import CheckpointMoved, ReadModelFile, ReadModelOutdated

log_ = logging.getLogger(__name__)

BATCH: Final = 500
IDLE_SECONDS: Final = 1.0
RETRY_SECONDS: Final = 0.2
HELD_SECONDS: Final = 5.0
"""How long a partition that stands still waits before it looks again."""

_FORGETTING: Final = frozenset({"claim.forgotten", "scope.forgotten"})


def model_path(folder: Path, partition: int) -> Path:
    return folder / f"claims-p{partition}.db"


def _discard(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _set_aside(path: Path) -> Path:
    """Renames a closed file (its write-ahead log is in it by then) so that it can be looked at."""
    number = 1
    while (aside := path.with_name(f"{path.name}.quarantined-{number}")).exists():
        number += 1
    path.rename(aside)
    _discard(path)
    return aside


def open_model(path: Path, log: EventLog, partition: int, analyzer: Analyzer) -> ReadModelFile:
    """The partition's read model, standing on this very log: else it is replaced by an empty one, to be replayed."""
    try:
        model = ReadModelFile(path, analyzer)
    except ReadModelOutdated as e:
        log_.warning("%s", e.message)
        _discard(path)
        return ReadModelFile(path, analyzer)
    if _stands_on(model, log, partition):
        return model
    model.close()
    log_.error("the log was rolled back under %s: it is kept as %s and replayed", path.name, _set_aside(path).name)
    return ReadModelFile(path, analyzer)


def _stands_on(model: ReadModelFile, log: EventLog, partition: int) -> bool:
    at = model.checkpoint
    if at.seq == 0:
        return True
    if log.head(partition) < at.seq:
        return False
    try:
        return log.fetch(Position(partition, at.seq)).digest == at.digest
    except NotFound:
        return False


class Projector:
    """Folds `partitions` into `folder`. `run` returns when `stop` is set, with every batch it began committed."""

    def __init__(
        self, *, log: EventLog, folder: Path, partitions: Iterable[int], analyzer: Analyzer, batch: int = BATCH
    ) -> None:
        self._log = log
        self._batch = batch
        self._models = {p: open_model(model_path(folder, p), log, p, analyzer) for p in partitions}
        self._unscrubbed: set[int] = set()

    def close(self) -> None:
        for model in self._models.values():
            model.close()

    def checkpoints(self) -> dict[int, int]:
        return {p: model.checkpoint.seq for p, model in self._models.items()}

    def digests(self) -> dict[int, str]:
        return {p: model.digest() for p, model in self._models.items()}

    def step(self, partition: int) -> int:
        """Folds the partition's next batch. How many events it had."""
        model = self._models[partition]
        events = self._log.read(partition, after=model.checkpoint.seq, limit=self._batch)
        if events:
            dead = model.apply(events)
            reach("folded")
            if dead:
                log_.error("p%d: %d events could not be folded and were set aside", partition, dead)
            if any(event.type in _FORGETTING for event in events):
                self._unscrubbed.add(partition)
        if partition in self._unscrubbed and model.scrub():
            self._unscrubbed.discard(partition)
        return len(events)

    def catch_up(self) -> None:
        """Folds until every partition is at its head."""
        for partition in self._models:
            while self.step(partition):
                pass

    def run(self, stop: threading.Event) -> None:
        held: dict[int, float] = {}
        while not stop.is_set():
            held = {p: until for p, until in held.items() if until > time.monotonic()}
            try:
                for p in self._round(without=held):
                    held[p] = time.monotonic() + HELD_SECONDS
                watched = {p: seq for p, seq in self.checkpoints().items() if p not in held}
                if self._unscrubbed or not watched:
                    stop.wait(RETRY_SECONDS)
                else:
                    self._log.wait(watched, seconds=IDLE_SECONDS)
            except (Unavailable, apsw.BusyError) as e:
                log_.warning("waiting: %s", type(e).__name__)
                stop.wait(RETRY_SECONDS)

    def _round(self, *, without: Container[int]) -> list[int]:
        """Folds until nothing is left to read, a batch of each partition in turn. The partitions that stand still."""
        stuck: list[int] = []
        going = [p for p in self._models if p not in without]
        while going:
            for partition in list(going):
                try:
                    full = self.step(partition) == self._batch
                except (LogDamaged, UnknownEventVersion, CheckpointMoved, apsw.FullError, apsw.IOError) as e:
                    said = e.message if isinstance(e, TaishiError) else type(e).__name__
                    log_.error("p%d stands still: %s", partition, said)
                    stuck.append(partition)
                    full = False
                if not full:
                    going.remove(partition)
        return stuck
