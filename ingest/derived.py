"""The events that an extraction leaves in the log, under ids that follow from what they are about.

The same window read twice by the same generation tries to write the same events; the log takes the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .claims import Claim, ClaimFacts
from .envelope import Actor, Event, NewEvent
from .ids import derived_id

_SYSTEM: Final = Actor(role="system")


def completed_id(namespace: str, window_id: str, generation: int) -> str:
    """The id of the event that closes a window: it guards all that the window derives."""
    return derived_id("extraction.completed", namespace, window_id, str(generation))


def claim_event(
    claim: Claim, facts: ClaimFacts, *, source: Event, window_id: str, evidence: Sequence[str], generation: int
) -> NewEvent:
    """`claim.extracted`. It speaks with the voice (actor, origin, session) of the event that it was read from."""
    return NewEvent(
        event_id=derived_id("claim.extracted", source.namespace, window_id, facts.claim_id, str(generation)),
        type="claim.extracted",
        namespace=source.namespace,
        session=source.session,
        actor=source.actor,
        origin=source.origin,
        session_kind=source.session_kind,
        body=claim.to_body(),
        facts={"claim": facts.to_header()},
        generation=generation,
        correlation_id=source.correlation_id,
        causation_id=source.event_id,
        evidence=tuple(evidence),
    )


def carried_event(
    recorded: Event, *, window_id: str, generation: int, forgotten: tuple[int, int] | None = None
) -> NewEvent:
    """A claim that another generation read from words that are gone, as it was recorded. It rests on that generation's
    event: where that is forgotten, so is this. `carried` names the words.

    One that was `forgotten` there (position and recorded time of the tombstone) leaves its facts alone: what was known
    when stays as it was.
    """
    facts: dict[str, Any] = {
        "claim": recorded.facts["claim"], "carried": list(recorded.facts.get("carried", recorded.evidence)),
    }  # fmt: skip
    if forgotten is not None:
        facts["forgotten"] = list(forgotten)
    return NewEvent(
        event_id=derived_id(
            "claim.extracted", recorded.namespace, window_id, recorded.facts["claim"]["claim_id"], str(generation)
        ),
        type="claim.extracted",
        namespace=recorded.namespace,
        session=recorded.session,
        actor=recorded.actor,
        origin=recorded.origin,
        session_kind=recorded.session_kind,
        body={} if recorded.body is None or forgotten is not None else recorded.body,
        facts=facts,
        generation=generation,
        correlation_id=recorded.correlation_id,
        causation_id=recorded.causation_id,
        evidence=(recorded.event_id,) if forgotten is None else (),
    )


def completed_event(
    *,
    namespace: str,
    session: str | None,
    window_id: str,
    event_ids: Sequence[str],
    claims: int,
    decisions: Mapping[str, str],
    extractor: str,
    generation: int,
    usage: Mapping[str, Any] | None = None,
) -> NewEvent:
    """`extraction.completed`: the window is done, with so many claims. `decisions`: event id → why it became none."""
    facts: dict[str, Any] = {
        "window": window_id, "events": list(event_ids), "claims": claims, "decisions": dict(decisions),
        "extractor": extractor,
    }
    return NewEvent(
        event_id=completed_id(namespace, window_id, generation),
        type="extraction.completed",
        namespace=namespace,
        session=session,
        actor=_SYSTEM,
        origin="system",
        body={},
        facts=facts if usage is None else {**facts, "usage": dict(usage)},
        generation=generation,
    )


def failed_id(namespace: str, window_id: str, generation: int, attempt: int) -> str:
    """The id of the event that tells of a failed attempt, counted from 0."""
    return derived_id("extraction.failed", namespace, window_id, str(generation), str(attempt))


def failed_event(
    *,
    namespace: str,
    session: str | None,
    window_id: str,
    event_ids: Sequence[str],
    attempt: int,
    error: str,
    generation: int,
    usage: Mapping[str, Any] | None = None,
    answer: Mapping[str, Any] | None = None,
    evidence: Sequence[str] = (),
) -> NewEvent:
    """`extraction.failed`: this attempt came to nothing. `error` is a code, never a message that could hold words.

    `answer` is a model's answer as `answers` keeps it, which rests on the words it was asked about: `evidence`.
    """
    facts: dict[str, Any] = {"window": window_id, "events": list(event_ids), "error": error, "attempt": attempt}
    if usage is not None:
        facts["usage"] = dict(usage)
    return NewEvent(
        event_id=failed_id(namespace, window_id, generation, attempt),
        type="extraction.failed",
        namespace=namespace,
        session=session,
        actor=_SYSTEM,
        origin="system",
        body={} if answer is None else dict(answer),
        facts=facts,
        generation=generation,
        evidence=tuple(evidence),
    )
