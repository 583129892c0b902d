"""When writers must wait: the read models are too far behind the log, or its server too near its memory's end.

A thread looks twice a second; requests only compare numbers.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from taishi.commands.pressure import Pressure
from taishi.ingest.errors import Overloaded, TaishiError
from taishi.ingest.log import EventLog
from taishi.ingest.server_memory import ServerMemory

LOOK_SECONDS: Final = 0.5
RETRY_SECONDS: Final = 2
_log: Final = logging.getLogger(__name__)


class MeasuredPressure(Pressure):
    """`folded` gives the position up to which a partition's read model has read. `most_lag` is in events of one
    partition, `most_memory` a share of what the server may take; 0: no limit."""

    def __init__(
        self,
        *,
        log: EventLog,
        folded: Callable[[int], int],
        memory: Callable[[], ServerMemory],
        most_lag: int,
        most_memory: float,
    ) -> None:
        self._events = log
        self._folded = folded
        self._memory = memory
        self._most_lag = most_lag
        self._most_memory = most_memory
        self._lag = [0] * log.partitions
        self._share = 0.0

    def check(self, namespace: str) -> None:
        lag = self._lag[self._events.partition_of(namespace)]
        if self._most_lag and lag > self._most_lag:
            raise Overloaded(
                f"{lag} events wait to be read, more than max_lag={self._most_lag}: write more slowly",
                retry_after=RETRY_SECONDS,
            )
        if self._most_memory and self._share > self._most_memory:
            raise Overloaded(
                f"the event log's server holds {self._share:.0%} of its memory, more than max_memory="
                f"{self._most_memory:.0%}: seal old events (taishi archive seal), or give it more",
                retry_after=RETRY_SECONDS,
            )

    def look(self) -> None:
        """Measures anew. Raises Unavailable."""
        for partition in range(self._events.partitions):
            self._lag[partition] = max(self._events.head(partition) - self._folded(partition), 0)
        used, limit = self._memory()
        self._share = used / limit if limit else 0.0

    def start(self) -> None:
        """Looks from now on, in a thread that ends with the process."""
        threading.Thread(target=self._watch, name="pressure", daemon=True).start()

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(LOOK_SECONDS):
            try:
                self.look()
            except TaishiError as e:  # a server that is away refuses writes by itself
                _log.warning("pressure is not measured: %s", e.slug)
