"""Building one partition's read model from the log, in slices that may be killed and resumed at any point.

The truth of how far it has come is the file's own checkpoint. A poison event ends the build and is named: nothing is
built on what could not be folded. Bounded memory: one batch of events and the file's page cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from taishi.ingest.crashpoints import reach
from taishi.ingest.envelope import Event
from taishi.ingest.errors import TaishiError
from taishi.ingest.log import EventLog

from .analysis import Analyzer
from .store import NOT_POISON
from .worker import model_path, open_model

BATCH: Final = 2_000
Throttle = Callable[[], None]
"""Called between batches; may sleep while the live side is behind."""


class PoisonEvent(TaishiError):
    """An event could not be folded: the build stops at it."""

    slug = "poison-event"


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """How far a partition is built: the last event folded, and whether that was the log's last one."""

    seq: int
    complete: bool


class PartitionBuild:
    """One partition of a generation in `folder`, being built. `upto` bounds what is folded; None: all there is.

    Its connection is tuned for bulk; `finish` gives the file its everyday form.
    """

    def __init__(
        self,
        *,
        log: EventLog,
        folder: Path,
        partition: int,
        analyzer: Analyzer,
        generation: int,
        batch: int = BATCH,
        upto: int | None = None,
    ) -> None:
        self._log = log
        self._partition = partition
        self._batch = batch
        self._upto = upto
        self._model = open_model(
            model_path(folder, partition), log, partition, analyzer, generation=generation, bulk=True
        )

    @property
    def seq(self) -> int:
        return self._model.checkpoint.seq

    def close(self) -> None:
        self._model.close()

    def slice(self, *, seconds: float, throttle: Throttle | None = None) -> Built:
        """Folds for about so long. Raises PoisonEvent, LogDamaged, KeyMissing, CheckpointMoved, Unavailable."""
        until = time.monotonic() + seconds
        while True:
            complete = self._step()
            if complete or time.monotonic() >= until:
                return Built(seq=self.seq, complete=complete)
            if throttle is not None:
                throttle()

    def _step(self) -> bool:
        limit = self._batch if self._upto is None else min(self._batch, self._upto - self.seq)
        if limit <= 0:
            return True
        head = self._log.head(self._partition) if self._upto is None else None
        events = self._log.read(self._partition, after=self.seq, limit=limit)
        if events:
            try:
                self._model.apply(events, stop_at_poison=True)
            except NOT_POISON:
                raise
            except Exception:
                self._find_poison(events)
            reach("rebuilt")
        return head is not None and self.seq >= head  # a short batch may as well end before a damaged entry

    def _find_poison(self, events: Sequence[Event]) -> None:
        """Folds one by one what went wrong together. What an operator gave up is skipped. Raises PoisonEvent at the
        first event that cannot be folded."""
        for event in events:
            try:
                self._model.apply([event], stop_at_poison=True)
            except NOT_POISON:
                raise
            except Exception as e:
                if self._given_up(event):
                    self._model.apply([event], stop_at_poison=True, skipping={event.position.seq})
                    continue
                raise PoisonEvent(
                    f"the event at {event.position} ({event.type}) cannot be folded: {type(e).__name__}",
                    position=str(event.position),
                ) from e

    def _given_up(self, poison: Event) -> bool:
        """Whether an `event.skipped` further on in the log names it."""
        after = poison.position.seq
        while events := self._log.read(self._partition, after=after, limit=self._batch):
            for event in events:
                if event.type == "event.skipped" and event.facts["seq"] == poison.position.seq:
                    return True
            after = events[-1].position.seq
        return False

    def finish(self) -> None:
        """Once complete: what was put off while building is done, and the file is on disk."""
        self._model.settle()
