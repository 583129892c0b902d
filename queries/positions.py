"""Position tokens of callers, and how far the read models have read."""

from __future__ import annotations

from taishi.ingest.envelope import Position
from taishi.ingest.errors import InvalidInput, Unavailable
from taishi.ingest.log import EventLog

from .reading import ReadModels


def position_of(models: ReadModels, token: str | None, namespace: str, *, field: str) -> Position | None:
    """Raises InvalidInput where it is no token, or one of another partition."""
    if token is None:
        return None
    try:
        position = Position.parse(token)
    except ValueError as e:
        raise InvalidInput(str(e), field=field) from None
    partition = models.partition_of(namespace)
    if position.partition != partition:
        raise InvalidInput(f"the namespace lives in partition p{partition}", field=field)
    return position


def reached(log: EventLog, position: Position, *, field: str) -> None:
    """Raises InvalidInput where the log has not come so far: waiting would not help."""
    head = log.head(position.partition)
    if position.seq > head:
        raise InvalidInput(
            f"the log ends at {Position(position.partition, head)}: give a position that a write returned", field=field
        )


def read_to(models: ReadModels, partition: int) -> int:
    """Sequence number of the last event folded; -1 before there is a read model."""
    try:
        return models.at(partition).checkpoint()
    except Unavailable:
        return -1
