"""Position tokens of callers, and how far the read models have read."""

from __future__ import annotations

from taishi.ingest.envelope import Position
from taishi.ingest.errors import InvalidInput, Unavailable

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


def read_to(models: ReadModels, partition: int) -> int:
    """Sequence number of the last event folded; -1 before there is a read model."""
    try:
        return models.at(partition).checkpoint()
    except Unavailable:
        return -1
