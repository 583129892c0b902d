"""Claims from elsewhere, bound to slots as if they were stated here: by their words, under this deployment's secrets.

The intervals, the times and the weight that they were recorded with stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from taishi.ingest.claims import Claim, ClaimFacts
from taishi.ingest.registry import Registry
from taishi.ingest.slots import Fingerprints, bind, slot_parts, subject_of

from .history import ClaimSkeleton, HistoryEvent


def rebound(
    event: HistoryEvent,
    given: ClaimSkeleton,
    *,
    namespace: str,
    targets: Sequence[str],
    registry: Registry,
    fingerprints: Fingerprints,
) -> ClaimFacts:
    """`targets` are the ids that the claims it corrects have here."""
    if event.body is None:
        facts = _wordless(event, given, namespace=namespace, registry=registry, fingerprints=fingerprints)
    else:
        facts = bind(
            Claim.from_body(event.body),
            namespace=namespace,
            evidence=event.evidence if event.type == "claim.extracted" else [event.event_id],
            known_from=given.known_from,
            strength=given.strength,
            registry=registry,
            fingerprints=fingerprints,
        )
    return replace(
        facts, valid_from=given.valid_from, valid_to=given.valid_to, to_inferred=given.to_inferred,
        from_inferred=given.from_inferred, correction=given.correction, succeeds=given.succeeds,
        targets=tuple(targets), was=given.was,
    )  # fmt: skip


def _wordless(
    event: HistoryEvent, given: ClaimSkeleton, *, namespace: str, registry: Registry, fingerprints: Fingerprints
) -> ClaimFacts:
    """In the slot, and of the value, of the living claims that it names; else in a slot apart from all others."""
    slot = fingerprints.of("imported slot", namespace, given.slot)
    value = fingerprints.of("imported value", namespace, given.slot, given.value)
    subject = None
    if given.slot_like is not None:
        like = Claim.from_body(given.slot_like.model_dump(exclude_none=True))
        slot = fingerprints.of(*slot_parts(namespace, like, registry))
        subject = subject_of(like.subject, namespace=namespace, fingerprints=fingerprints)
    if given.value_like is not None:
        like = Claim.from_body(given.value_like.model_dump(exclude_none=True))
        value = bind(
            like, namespace=namespace, evidence=[], known_from=None, strength=0, registry=registry,
            fingerprints=fingerprints,
        ).value  # fmt: skip
    return ClaimFacts(
        claim_id=fingerprints.of("imported claim", namespace, event.event_id),
        slot=slot,
        value=value,
        negates=given.negates,
        valid_from=given.valid_from,
        valid_to=given.valid_to,
        to_inferred=given.to_inferred,
        known_from=given.known_from,
        strength=given.strength,
        subject=subject,
    )
