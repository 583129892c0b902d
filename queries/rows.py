"""Rows of the read model as values, in the order in which `reading` selects them."""

from __future__ import annotations

from typing import Final, NamedTuple


class ClaimRow(NamedTuple):
    """One claim. Content fields are None where the words were erased. `seq` is its position in the partition."""

    seq: int
    claim_id: str
    event_id: str
    event_type: str
    slot: int
    value_fp: str
    negates: int
    valid_from: int
    valid_to: int
    to_inferred: int
    known_from: int
    source: int
    recorded_at: int
    strength: int
    correction: int
    from_inferred: int
    succeeds: int
    generation: int | None
    removed_at: int | None
    removed_why: str | None
    removed_seq: int | None
    kept_from: int
    expired_at: int | None
    expired_seq: int | None
    archived_at: int | None
    archived_seq: int | None
    faded_why: str | None
    erased_at: int | None
    subject: str | None
    subject_key: str | None
    predicate: str | None
    value: str | None
    negated: int | None
    qualifiers: str | None
    modality: str | None
    text: str | None
    speaker: str | None
    importance: float | None
    confidence: float | None
    occurs_from: int | None
    occurs_to: int | None
    grain: str | None
    temporary: int | None
    rule: str | None


class EventRow(NamedTuple):
    """One raw event. `text` is None where the words were erased."""

    seq: int
    event_id: str
    type: str
    session: str | None
    actor_id: str | None
    role: str
    origin: str
    session_kind: str
    said_at: int
    recorded_at: int
    extraction: str
    closing: int | None
    extractor: str | None
    decision: str | None
    erased_at: int | None
    speaker: str | None
    text: str | None
    metadata: str | None


class Rectangle(NamedTuple):
    """What was believed of one claim: over [valid_from, valid_to), as known over [known_from, known_to). Those of one
    `accord` (0: none) hold side by side."""

    claim: int
    slot: int
    valid_from: int
    valid_to: int
    known_from: int
    known_to: int
    accord: int


class Covering(NamedTuple):
    """A rectangle that covers the asked point, with what is needed to see whether two contend."""

    claim: int
    slot: int
    valid_from: int
    valid_to: int
    known_from: int
    known_to: int
    accord: int
    value_fp: str
    negates: int


class Standing(NamedTuple):
    """What callers think of a memory."""

    memory_id: str
    confirmations: int
    confirmed_at: int | None
    helpful: int
    unhelpful: int
    reads: int
    read_at: int | None
    revived_at: int | None


class Settled(NamedTuple):
    """A conflict of `slot` that a caller settled. `winner` None: what was contested coexists; `winner_seq` is
    its statement, None where that is not there."""

    seq: int
    slot: int
    at: int
    winner: str | None
    winner_seq: int | None


class Link(NamedTuple):
    """One step of a supersede chain."""

    slot: int
    known_at: int
    old_claim: int
    new_claim: int | None
    valid_from: int
    valid_to: int
    rule: str


class EvidenceRow(NamedTuple):
    claim: int
    event: int
    start: int | None
    stop: int | None


class NamespaceRow(NamedTuple):
    ns: int
    timezone: str
    settings: str
    pending: int
    failed: int


CLAIM_COLUMNS: Final = ", ".join(ClaimRow._fields)
EVENT_COLUMNS: Final = ", ".join(EventRow._fields)
