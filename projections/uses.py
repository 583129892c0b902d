"""How a memory had been used by when: `standing` as it was, so that a past point is not judged by what came later.

A version is kept of each confirmation, verdict and revival, and of the first recall of a day: being read counts by the
day (`activation`).
"""

from __future__ import annotations

from typing import Final

from taishi.ingest.envelope import Event

from .model import Model

_KEEP: Final = """INSERT OR REPLACE INTO uses
    (ns, memory_id, seq, at, confirmations, known_at, read_at, reads, helpful, unhelpful)
    SELECT ns, memory_id, ?, ?, confirmations, nullif(max(ifnull(confirmed_at, 0), ifnull(revived_at, 0)), 0),
        read_at, reads, helpful, unhelpful FROM standing WHERE ns = ? AND memory_id = ?"""


def keep(model: Model, event: Event, ns: int, memory_id: str) -> None:
    """After `event` changed the memory's standing."""
    model.execute(_KEEP, (event.position.seq, event.recorded_at, ns, memory_id))


def erase(model: Model, ns: int, memory_id: str) -> None:
    for table in ("standing", "uses"):
        model.execute(f"DELETE FROM {table} WHERE ns = ? AND memory_id = ?", (ns, memory_id))
