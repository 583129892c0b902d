"""What stating and taking back claims does to the read model.

Bodies that were erased fold from their facts: the slot keeps an opaque rectangle and no word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import orjson

from taishi.ingest.claims import Claim, ClaimFacts
from taishi.ingest.envelope import Event
from taishi.ingest.normal import normal_value
from taishi.ingest.registry import default_registry

from .beliefs import Statement
from .dedup import joint_key
from .fold_late import Forbidden, erase_unread, forbidden, withheld
from .fold_lifecycle import bring_back
from .model import Model
from .rendering import render_claim, searchable
from .schema import document_of_claim
from .slot_history import RemovalReason
from .weights import weigh_slot, weight_if_confirmed, weight_of_new

CLAIM_CONTENT: Final = (
    "subject", "subject_key", "predicate", "value", "negated", "qualifiers", "modality", "text", "speaker",
    "own_importance", "confidence", "occurs_from", "occurs_to", "grain", "temporary", "rule",
)  # fmt: skip
_CLAIM_FACTS: Final = (
    "seq", "ns", "claim_id", "event_id", "event_type", "slot", "value_fp", "negates", "valid_from", "valid_to",
    "to_inferred", "known_from", "source", "recorded_at", "strength", "correction",
    "from_inferred", "succeeds", "generation", "key_id", "made_from", "about", "kept_from", "expired_at", "expired_seq",
    "archived_at", "archived_seq", "faded_why", "importance",
)  # fmt: skip
_RAW: Final = "SELECT seq, event_id, kept_from, archived_at FROM events WHERE event_id = ? AND ns = ?"
_FADED: Final = (
    "SELECT expired_at, expired_seq, archived_at, archived_seq, faded_why FROM standing WHERE ns = ? AND memory_id = ?"
)
_NOT_FADED: Final = (None,) * 5
_INSERT_CLAIM: Final = (
    f"INSERT INTO claims ({', '.join(_CLAIM_FACTS + CLAIM_CONTENT)})"
    f" VALUES ({', '.join('?' * len(_CLAIM_FACTS + CLAIM_CONTENT))})"
)


def stated(model: Model, event: Event, ns: int) -> None:
    facts = ClaimFacts.from_header(event.facts["claim"])
    seq = event.position.seq
    evidence = evidence_of(model, event, ns)
    rests_on = {raw.seq: raw.event_id for raw in evidence}
    kept_from = max((raw.kept_from for raw in evidence), default=event.appended_at)
    faded = model.execute(_FADED, (ns, facts.claim_id)).fetchone() or _NOT_FADED
    archived_at = faded[2]
    if archived_at is None and any(raw.archived_at is not None for raw in evidence):
        bring_back(model, ns, list(rests_on))
    gone = _forgotten_before(event)
    forbidding = None if gone is not None else forbidden(model, event, facts, ns, rests_on)
    body = event.body if forbidding is None and gone is None else None
    known = event.recorded_at if facts.known_from is None else facts.known_from
    start = event.recorded_at if facts.valid_from is None else facts.valid_from
    content: tuple[Any, ...] = (None,) * len(CLAIM_CONTENT)
    about: tuple[str, str] | None = None
    if body is not None:
        claim = Claim.from_body(body)
        content = _content(claim)
        about = joint_key(claim, default_registry())
        model.execute(_ONE_CLAIM_MORE, (ns, normal_value(claim.subject), known, seq))
        if archived_at is None:
            shown = render_claim(claim)
            model.index(document_of_claim(seq), ns, searchable(shown, claim.subject, claim.value))
    slot = model.slot(ns, facts.slot, about)
    source = min(rests_on, default=seq)
    weight: float | None = None
    if body is not None:
        weight = claim.importance
        if slot.is_new:
            weight = weight_if_confirmed(model, ns, facts.claim_id, claim.importance)
        else:
            weight = weight_of_new(
                model, ns, slot.number, source, facts.claim_id, facts.value, facts.negates, claim.importance
            )
    model.execute(
        _INSERT_CLAIM,
        (
            seq, ns, facts.claim_id, event.event_id, event.type, slot.number, facts.value, facts.negates, start,
            facts.valid_to, facts.to_inferred, known, source, event.recorded_at, facts.strength, facts.correction,
            facts.from_inferred, facts.succeeds, event.generation, event.key_id,
            _made_from(model, event, facts, ns), facts.subject, kept_from,
            *faded, weight, *content,
        ),
    )  # fmt: skip
    _quote(model, event, seq, rests_on)
    if forbidding is not None:
        withheld(model, ns, seq, forbidding)
        model.replay(slot.number)
        return
    if gone is not None:
        erase_unread(model, seq, gone)
    if _is_ruled_on(model, ns, facts.claim_id, seq) or gone is not None:
        model.replay(slot.number)
        weigh_slot(model, ns, slot.number)
        return
    if facts.was == "wrong":
        _remove(model, event, ns, facts.targets, "wrong")
        slot = model.slot(ns, facts.slot)  # it may have been replayed
    if not model.admit(
        slot,
        Statement(
            seq, facts.value, facts.negates, start, facts.valid_to, facts.to_inferred, known, facts.strength,
            facts.correction, source, facts.from_inferred, facts.succeeds,
        ),
    ):  # fmt: skip
        weigh_slot(model, ns, slot.number)


def _forgotten_before(event: Event) -> Forbidden | None:
    """The tombstone that a claim carried over from another generation had met there, before this one was begun."""
    gone = event.facts.get("forgotten")
    return None if gone is None else Forbidden(seq=gone[0], at=gone[1])


def _is_ruled_on(model: Model, ns: int, claim_id: str, seq: int) -> bool:
    """Takes a claim back on which a caller had ruled before it was read; the first verdict counts."""
    ruling = model.execute(
        "SELECT at, seq, why FROM rulings WHERE ns = ? AND claim_id = ?", (ns, claim_id)
    ).fetchone()
    if ruling is None:
        return False
    at, by, why = ruling
    take_back = "UPDATE claims SET removed_at = ?, removed_why = ?, removed_seq = ? WHERE seq = ?"
    model.execute(take_back, (at, why, by, seq))
    return True


def _content(claim: Claim) -> tuple[Any, ...]:
    qualifiers = (
        orjson.dumps(dict(claim.qualifiers), option=orjson.OPT_SORT_KEYS).decode() if claim.qualifiers else None
    )
    return (
        claim.subject, normal_value(claim.subject), claim.predicate, claim.value, claim.negated, qualifiers,
        claim.modality, render_claim(claim), claim.said_by, claim.importance, claim.confidence,
        claim.occurs_from, claim.occurs_to, claim.grain, claim.temporary, claim.rule,
    )  # fmt: skip


class RawEvent(NamedTuple):
    """A raw event that a claim rests on."""

    seq: int
    event_id: str
    kept_from: int
    archived_at: int | None


def evidence_of(model: Model, event: Event, ns: int) -> list[RawEvent]:
    """The raw events a claim rests on; none where it was stated outright. One that was carried over from another
    extraction generation rests on that one's event, and names its words beside."""
    found: list[RawEvent] = []
    for event_id in dict.fromkeys(event.facts.get("carried", event.evidence)):
        found += [RawEvent(*row) for row in model.rows(_RAW, (event_id, ns))]
    return found


def _made_from(model: Model, event: Event, facts: ClaimFacts, ns: int) -> int | None:
    """The claim whose words a command's claim repeats (an ending said of it): it goes where that one goes."""
    if not (facts.targets and event.evidence):
        return None
    model.execute(
        "INSERT INTO takings (ns, target, claim) VALUES (?, ?, ?)", (ns, facts.targets[0], event.position.seq)
    )
    rows = model.rows("SELECT seq FROM claims WHERE claim_id = ? AND ns = ? ORDER BY seq", (facts.targets[0], ns))
    return int(rows[-1][0]) if rows else None


def _quote(model: Model, event: Event, seq: int, rests_on: Mapping[int, str]) -> None:
    for raw, event_id in rests_on.items():
        span = span_in(event, event_id)
        model.execute("INSERT INTO evidence (claim, event, start, stop) VALUES (?, ?, ?, ?)", (seq, raw, *span))


def span_in(event: Event, event_id: str) -> tuple[int | None, int | None]:
    """Where in a raw event's text the claim's quote stands; (None, None) where that is not known."""
    quote = (event.body or {}).get("quote")
    return (quote[1], quote[2]) if quote is not None and quote[0] == event_id else (None, None)


_ONE_CLAIM_MORE: Final = """INSERT INTO subjects (ns, subject_key, claims, known_from, seq) VALUES (?, ?, 1, ?, ?)
    ON CONFLICT (ns, subject_key) DO UPDATE SET claims = claims + 1,
    known_from = min(known_from, excluded.known_from), seq = min(seq, excluded.seq)"""


def one_claim_less(model: Model, ns: int, subject: str) -> None:
    """Its words are erased: a name goes with the last of those that speak of it."""
    model.execute("UPDATE subjects SET claims = claims - 1 WHERE ns = ? AND subject_key = ?", (ns, subject))
    model.execute("DELETE FROM subjects WHERE ns = ? AND subject_key = ? AND claims <= 0", (ns, subject))


def _remove(model: Model, event: Event, ns: int, targets: Iterable[str], why: RemovalReason) -> None:
    """Claims that are not believed from the event's recorded time on. The first verdict on a claim counts."""
    slots: set[int] = set()
    for claim_id in targets:
        model.execute(
            "INSERT OR IGNORE INTO rulings (ns, claim_id, at, seq, why) VALUES (?, ?, ?, ?, ?)",
            (ns, claim_id, event.recorded_at, event.position.seq, why),
        )
        live = "SELECT seq, slot FROM claims WHERE claim_id = ? AND ns = ? AND removed_at IS NULL"
        for seq, slot in model.rows(live, (claim_id, ns)):
            model.execute(
                "UPDATE claims SET removed_at = ?, removed_why = ?, removed_seq = ? WHERE seq = ?",
                (event.recorded_at, why, event.position.seq, seq),
            )
            slots.add(slot)
    for slot in sorted(slots):
        model.replay(slot)
        weigh_slot(model, ns, slot)


def retracted(model: Model, event: Event, ns: int) -> None:
    _remove(model, event, ns, event.facts["targets"], "wrong" if event.facts.get("was") == "wrong" else "retracted")
