"""The vector worker: follows partitions of the log on checkpoints of its own and keeps their vector files.

A model that is down delays vectors and nothing else: the checkpoint stands still, the worker tries again with growing
pauses, and forgetting goes on. A text that the model refuses is set aside, visibly, and the rest goes on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from taishi.ingest.envelope import Event, Position
from taishi.ingest.errors import Unavailable
from taishi.ingest.log import EventLog

from .embedding import Embedder
from .following import IDLE_SECONDS, RETRY_SECONDS, Follower, is_held
from .text_vectors import BATCH, TextVectors
from .vector_schema import vector_path, vector_paths
from .vector_texts import Texts, faded_by, forgotten_by, texts_of
from .vectors import Document, VectorFileUnfit, VectorStore, discard, inspect

log_ = logging.getLogger(__name__)

READ: Final = 256
"""Events read at a time."""
AHEAD: Final = 1_000
"""Events looked through at a time for forgetting ahead of the checkpoint."""
AHEAD_ROUNDS: Final = 4
"""And how many times before the next batch is embedded."""
REVIVED: Final = "claim.revived"
_FADING: Final = ("claim.archived", REVIVED)
LONGEST_PAUSE: Final = 30.0


@dataclass(slots=True)
class _Partition:
    """`retired` are files of other models that serve until `store` is complete."""

    store: VectorStore
    retired: list[VectorStore] = field(default_factory=list)
    failures: int = 0
    retry_at: float = 0.0
    unscrubbed: bool = True


def _stands_on(store: VectorStore, log: EventLog, partition: int) -> bool:
    at = store.checkpoint
    return at.forgotten <= log.head(partition) and is_held(log, partition, at.seq, at.digest)


def open_store(
    folder: Path, log: EventLog, partition: int, *, model: str, dimension: int, complete_at: int
) -> VectorStore:
    """The model's file, standing on this very log: else an empty one in its place."""
    path = vector_path(folder, partition, model)
    try:
        store = VectorStore(path, model=model, dimension=dimension, complete_at=complete_at)
    except VectorFileUnfit as e:
        log_.warning("%s: it is made anew", e.message)
    else:
        if not store.retired and _stands_on(store, log, partition):
            return store
        log_.warning("%s was left behind, or its log rolled back: it is made anew", path.name)
        store.close()
    discard(path)
    return VectorStore(path, model=model, dimension=dimension, complete_at=complete_at)


class VectorWorker(Follower):
    """Keeps the files of `partitions` in `folder`. `secret` keys the content hashes. `run` returns when `stop` is set;
    every batch is one transaction, so that it may be killed at any moment."""

    def __init__(
        self, *, log: EventLog, folder: Path, partitions: Iterable[int], embedder: Embedder, secret: bytes
    ) -> None:
        super().__init__(log)
        self._embedder = embedder
        self._texts = TextVectors(embedder, secret)
        self._partitions = {p: self._open(folder, p) for p in partitions}

    def _open(self, folder: Path, partition: int) -> _Partition:
        model = self._embedder.id
        own = vector_path(folder, partition, model)
        others = {path: inspect(path) for path in vector_paths(folder, partition) if path != own}
        head = self._log.head(partition)
        complete_at = max((min(f.seq, head) for f in others.values() if f is not None), default=0)
        store = open_store(
            folder, self._log, partition, model=model, dimension=self._embedder.dimension, complete_at=complete_at
        )
        state = _Partition(store)
        for path, other in others.items():
            if other is None or store.complete:
                discard(path)
                continue
            log_.warning("p%d: re-embedding with %s; %s serves until it is done", partition, model, other.model)
            old = VectorStore(path, model=other.model, dimension=other.dimension)
            old.retire()
            state.retired.append(old)
        return state

    def close(self) -> None:
        for state in self._partitions.values():
            for store in (state.store, *state.retired):
                store.close()

    def checkpoints(self) -> dict[int, int]:
        return {p: state.store.checkpoint.seq for p, state in self._partitions.items()}

    def down(self) -> list[int]:
        """Partitions whose last batch met a model that did not answer."""
        return [p for p, state in self._partitions.items() if state.failures]

    def step(self, partition: int) -> bool:
        """Embeds what is next of a partition. True if there may be more to do at once."""
        state = self._partitions[partition]
        at = state.store.checkpoint
        events = self._log.read(partition, after=at.seq, limit=READ)
        resting = time.monotonic() < state.retry_at
        if forgotten_by(events, after=at.forgotten):
            self._forget(state, state.store, events)
        if resting or len(events) == READ:
            self._forget_ahead(partition, state, state.store)
        for old in state.retired:
            self._forget_ahead(partition, state, old)
        if state.unscrubbed:
            scrubbed = [store.scrub() for store in (state.store, *state.retired)]
            state.unscrubbed = not all(scrubbed)
        if resting or not events:
            return False
        try:
            self._embed_events(state.store, events, after=at.seq)
        except Unavailable as e:
            self._rest(partition, state, e)
            return False
        if state.failures:
            log_.warning("p%d: the model answers again", partition)
            state.failures = 0
        self._swap(partition, state)
        return len(events) == READ

    def _rest(self, partition: int, state: _Partition, error: Unavailable) -> None:
        pause = min(LONGEST_PAUSE, max(float(error.retry_after), 0.25 * 2.0 ** min(state.failures, 10)))
        if not state.failures:
            log_.warning("p%d: %s; vectors wait, nothing else does", partition, error.message)
        state.failures += 1
        state.retry_at = time.monotonic() + pause

    def _swap(self, partition: int, state: _Partition) -> None:
        if state.retired and state.store.complete:
            for old in state.retired:
                old.close()
                discard(old.path)
                log_.warning("p%d: re-embedding is done, %s is gone", partition, old.path.name)
            state.retired.clear()

    # forgetting

    def _forget(self, state: _Partition, store: VectorStore, events: Sequence[Event]) -> None:
        """`events` reach from no later than the store's forgetting cursor to behind it."""
        after = store.checkpoint.forgotten
        forgotten = forgotten_by(events, after=after)
        if forgotten:
            self._texts.forget()
            state.unscrubbed = True
        store.forget(forgotten, after=after, upto=events[-1].position.seq)

    def _forget_ahead(self, partition: int, state: _Partition, store: VectorStore) -> None:
        for _ in range(AHEAD_ROUNDS):
            events = self._log.read(partition, after=store.checkpoint.forgotten, limit=AHEAD)
            if not events:
                return
            self._forget(state, store, events)

    # embedding

    def _embed_events(self, store: VectorStore, events: Sequence[Event], *, after: int) -> None:
        """In batches of about BATCH texts, each committed with its checkpoint. What is archived leaves, what is revived
        is embedded anew."""
        begun, held = 0, 0
        waiting: dict[int, tuple[Event, Texts]] = {}
        refused: list[tuple[Event, str]] = []
        dropped: list[tuple[Event, int]] = []
        for i, event in enumerate(events):
            try:
                if event.type in _FADING:
                    for doc in faded_by(event):
                        waiting.pop(doc, None)
                        dropped.append((event, doc))
                for texts in self._texts_of(event):
                    waiting[texts.doc] = event, texts
                    held += len(texts.chunks)
            except (KeyError, TypeError, ValueError) as e:
                refused.append((event, type(e).__name__))
            if held >= BATCH or i + 1 == len(events):
                self._commit(store, events[begun : i + 1], list(waiting.values()), refused, dropped, after=after)
                after, begun, held = event.position.seq, i + 1, 0
                waiting, refused, dropped = {}, [], []

    def _texts_of(self, event: Event) -> Iterator[Texts]:
        """What of an event is embedded now."""
        if event.type != REVIVED:
            texts = texts_of(event)
            if texts is not None:
                yield texts
            return
        for _, seq in (*event.facts["claims"], *event.facts["events"]):
            texts = texts_of(self._log.fetch(Position(event.position.partition, seq)))
            if texts is not None:
                yield texts

    def _commit(
        self,
        store: VectorStore,
        events: Sequence[Event],
        waiting: Sequence[tuple[Event, Texts]],
        refused: list[tuple[Event, str]],
        dropped: Sequence[tuple[Event, int]],
        *,
        after: int,
    ) -> None:
        found, errors = self._texts.vectors(store, [chunk for _, texts in waiting for chunk in texts.chunks])
        numbers = {event.namespace: store.namespace(event.namespace, event.position.seq) for event in events}
        documents: list[Document] = []
        aside = [(2 * event.position.seq, numbers[event.namespace], code) for event, code in refused]
        for event, texts in waiting:
            keys = [key for chunk in texts.chunks if (key := self._texts.key(chunk)) in found]
            ns = numbers[event.namespace]
            if keys:
                rows = np.stack([found[key] for key in keys])
                documents.append(Document(doc=texts.doc, ns=ns, keys=keys, vectors=rows))
            else:
                aside.append((texts.doc, ns, errors[self._texts.key(texts.chunks[0])]))
        gone: dict[int, list[int]] = {}
        for event, doc in dropped:
            gone.setdefault(numbers[event.namespace], []).append(doc)
        last = events[-1]
        store.add(documents, after=after, seq=last.position.seq, digest=last.digest, refused=aside, dropped=gone)

    # running

    def stands(self, partition: int) -> bool:
        return _stands_on(self._partitions[partition].store, self._log, partition)

    def positions(self) -> dict[int, int]:
        places = {}
        for p, state in self._partitions.items():
            at = state.store.checkpoint
            places[p] = max(at.seq, at.forgotten) if state.failures else at.seq
        return places

    def patience(self) -> float:
        now, seconds = time.monotonic(), IDLE_SECONDS
        for state in self._partitions.values():
            if state.failures:
                seconds = min(seconds, max(0.01, state.retry_at - now))
            if state.unscrubbed:
                seconds = min(seconds, RETRY_SECONDS)
        return seconds
