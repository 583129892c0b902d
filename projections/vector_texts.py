"""What of an event is embedded, and what of a forgetting or an archival is taken out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from taishi.ingest.claims import Claim
from taishi.ingest.envelope import CLAIM_TYPES, FORGETTING_TYPES, RAW_TYPES, Event

from .embedding import chunks
from .rendering import USER, render_claim, spoken
from .schema import document_of_claim, document_of_event


@dataclass(frozen=True, slots=True)
class Texts:
    """The chunks of document `doc`, in order, each with the speaker's name where it is not the user; at least one."""

    doc: int
    chunks: tuple[str, ...]


def texts_of(event: Event) -> Texts | None:
    """None for an event without words: erased, empty, or of a type that has none.

    Raises KeyError, TypeError or ValueError on a body that is not what its type says.
    """
    if not event.body:
        return None
    seq = event.position.seq
    if event.type in RAW_TYPES:
        speaker = event.body.get("speaker")
        doc, pieces = document_of_event(seq), [spoken(piece, speaker) for piece in chunks(event.body.get("text") or "")]
    elif event.type in CLAIM_TYPES:
        doc, pieces = document_of_claim(seq), chunks(_embedded_claim(Claim.from_body(event.body)))
    else:
        return None
    return Texts(doc, tuple(pieces)) if pieces else None


def _embedded_claim(claim: Claim) -> str:
    """As it is shown, without a subject that nearly every claim has."""
    text = render_claim(claim)
    return text.removeprefix(f"{USER} ") if claim.quote is None and claim.subject == USER else text


def faded_by(event: Event) -> list[int]:
    """Documents that an archival takes out, or a revival brings back: claims, and raw events that go with them."""
    claims = [document_of_claim(seq) for _, seq in event.facts["claims"]]
    return [*claims, *(document_of_event(seq) for _, seq in event.facts["events"])]


def forgotten_by(events: Iterable[Event], *, after: int) -> list[tuple[str, list[int]]]:
    """(namespace, documents) of each forgetting behind position `after`. An erased event loses what it said and what
    it claimed, a forgotten claim its own."""
    return [
        (
            event.namespace,
            sorted(
                {document_of_claim(seq) for _, seq in event.facts["claims"]}
                | {doc for _, seq in event.facts["events"] for doc in (document_of_event(seq), document_of_claim(seq))}
            ),
        )
        for event in events
        if event.type in FORGETTING_TYPES and event.position.seq > after
    ]
