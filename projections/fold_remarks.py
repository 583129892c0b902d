"""Reasons and notes that callers gave in words, kept by what they speak of, so that a forget finds them.

Only where they stand is kept: the words are in the event's body alone.
"""

from __future__ import annotations

from typing import Final

import orjson

from taishi.ingest.envelope import Event

from .model import Model

REMARKED: Final = frozenset({
    "claim.retracted", "conflict.resolved", "feedback.given", "claim.forgotten", "scope.forgotten", "event.skipped",
})
"""Types whose body holds a reason or a note, and nothing else."""
ANYTHING: Final = ""
"""Stands for the memory of a remark that is about none: it goes with its namespace."""


def remark(model: Model, event: Event, ns: int) -> None:
    """Of an event of a remarked type. One without words, or erased, leaves nothing."""
    if not event.body:
        return
    seq, at = event.position.seq, event.recorded_at
    for memory_id in _about(model, event, ns) or [ANYTHING]:
        model.execute(
            "INSERT OR IGNORE INTO remarks (seq, memory_id, ns, event_id, at, key_id) VALUES (?, ?, ?, ?, ?, ?)",
            (seq, memory_id, ns, event.event_id, at, event.key_id),
        )


def _about(model: Model, event: Event, ns: int) -> list[str]:
    facts = event.facts
    match event.type:
        case "claim.retracted":
            return list(facts["targets"])
        case "conflict.resolved":
            return list(facts.get("claims", ()))
        case "feedback.given":
            exposure, dot, number = str(facts["exposure"]).rpartition(".")
            row = model.execute(
                "SELECT items FROM exposures WHERE ns = ? AND exposure = ?", (ns, exposure or facts["exposure"])
            ).fetchone()
            shown = [] if row is None else orjson.loads(row[0])
            return shown[int(number) : int(number) + 1] if dot and number.isdecimal() else shown
        case _:
            return []
