"""What recall showed, told to the log: `memory.recalled` events with ids and numbers alone, never the question.

Appending is not recall's business to wait for: exposures are queued and a thread appends them in batches. When the log
is down or slow they are dropped, oldest first, and counted: feedback on a dropped exposure is refused, nothing worse.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from taishi.ingest.envelope import Actor, NewEvent
from taishi.ingest.errors import TaishiError
from taishi.ingest.ids import new_id
from taishi.ingest.log import Batch, EventLog

QUEUED: Final = 5_000
"""Recalls that may wait."""
BATCH: Final = 200
GATHER_SECONDS: Final = 0.1
"""How long a batch gathers: what is folded later than the answer needs no haste."""

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads: the name of the API key, and the id of the actor who asks, as far as they are told. No names of
    persons: this stands in the header."""

    key: str | None = None
    actor: str | None = None

    def facts(self) -> dict[str, str]:
        return {name: told for name, told in (("key", self.key), ("actor", self.actor)) if told is not None}


class Exposures:
    """A background appender. `start` it once; `stop` appends what is queued and ends it."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._queue: deque[NewEvent] = deque(maxlen=QUEUED)
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.dropped = 0

    def shown(
        self,
        namespace: str,
        session: str | None,
        exposure: str,
        items: Sequence[Mapping[str, Any]],
        *,
        positions: Sequence[int] = (),
        reader: Reader,
        told: Mapping[str, Any] | None = None,
    ) -> None:
        """Never blocks. Item `i` of the answer has the exposure id `<exposure>.<i>`; `positions` are where in the
        partition their claims and raw events stand; `told` is how the answer came about, in numbers."""
        if len(self._queue) == QUEUED:
            self.dropped += 1
        facts = {
            "exposure": exposure,
            "items": [item["id"] for item in items],
            "kinds": [item["kind"] for item in items],
            "seqs": list(positions),
            "reader": reader.facts(),
            **({} if told is None else {"told": dict(told)}),
        }
        self._queue.append(
            NewEvent(
                event_id=new_id(),
                type="memory.recalled",
                schema_version=2,
                namespace=namespace,
                session=session,
                actor=Actor(role="system"),
                origin="system",
                facts=facts,
                body={},
            )
        )
        self._wake.set()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="exposures", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait()
            self._stopping.wait(GATHER_SECONDS)
            self._wake.clear()
            self._flush()
        self._flush()

    def _flush(self) -> None:
        while self._queue:
            events = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
            by_namespace: dict[str, list[NewEvent]] = {}
            for event in events:
                by_namespace.setdefault(event.namespace, []).append(event)
            try:
                outcomes = self._log.append_many([Batch(events=those) for those in by_namespace.values()])
            except TaishiError as e:
                outcomes = [e] * len(by_namespace)
            for outcome, those in zip(outcomes, by_namespace.values(), strict=True):
                if isinstance(outcome, Exception):
                    self.dropped += len(those)
                    _LOG.warning("%d exposures are not in the log: %s", len(those), type(outcome).__name__)
