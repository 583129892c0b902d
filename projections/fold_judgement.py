"""What callers think of memories, folded: confirmations, settled conflicts, feedback on what recall showed.

Counts are kept by memory id, apart from the claim's row, so that they hold whenever the claim itself is read. A memory
shown is judged once: saying it again changes the verdict and adds none. Exposures are kept for the last few recalls of
a namespace; feedback may come before its exposure does: in logs that were written when that was not waited for.
"""

from __future__ import annotations

from typing import Final

import orjson

from taishi.ingest.envelope import Event
from taishi.ingest.instants import DAY

from . import uses
from .model import Model
from .weights import weigh_confirmed

_LAST_READ: Final = "SELECT read_at FROM standing WHERE ns = ? AND memory_id = ? AND read_at IS NOT NULL"
_READ: Final = """INSERT INTO standing (ns, memory_id, reads, read_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (ns, memory_id) DO UPDATE SET reads = reads + excluded.reads,
    read_at = max(ifnull(read_at, 0), excluded.read_at)"""
EXPOSURES: Final = 1_000
"""Recalls of one namespace that are remembered, the newest."""
ALL_ITEMS: Final = -1
"""Feedback on a whole answer."""


def confirmed(model: Model, event: Event, ns: int) -> None:
    model.execute(
        "INSERT INTO standing (ns, memory_id, confirmations, confirmed_at) VALUES (?, ?, 1, ?)"
        " ON CONFLICT (ns, memory_id) DO UPDATE SET confirmations = confirmations + 1,"
        " confirmed_at = max(ifnull(confirmed_at, 0), excluded.confirmed_at)",
        (ns, event.facts["claim"], event.recorded_at),
    )
    uses.keep(model, event, ns, event.facts["claim"])
    weigh_confirmed(model, ns, event.facts["claim"])


def resolved(model: Model, event: Event, ns: int) -> None:
    """The slot is named by its fingerprint; by the id of a claim in it, it is known only once that claim is."""
    facts = event.facts
    named = facts["slot"]
    row = model.execute("SELECT slot FROM claims WHERE claim_id = ? AND ns = ?", (named, ns)).fetchone()
    slot = int(row[0]) if row is not None else model.slot(ns, named).number
    winner = None if facts.get("coexist") else facts["winner"]
    model.execute(
        "INSERT INTO resolutions (seq, ns, slot, event_id, at, winner) VALUES (?, ?, ?, ?, ?, ?)",
        (event.position.seq, ns, slot, event.event_id, event.recorded_at, winner),
    )
    model.replay(slot)


def judged(model: Model, event: Event, ns: int) -> None:
    """The model audit's verdict on a pair of claims: near copies (`merge`) or not (`keep`). The last one counts."""
    one, other = sorted(event.facts["claims"])
    model.execute(
        "INSERT OR REPLACE INTO verdicts (ns, claim_a, claim_b, same, at, seq) VALUES (?, ?, ?, ?, ?, ?)",
        (ns, one, other, event.facts["verdict"] == "merge", event.recorded_at, event.position.seq),
    )


def recalled(model: Model, event: Event, ns: int) -> None:
    """A memory was read on as many days (UTC) as a recall showed it on."""
    facts, at = event.facts, event.recorded_at
    shown = facts["items"]
    for memory_id in dict.fromkeys(i for i, kind in zip(shown, facts["kinds"], strict=True) if kind == "claim"):
        last = model.execute(_LAST_READ, (ns, memory_id)).fetchone()
        another_day = last is None or last[0] // DAY < at // DAY
        model.execute(_READ, (ns, memory_id, another_day, at))
        if another_day:
            uses.keep(model, event, ns, memory_id)
    number = model.execute("SELECT exposed FROM namespaces WHERE ns = ?", (ns,)).get
    model.execute("UPDATE namespaces SET exposed = exposed + 1 WHERE ns = ?", (ns,))
    model.execute(
        "INSERT OR REPLACE INTO exposures (ns, place, exposure, at, items, seq) VALUES (?, ?, ?, ?, ?, ?)",
        (
            ns, number % EXPOSURES, facts["exposure"], event.recorded_at, orjson.dumps(shown).decode(),
            event.position.seq,
        ),
    )  # fmt: skip
    early = "SELECT item, helpful FROM feedback WHERE ns = ? AND exposure = ? AND NOT counted"
    for item, helpful in model.rows(early, (ns, facts["exposure"])):
        _count(model, event, ns, facts["exposure"], item, None, bool(helpful))


def feedback(model: Model, event: Event, ns: int) -> None:
    exposure, dot, number = str(event.facts["exposure"]).rpartition(".")
    if not (dot and number.isascii() and number.isdigit()):
        exposure, number = event.facts["exposure"], str(ALL_ITEMS)
    item, helpful = int(number), bool(event.facts["helpful"])
    key = (ns, exposure, item)
    was = model.execute(
        "SELECT helpful, counted FROM feedback WHERE ns = ? AND exposure = ? AND item = ?", key
    ).fetchone()
    model.execute("INSERT OR REPLACE INTO feedback VALUES (?, ?, ?, ?, ?)", (*key, helpful, was is not None and was[1]))
    _count(model, event, ns, exposure, item, bool(was[0]) if was is not None and was[1] else None, helpful)


def _count(
    model: Model, event: Event, ns: int, exposure: str, item: int, was: bool | None, helpful: bool
) -> None:
    """Moves what was shown from one verdict (None: no counted one) to another."""
    row = model.execute("SELECT items FROM exposures WHERE ns = ? AND exposure = ?", (ns, exposure)).fetchone()
    if row is None:
        return
    items = orjson.loads(row[0])
    for memory_id in items if item == ALL_ITEMS else items[item : item + 1]:
        model.execute(
            "INSERT INTO standing (ns, memory_id, helpful, unhelpful) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (ns, memory_id) DO UPDATE SET helpful = helpful + excluded.helpful,"
            " unhelpful = unhelpful + excluded.unhelpful",
            (ns, memory_id, int(helpful) - int(was is True), int(not helpful) - int(was is False)),
        )
        uses.keep(model, event, ns, memory_id)
    model.execute("UPDATE feedback SET counted = 1 WHERE ns = ? AND exposure = ? AND item = ?", (ns, exposure, item))
