"""The projection worker: reads partitions of the log and folds them into their read-model files.

A file that was built by another version is replayed from the start; one that stands on a log that was rolled back under
it is set aside and replayed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from taishi.ingest.crashpoints import reach
from taishi.ingest.envelope import FORGETTING_TYPES, Event, Position
from taishi.ingest.log import EventLog

from .analysis import Analyzer
from .following import IDLE_SECONDS, RETRY_SECONDS, Follower, is_held
from .store import ReadModelFile, ReadModelOutdated

log_ = logging.getLogger(__name__)

BATCH: Final = 500
ERASED: Final = 4_000
"""Events that tombstones folded in one transaction name, about."""


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


def _bounded(events: Sequence[Event]) -> Sequence[Event]:
    """As many of them as one transaction takes: a forget of a large scope is done, and seen to be done, in steps."""
    named = 0
    for count, event in enumerate(events, 1):
        if event.type in FORGETTING_TYPES:
            named += len(event.facts["events"])
            if named >= ERASED:
                return events[:count]
    return events


def _drop_set_aside(path: Path) -> None:
    """What was set aside holds words that no tombstone reaches: it is not kept beyond a forgetting."""
    for aside in path.parent.glob(f"{path.name}.quarantined-*"):
        log_.warning("%s is removed: something was forgotten that it may hold", aside.name)
        aside.unlink(missing_ok=True)


def open_model(
    path: Path, log: EventLog, partition: int, analyzer: Analyzer, *, generation: int = 1, bulk: bool = False
) -> ReadModelFile:
    """The partition's read model, standing on this very log: else it is replaced by an empty one, to be replayed."""
    try:
        model = ReadModelFile(path, analyzer, generation=generation, bulk=bulk)
    except ReadModelOutdated as e:
        log_.warning("%s", e.message)
        _discard(path)
        return ReadModelFile(path, analyzer, generation=generation, bulk=bulk)
    if is_held(log, partition, model.checkpoint.seq, model.checkpoint.digest):
        return model
    model.close()
    log_.error("the log was rolled back under %s: it is kept as %s and replayed", path.name, _set_aside(path).name)
    return ReadModelFile(path, analyzer, generation=generation, bulk=bulk)


class Projector(Follower):
    """Folds `partitions` into `folder`, of derived events those of extraction `generation`.

    `run` returns when `stop` is set, with every batch it began committed.
    """

    def __init__(
        self,
        *,
        log: EventLog,
        folder: Path,
        partitions: Iterable[int],
        analyzer: Analyzer,
        generation: int = 1,
        batch: int = BATCH,
    ) -> None:
        super().__init__(log)
        self._batch = batch
        self._models = {
            p: open_model(model_path(folder, p), log, p, analyzer, generation=generation) for p in partitions
        }
        for model in self._models.values():
            model.ask_again()  # what could not be folded may be within the power of this version
        self._unscrubbed = {p for p, model in self._models.items() if not model.is_scrubbed}

    def close(self) -> None:
        for model in self._models.values():
            model.close()

    def digests(self) -> dict[int, str]:
        return {p: model.digest() for p, model in self._models.items()}

    def step(self, partition: int) -> bool:
        """Folds the partition's next batch. True if it was a full one."""
        model = self._models[partition]
        read = self._log.read(partition, after=model.checkpoint.seq, limit=self._batch)
        events = _bounded(read)
        if events:
            dead = model.apply(events)
            reach("folded")
            if dead:
                log_.error("p%d: %d events could not be folded and are parked", partition, dead)
            if any(event.type in FORGETTING_TYPES for event in events):
                self._unscrubbed.add(partition)
                reach("unscrubbed")
                _drop_set_aside(model.path)
        if done := model.retry(lambda seq: self._log.fetch(Position(partition, seq))):
            log_.warning("p%d: %d parked events are folded", partition, done)
        if partition in self._unscrubbed and model.scrub():
            self._unscrubbed.discard(partition)
        return len(read) == self._batch or len(events) < len(read)

    def stands(self, partition: int) -> bool:
        at = self._models[partition].checkpoint
        return is_held(self._log, partition, at.seq, at.digest)

    def positions(self) -> dict[int, int]:
        return {p: model.checkpoint.seq for p, model in self._models.items()}

    def patience(self) -> float:
        return RETRY_SECONDS if self._unscrubbed else IDLE_SECONDS
