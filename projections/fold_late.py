"""Words said before a forgetting and read only after it: they do not bring back what was forgotten.

A tombstone names what the command saw. Extraction goes on beside it: a claim may enter the log between the command's
look (`seen`) and the tombstone, or long after it, from words that wait for a model. By the tombstone's facts such a
claim is forgotten, too, when it
- was read, after `seen`, from words that the tombstone erases, or made from a claim that it names; or
- says what the tombstone forgets (`values`: slot, value, negates) or is about whom it forgets (`subjects`), and its
  words stand at or before `upto`. Words said later are new evidence.
Its rows never hold a word from then on. What the log must still do, a tombstone for these words, is *owed*: `owed`
names the claims until that comes. Facts alone decide, so that a rebuild, which reads no erased body, decides alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from taishi.ingest.claims import ClaimFacts
from taishi.ingest.envelope import Event

from .fold_extraction import settle
from .model import Model
from .schema import document_of_event

_SINCE: Final = (
    "SELECT c.seq, c.event_type = 'claim.extracted', c.source, c.made_from, s.fingerprint, c.value_fp, c.negates,"
    " c.about FROM claims c JOIN slots s ON s.slot = c.slot WHERE c.seq > ? AND c.ns = ? AND c.erased_at IS NULL"
)


class Forbidden(NamedTuple):
    """The tombstone that forbids a claim: its position and recorded time."""

    seq: int
    at: int


def said(slot: str, value: str, negates: object) -> str:
    """What a claim says, for `unsaid`."""
    return f"{slot} {value} {int(bool(negates))}"


def _forbidden_by(facts: Mapping[str, Any]) -> Iterator[str]:
    for slot, value, negates in facts.get("values", ()):
        yield said(slot, value, negates)
    yield from facts.get("subjects", ())


def forbid(model: Model, event: Event, ns: int) -> None:
    """Keeps what a tombstone forbids to be read from words at or before its `upto`."""
    for what in _forbidden_by(event.facts):
        model.execute(
            "INSERT INTO unsaid (ns, what, upto, at, tombstone) VALUES (?, ?, ?, ?, ?) ON CONFLICT (ns, what) DO UPDATE"
            " SET upto = excluded.upto, at = excluded.at, tombstone = excluded.tombstone WHERE excluded.upto > upto",
            (ns, what, event.facts["upto"], event.recorded_at, event.position.seq),
        )


def unlisted(model: Model, event: Event, ns: int) -> list[int]:
    """Claims that entered the log between the command's look and its tombstone, and go with it."""
    facts = event.facts
    if "seen" not in facts:
        return []
    erased = {seq for _, seq in facts["events"]}
    gone = {seq for _, seq in facts["claims"]}
    forbidden = set(_forbidden_by(facts))
    found: list[int] = []
    for seq, extracted, source, made_from, slot, value, negates, about in model.rows(_SINCE, (facts["seen"], ns)):
        if seq in gone:
            continue
        says = extracted and source <= facts["upto"] and not forbidden.isdisjoint((said(slot, value, negates), about))
        if says or made_from in gone or not erased.isdisjoint(_sources(model, seq)):
            found.append(seq)
            gone.add(seq)
    return found


def _sources(model: Model, claim: int) -> list[int]:
    return [row[0] for row in model.rows("SELECT event FROM evidence WHERE claim = ?", (claim,))]


def forbidden(model: Model, event: Event, facts: ClaimFacts, ns: int, sources: Collection[int]) -> Forbidden | None:
    """The tombstone by which a claim just read from older words (at `sources`) is forgotten already."""
    if event.type != "claim.extracted" or not sources:
        return None
    row = model.execute(
        "SELECT tombstone, at FROM unsaid WHERE ns = ? AND what IN (?, ?) AND upto >= ? ORDER BY tombstone LIMIT 1",
        (ns, said(facts.slot, facts.value, facts.negates), facts.subject, min(sources)),
    ).fetchone()
    return None if row is None else Forbidden(*row)


def owe(model: Model, ns: int, claim: int, tombstone: int) -> None:
    """Before the claim's evidence loses its span: where in its words it is stated, where that is still known."""
    span = model.execute("SELECT start, stop FROM evidence WHERE claim = ?", (claim,)).fetchone()
    model.execute(
        "INSERT OR REPLACE INTO owed (claim, ns, tombstone, start, stop) VALUES (?, ?, ?, ?, ?)",
        (claim, ns, tombstone, *(span or (None, None))),
    )


def erase_unread(model: Model, seq: int, by: Forbidden) -> None:
    """A claim that was folded without its content: an opaque rectangle, not believed from the tombstone on."""
    model.execute(
        "UPDATE claims SET erased_at = ?, removed_at = ?, removed_why = 'forgotten', removed_seq = ? WHERE seq = ?",
        (by.at, by.at, by.seq, seq),
    )


def withheld(model: Model, ns: int, seq: int, by: Forbidden) -> None:
    """A claim, folded without its content, that a tombstone forbade before it was read: it and its words are erased."""
    owe(model, ns, seq, by.seq)
    model.execute("UPDATE evidence SET start = NULL, stop = NULL WHERE claim = ?", (seq,))
    erase_unread(model, seq, by)
    for raw in _sources(model, seq):
        erase_raw(model, ns, raw, by.at)


def erase_raw(model: Model, ns: int, seq: int, at: int) -> None:
    row = model.execute("SELECT extraction, erased_at FROM events WHERE seq = ? AND ns = ?", (seq, ns)).fetchone()
    if row is None or row[1] is not None:
        return
    model.unindex(document_of_event(seq), ns)
    settle(model, ns, row[0], "skipped", seq)
    model.execute(
        "UPDATE events SET speaker = NULL, text = NULL, metadata = NULL, erased_at = ? WHERE seq = ?", (at, seq)
    )
