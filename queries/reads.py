"""Who read a memory: the recalls that showed it, as far as the last ones of its namespace are kept; did it help?

The read model knows which recalls; who asked is told by the log, and left out where that does not answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import orjson

from taishi.ingest.envelope import Position
from taishi.ingest.errors import TaishiError
from taishi.ingest.instants import render
from taishi.ingest.log import EventLog

from .reading import ReadModel

SHOWN: Final = 20

_SHOWING: Final = (
    "SELECT exposure, at, seq, items FROM exposures"
    " WHERE EXISTS (SELECT 1 FROM json_each(items) WHERE value IN carray(?)) AND ns = ? ORDER BY seq DESC LIMIT ?"
)
_VERDICT: Final = "SELECT helpful FROM feedback WHERE ns = ? AND exposure = ? AND item IN (?, -1) ORDER BY item DESC"


def reads(model: ReadModel, ns: int, memory_ids: Sequence[str], log: EventLog) -> list[dict[str, Any]]:
    """Newest first. `reader` is what the asking side told of itself, {} where nothing is known."""
    told = []
    for exposure, at, seq, items in model.rows_named(_SHOWING, memory_ids, ns, SHOWN):
        place = next(n for n, memory_id in enumerate(orjson.loads(items)) if memory_id in memory_ids)
        verdict = model.one(_VERDICT, ns, exposure, place)
        told.append(
            {
                "exposure_id": f"{exposure}.{place}",
                "at": render(at),
                "position": str(Position(model.partition, seq)),
                "rank": place + 1,
                **_reader(model.partition, seq, log),
                "helpful": None if verdict is None else bool(verdict[0]),
            }
        )
    return told


def _reader(partition: int, seq: int, log: EventLog) -> dict[str, Any]:
    try:
        event = log.fetch(Position(partition, seq))
    except TaishiError:
        return {"session": None, "reader": {}}
    return {"session": event.session, "reader": dict(event.facts.get("reader", {}))}
