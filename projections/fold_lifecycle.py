"""What fading does to the read model: memories are taken to be over, leave normal recall, or come back into it.

Nothing of a claim is lost by it: rows, rectangles and evidence stay, asked by id they answer. What is archived leaves
the index of words; so does a raw event all of whose claims have. The state is kept by memory id as well (`standing`),
so that it holds for whichever row says the same from the same words, read before or after.

Maintenance decides on what it has read; what was confirmed or revived since then stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from taishi.ingest.envelope import Event

from . import uses
from .model import Model
from .rendering import searchable, spoken
from .schema import document_of_claim, document_of_event

_MARK: Final = """INSERT INTO standing (ns, memory_id, {0}_at, {0}_seq, faded_why) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (ns, memory_id) DO UPDATE SET {0}_at = excluded.{0}_at, {0}_seq = excluded.{0}_seq,
    faded_why = excluded.faded_why"""
_NOT_FADED: Final = "expired_at = NULL, expired_seq = NULL, archived_at = NULL, archived_seq = NULL, faded_why = NULL"


def expired(model: Model, event: Event, ns: int) -> None:
    mark = event.recorded_at, event.position.seq, event.facts["reason"]
    for memory_id in _standing_still(model, event, ns):
        model.execute(_MARK.format("expired"), (ns, memory_id, *mark))
        model.execute(
            "UPDATE claims SET expired_at = ?, expired_seq = ?, faded_why = ? WHERE claim_id = ? AND ns = ?",
            (*mark, memory_id, ns),
        )


def archived(model: Model, event: Event, ns: int) -> None:
    ids = _standing_still(model, event, ns)
    if not ids:
        return
    at = event.recorded_at
    mark = at, event.position.seq, event.facts["reason"]
    for memory_id in ids:
        model.execute(_MARK.format("archived"), (ns, memory_id, *mark))
        for (seq,) in model.rows("SELECT seq FROM claims WHERE claim_id = ? AND ns = ?", (memory_id, ns)):
            model.unindex(document_of_claim(seq), ns)
            model.execute(
                "UPDATE claims SET archived_at = ?, archived_seq = ?, faded_why = ? WHERE seq = ?", (*mark, seq)
            )
    for event_id, _ in event.facts["events"]:
        for seq, unfaded in model.rows(_UNFADED, (event_id, ns)):
            if not unfaded:
                model.unindex(document_of_event(seq), ns)
                model.execute("UPDATE events SET archived_at = ? WHERE seq = ?", (at, seq))
    model.execute(_COUNT, (ns,))


def revived(model: Model, event: Event, ns: int) -> None:
    for memory_id, _ in event.facts["claims"]:
        model.execute(
            "INSERT INTO standing (ns, memory_id, revived_at) VALUES (?, ?, ?) ON CONFLICT (ns, memory_id)"
            f" DO UPDATE SET {_NOT_FADED}, revived_at = excluded.revived_at",
            (ns, memory_id, event.recorded_at),
        )
        uses.keep(model, event, ns, memory_id)
        rows = model.rows(_WORDS, (memory_id, ns))
        for seq, archived_at, text, subject, value in rows:
            if archived_at is not None and text is not None:
                model.index(document_of_claim(seq), ns, searchable(text, subject, value))
            bring_back(model, ns, [row[0] for row in model.rows("SELECT event FROM evidence WHERE claim = ?", (seq,))])
        model.execute(f"UPDATE claims SET {_NOT_FADED} WHERE claim_id = ? AND ns = ?", (memory_id, ns))
    model.execute(_COUNT, (ns,))


def bring_back(model: Model, ns: int, events: Sequence[int]) -> None:
    """Raw events (by position) into the index again, if they had left it."""
    for seq in events:
        row = model.execute(
            "SELECT text, speaker FROM events WHERE seq = ? AND archived_at IS NOT NULL", (seq,)
        ).fetchone()
        if row is not None:
            model.execute("UPDATE events SET archived_at = NULL WHERE seq = ?", (seq,))
            if row[0]:
                model.index(document_of_event(seq), ns, spoken(*row))


def _standing_still(model: Model, event: Event, ns: int) -> list[str]:
    """The event's memory ids; none where one of them was confirmed or revived after maintenance looked."""
    ids = [memory_id for memory_id, _ in event.facts["claims"]]
    for memory_id in ids:
        row = model.execute(_TOUCHED, (ns, memory_id)).fetchone()
        if row is not None and row[0] > event.facts["since"]:
            return []
    return ids


_COUNT: Final = "UPDATE namespaces SET fadings = fadings + 1 WHERE ns = ?"
_TOUCHED: Final = """SELECT max(ifnull(confirmed_at, 0), ifnull(revived_at, 0)) FROM standing
    WHERE ns = ? AND memory_id = ?"""
_UNFADED: Final = """SELECT e.seq, EXISTS (SELECT 1 FROM evidence v JOIN claims c ON c.seq = v.claim
        WHERE v.event = e.seq AND c.archived_at IS NULL AND c.removed_at IS NULL)
    FROM events e WHERE e.event_id = ? AND e.ns = ? AND e.archived_at IS NULL AND e.erased_at IS NULL"""
_WORDS: Final = "SELECT seq, archived_at, text, subject, value FROM claims WHERE claim_id = ? AND ns = ?"
