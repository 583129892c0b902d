"""The fold of one partition: what each type of event does to the read model.

`apply` is deterministic in the events alone. Types that change nothing here are folded as nothing; a type or version
this code does not know never reaches it (the reader stops there). Bodies that were erased fold from their facts: the
slot keeps an opaque rectangle and no word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import orjson

from taishi.ingest.claims import Claim, ClaimFacts
from taishi.ingest.envelope import RAW_TYPES, Event
from taishi.ingest.normal import normal_value

from .beliefs import RemovalReason, Statement
from .model import Model
from .rendering import render_claim, spoken
from .schema import document_of_claim, document_of_event

_CLAIM_CONTENT: Final = (
    "subject", "subject_key", "predicate", "value", "negated", "qualifiers", "modality", "text", "speaker",
    "importance", "confidence", "occurs_from", "occurs_to", "grain", "temporary", "rule",
)  # fmt: skip
_CLAIM_FACTS: Final = (
    "seq", "ns", "claim_id", "event_id", "event_type", "slot", "value_fp", "negates", "valid_from", "valid_to",
    "to_inferred", "known_from", "source", "recorded_at", "strength", "correction", "generation", "key_id", "made_from",
)  # fmt: skip
_INSERT_CLAIM: Final = (
    f"INSERT INTO claims ({', '.join(_CLAIM_FACTS + _CLAIM_CONTENT)})"
    f" VALUES ({', '.join('?' * len(_CLAIM_FACTS + _CLAIM_CONTENT))})"
)
_ERASE_CLAIM: Final = (
    f"UPDATE claims SET {', '.join(f'{name} = NULL' for name in _CLAIM_CONTENT)}, erased_at = ? WHERE seq = ?"
)


def apply(model: Model, event: Event) -> None:
    """Folds one event. Raises on an event whose facts make no sense: the worker decides what becomes of it."""
    handler = _HANDLERS.get(event.type)
    ns = model.namespace(event)
    if handler is not None:
        handler(model, event, ns)


# raw events


def _raw(model: Model, event: Event, ns: int) -> None:
    seq = event.position.seq
    body: Mapping[str, Any] = event.body or {}
    text, speaker = body.get("text"), body.get("speaker")
    metadata = body.get("metadata")
    model.execute(
        "INSERT INTO events (seq, ns, event_id, type, session, actor_id, role, origin, session_kind, said_at,"
        " recorded_at, key_id, speaker, text, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            seq, ns, event.event_id, event.type, event.session, event.actor.id, event.actor.role, event.origin,
            event.session_kind, event.said_at, event.recorded_at, event.key_id, speaker, text,
            None if not metadata else orjson.dumps(metadata, option=orjson.OPT_SORT_KEYS).decode(),
        ),
    )  # fmt: skip
    model.execute("UPDATE namespaces SET pending = pending + 1 WHERE ns = ?", (ns,))
    if text:
        model.index(document_of_event(seq), ns, spoken(text, speaker))


def _erase_raw(model: Model, ns: int, seq: int, at: int) -> None:
    row = model.execute("SELECT extraction, erased_at FROM events WHERE seq = ? AND ns = ?", (seq, ns)).fetchone()
    if row is None or row[1] is not None:
        return
    model.unindex(document_of_event(seq), ns)
    _settle(model, ns, row[0], "skipped", seq)
    model.execute(
        "UPDATE events SET speaker = NULL, text = NULL, metadata = NULL, erased_at = ? WHERE seq = ?", (at, seq)
    )


# extraction


def _settle(model: Model, ns: int, was: str, now: str, seq: int) -> None:
    """Moves a raw event's extraction from one state to another and keeps its namespace's counts."""
    if was == now:
        return
    model.execute("UPDATE events SET extraction = ? WHERE seq = ?", (now, seq))
    model.execute(
        "UPDATE namespaces SET pending = pending - ?, failed = failed + ? WHERE ns = ?",
        (int(was == "pending"), int(now == "failed") - int(was == "failed"), ns),
    )


def _extraction(state: str) -> Callable[[Model, Event, int], None]:
    def handler(model: Model, event: Event, ns: int) -> None:
        for event_id in event.facts["events"]:
            row = model.execute(
                "SELECT seq, extraction, erased_at FROM events WHERE event_id = ? AND ns = ?", (event_id, ns)
            ).fetchone()
            if row is not None and row[1] != "done" and row[2] is None:
                _settle(model, ns, row[1], state, row[0])

    return handler


# claims


def _claim(model: Model, event: Event, ns: int) -> None:
    facts = ClaimFacts.from_header(event.facts["claim"])
    seq = event.position.seq
    rests_on = _evidence(model, event, ns)
    known = event.recorded_at if facts.known_from is None else facts.known_from
    start = event.recorded_at if facts.valid_from is None else facts.valid_from
    slot = model.slot(ns, facts.slot)
    content: tuple[Any, ...] = (None,) * len(_CLAIM_CONTENT)
    if event.body is not None:
        claim = Claim.from_body(event.body)
        content = _content(claim)
        _count_subject(model, ns, normal_value(claim.subject), +1)
        model.index(document_of_claim(seq), ns, _searchable(claim))
    source = rests_on[0] if rests_on else seq
    model.execute(
        _INSERT_CLAIM,
        (
            seq, ns, facts.claim_id, event.event_id, event.type, slot, facts.value, facts.negates, start,
            facts.valid_to, facts.to_inferred, known, source, event.recorded_at, facts.strength, facts.correction,
            event.generation, event.key_id, _made_from(model, event, facts, ns), *content,
        ),
    )  # fmt: skip
    _quote(model, event, seq, rests_on)
    if facts.was == "wrong":
        _remove(model, event, ns, facts.targets, "wrong")
    model.admit(
        slot,
        Statement(
            seq, facts.value, facts.negates, start, facts.valid_to, facts.to_inferred, known, facts.strength,
            facts.correction, source,
        ),
    )  # fmt: skip


def _content(claim: Claim) -> tuple[Any, ...]:
    qualifiers = (
        orjson.dumps(dict(claim.qualifiers), option=orjson.OPT_SORT_KEYS).decode() if claim.qualifiers else None
    )
    return (
        claim.subject, normal_value(claim.subject), claim.predicate, claim.value, claim.negated, qualifiers,
        claim.modality, render_claim(claim), claim.said_by, claim.importance, claim.confidence, claim.occurs_from,
        claim.occurs_to, claim.grain, claim.temporary, claim.rule,
    )  # fmt: skip


def _searchable(claim: Claim) -> str:
    """The words a claim is found by: what is shown, and its subject and value where those words lack them."""
    shown = render_claim(claim)
    return "\n".join([shown, *(part for part in (claim.subject, claim.value) if part not in shown and part != "user")])


def _evidence(model: Model, event: Event, ns: int) -> list[int]:
    """Positions of the raw events a claim rests on, in order; of its own event where it was stated outright."""
    if not event.evidence:
        return []
    found = (
        model.execute("SELECT seq FROM events WHERE event_id = ? AND ns = ?", (event_id, ns)).fetchone()
        for event_id in event.evidence
    )
    return sorted(row[0] for row in found if row is not None)


def _made_from(model: Model, event: Event, facts: ClaimFacts, ns: int) -> int | None:
    """The claim whose words a command's claim repeats (an ending said of it): it goes where that one goes."""
    if not (facts.targets and event.evidence):
        return None
    rows = model.rows("SELECT seq FROM claims WHERE claim_id = ? AND ns = ? ORDER BY seq", (facts.targets[0], ns))
    return int(rows[-1][0]) if rows else None


def _quote(model: Model, event: Event, seq: int, rests_on: Iterable[int]) -> None:
    quote = (event.body or {}).get("quote")
    for raw in rests_on:
        span = (None, None)
        if quote is not None:
            row = model.execute("SELECT event_id FROM events WHERE seq = ?", (raw,)).fetchone()
            if row is not None and row[0] == quote[0]:
                span = (quote[1], quote[2])
        model.execute("INSERT INTO evidence (claim, event, start, stop) VALUES (?, ?, ?, ?)", (seq, raw, *span))


def _count_subject(model: Model, ns: int, key: str, change: int) -> None:
    model.execute(
        "INSERT INTO subjects (ns, subject_key, claims) VALUES (?, ?, ?)"
        " ON CONFLICT (ns, subject_key) DO UPDATE SET claims = claims + excluded.claims",
        (ns, key, change),
    )
    if change < 0:
        model.execute("DELETE FROM subjects WHERE ns = ? AND subject_key = ? AND claims <= 0", (ns, key))


def _remove(model: Model, event: Event, ns: int, targets: Iterable[str], why: RemovalReason) -> None:
    """Claims that are not believed from the event's recorded time on. The first verdict on a claim counts."""
    slots: set[int] = set()
    for claim_id in targets:
        live = "SELECT seq, slot FROM claims WHERE claim_id = ? AND ns = ? AND removed_at IS NULL"
        for seq, slot in model.rows(live, (claim_id, ns)):
            model.execute(
                "UPDATE claims SET removed_at = ?, removed_why = ?, removed_seq = ? WHERE seq = ?",
                (event.recorded_at, why, event.position.seq, seq),
            )
            slots.add(slot)
    for slot in sorted(slots):
        model.replay(slot)


def _retracted(model: Model, event: Event, ns: int) -> None:
    _remove(model, event, ns, event.facts["targets"], "wrong" if event.facts.get("was") == "wrong" else "retracted")


# forgetting


def _forgotten(model: Model, event: Event, ns: int) -> None:
    facts, at = event.facts, event.recorded_at
    claims = [seq for _, seq in facts["claims"]]
    erased = [seq for _, seq in facts["events"]]
    slots: set[int] = set()
    for seq in claims:
        row = model.execute("SELECT slot, removed_at FROM claims WHERE seq = ? AND ns = ?", (seq, ns)).fetchone()
        if row is None:
            continue
        _erase_claim(model, ns, seq, at)
        if row[1] is None:
            model.execute(
                "UPDATE claims SET removed_at = ?, removed_why = 'forgotten', removed_seq = ? WHERE seq = ?",
                (at, event.position.seq, seq),
            )
            slots.add(row[0])
    for seq in erased:
        _erase_raw(model, ns, seq, at)
    model.execute(
        "INSERT INTO tombstones (seq, ns, at, kind, claims, events) VALUES (?, ?, ?, ?, ?, ?)",
        (event.position.seq, ns, at, facts["kind"], orjson.dumps(claims).decode(), orjson.dumps(erased).decode()),
    )
    for slot in sorted(slots):
        model.replay(slot)


def _erase_claim(model: Model, ns: int, seq: int, at: int) -> None:
    subject, erased = model.execute("SELECT subject_key, erased_at FROM claims WHERE seq = ?", (seq,)).get
    if erased is not None:
        return
    model.unindex(document_of_claim(seq), ns)
    if subject is not None:
        _count_subject(model, ns, subject, -1)
    model.execute(_ERASE_CLAIM, (at, seq))
    model.execute("UPDATE evidence SET start = NULL, stop = NULL WHERE claim = ?", (seq,))


# settings


def _configured(model: Model, event: Event, ns: int) -> None:
    given = dict(event.body or {})
    row = model.execute("SELECT settings FROM namespaces WHERE ns = ?", (ns,)).get
    settings = {**orjson.loads(row), **given}
    model.execute(
        "UPDATE namespaces SET timezone = ?, settings = ? WHERE ns = ?",
        (settings.get("timezone", "UTC"), orjson.dumps(settings, option=orjson.OPT_SORT_KEYS).decode(), ns),
    )


_HANDLERS: Final[Mapping[str, Callable[[Model, Event, int], None]]] = {
    **dict.fromkeys(RAW_TYPES, _raw),
    **dict.fromkeys(("claim.extracted", "claim.asserted", "claim.corrected"), _claim),
    "claim.retracted": _retracted,
    "claim.forgotten": _forgotten,
    "scope.forgotten": _forgotten,
    "extraction.completed": _extraction("done"),
    "extraction.failed": _extraction("failed"),
    "window.skipped": _extraction("skipped"),
    "namespace.configured": _configured,
}
