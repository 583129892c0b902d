"""What another extraction generation had read from events that were erased since, as its read models know it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from taishi.ingest.envelope import Position
from taishi.ingest.errors import NotCaughtUp, NotFound
from taishi.ingest.extraction import Earlier
from taishi.ingest.log import EventLog
from taishi.projections.lookup import Lookup

from .generations import Generations, generation_folder

_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.02


class EarlierClaims:
    """Implements `ingest.extraction.EarlierOf`: answers from a generation that folds extraction `base`."""

    def __init__(self, home: Path, log: EventLog, *, base: int) -> None:
        self._generations = Generations(home)
        self._log = log
        self._base = base
        self._lookup = Lookup(self._folder)

    def _folder(self) -> Path:
        for generation in self._generations.read().followed():
            if generation.extraction == self._base:
                return generation_folder(self._generations.home, generation)
        raise NotFound(f"no generation folds extraction {self._base} any more")

    def __call__(self, event: Position) -> Sequence[Earlier]:
        """Raises NotCaughtUp where that generation's read models are behind."""
        try:
            self._settle(event.partition)
            found = self._lookup.read_from(event.partition, event.seq)
        except NotFound:
            return ()
        return [
            Earlier(position=Position(event.partition, seq), forgotten=None if gone is None else (gone[0], gone[1]))
            for seq, gone in found
        ]

    def _settle(self, partition: int) -> None:
        """The words are erased: by now the tombstone is in the log, and all that it let live stands before it."""
        head = self._log.head(partition)
        until = time.monotonic() + _SECONDS
        while self._lookup.checkpoint(partition) < head:
            if time.monotonic() > until:
                raise NotCaughtUp(f"the read models of extraction {self._base} are behind")
            time.sleep(_POLL_SECONDS)
