"""How far the read models have read: whole numbers that are 0 exactly when all that was written is answered from.

The log's heads are read before the read models, so that what they are compared with is never older than they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taishi.ingest.envelope import Position
from taishi.ingest.errors import TaishiError
from taishi.ingest.log import EventLog
from taishi.projections.vectors import serving

from .reading import ReadModels


@dataclass(frozen=True, slots=True)
class VectorsAt:
    """Where vectors are kept. `folder` None: this deployment makes none."""

    folder: Path | None

    def checkpoint(self, partition: int) -> int | None:
        """None where there are none to wait for."""
        if self.folder is None:
            return None
        file = serving(self.folder, partition, None)
        return 0 if file is None else file.seq


def namespace_status(models: ReadModels, log: EventLog, vectors: VectorsAt, namespace: str) -> dict[str, Any]:
    """Of one namespace. What is not read yet counts by events of its partition up to the namespace's last one."""
    head = log.namespace_head(namespace)
    partition, last = head.position.partition, head.position.seq
    model = models.at(partition)
    with model.view():
        read = model.checkpoint()
        row = model.namespace(namespace)
        own = None if row is None else model.one(_DICTIONARY, row.ns)
        dead = None if row is None else model.one(_DEAD, row.ns)
    embedded = vectors.checkpoint(partition)
    return {
        "positions": {
            "head": str(Position(partition, last)),
            "read": str(Position(partition, read)),
            "vectors": None if embedded is None else str(Position(partition, embedded)),
        },
        "lag": _lag(log, partition, last=last, read=read),
        "pending_extractions": (0 if row is None else row.pending) + max(head.raw_seq - read, 0),
        "pending_vectors": 0 if embedded is None else max(last - embedded, 0),
        "dead_letters": 0 if dead is None else int(dead[0]),
        "failed_extractions": 0 if row is None else row.failed,
        "held": None if last <= read else held(log, partition, read),
        "generation": model.generation,
        "dictionary": None if own is None else {"words": own[1], "position": str(Position(partition, own[0]))},
    }


def whole_status(models: ReadModels, log: EventLog, vectors: VectorsAt) -> dict[str, Any]:
    """Of every partition, summed."""
    positions: dict[str, Any] = {}
    standing: list[dict[str, str]] = []
    lag = pending = waiting = dead = failed = 0
    for partition in range(models.partitions):
        last = log.head(partition)
        model = models.at(partition)
        with model.view():
            read = model.checkpoint()
            sums = model.one("SELECT sum(pending), sum(failed) FROM namespaces") or (0, 0)
            parked = model.one("SELECT count(*) FROM dead_letters WHERE state != 'skipped'") or (0,)
        embedded = vectors.checkpoint(partition)
        if read < last and (why := held(log, partition, read)) is not None:
            standing.append(why)
        positions[f"p{partition}"] = {"head": last, "read": read, "vectors": embedded}
        lag += _lag(log, partition, last=last, read=read)
        pending += int(sums[0] or 0) + max(last - read, 0)
        waiting += 0 if embedded is None else max(last - embedded, 0)
        dead += int(parked[0])
        failed += int(sums[1] or 0)
    return {
        "positions": positions,
        "lag": lag,
        "pending_extractions": pending,
        "pending_vectors": waiting,
        "dead_letters": dead,
        "failed_extractions": failed,
        "held": standing,
        "generation": models.generation(),
    }


def _lag(log: EventLog, partition: int, *, last: int, read: int) -> int:
    """Events up to `last` that are still to be read: all of them where the read model knows more than the log holds,
    which lost its end and is about to be read anew."""
    if last < read and log.head(partition) < read:
        return last
    return max(last - read, 0)


def held(log: EventLog, partition: int, read: int) -> dict[str, str] | None:
    """Why the event behind `read` cannot be read, where it cannot (on a full disk, too): its partition stands still."""
    try:
        log.read(partition, after=read, limit=1)
    except TaishiError as e:
        return {"position": str(Position(partition, read + 1)), "reason": e.slug, "detail": e.message}
    return None


_DICTIONARY = "SELECT seq, json_array_length(words) FROM dictionaries WHERE ns = ?"
_DEAD = "SELECT count(*) FROM dead_letters WHERE ns = ? AND state != 'skipped'"
