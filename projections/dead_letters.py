"""Events that could not be folded, as an operator sees them, and asking that they be tried again.

The one change made from outside the worker is the mark `retry`, which the worker looks for between batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .store import open_connection
from .worker import model_path


class DeadLetter(NamedTuple):
    """`error` is the kind of the failure, `waits` for one that only stands behind another. `at` is an instant."""

    partition: int
    seq: int
    namespace: str
    type: str
    error: str
    attempts: int
    state: str
    at: int


def dead_letters(folder: Path, partitions: int, *, namespace: str | None = None) -> Iterator[DeadLetter]:
    """Of one generation's read models, by partition and position."""
    sql = (
        "SELECT d.seq, n.name, d.type, d.error, d.attempts, d.state, d.at FROM dead_letters d"
        " JOIN namespaces n ON n.ns = d.ns WHERE ?1 IS NULL OR n.name = ?1 ORDER BY d.seq"
    )
    for partition in range(partitions):
        path = model_path(folder, partition)
        if path.exists():
            connection = open_connection(path, read_only=True)
            rows: list[tuple[Any, ...]] = connection.execute(sql, (namespace,)).fetchall()
            connection.close()
            yield from (DeadLetter(partition, *row) for row in rows)


def ask_again(folder: Path, letters: Sequence[DeadLetter]) -> int:
    """Has the worker try these again. How many of them are still parked."""
    asked = 0
    for partition in sorted({letter.partition for letter in letters}):
        connection = open_connection(model_path(folder, partition))
        with connection:
            for letter in letters:
                if letter.partition == partition:
                    mark = "UPDATE dead_letters SET state = 'retry' WHERE seq = ? AND state != 'skipped'"
                    connection.execute(mark, (letter.seq,))
                    asked += connection.changes()
        connection.close()
    return asked
