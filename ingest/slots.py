"""Slots: what can hold one truth at a time, and the keyed fingerprints that stand for it in the log.

A single-valued predicate has one slot per subject and key qualifiers, and the claim's value competes in it. For a
many-valued one the object is part of the slot and the polarity competes: "likes coffee" and "no longer likes coffee"
are one change of one slot. Where the registry names a qualifier as the object, that joins the slot and the value
competes beside the polarity. Fingerprints are HMAC-SHA-256 under the deployment's `fingerprint` secret, so that a
header tells nothing to one who guesses values.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import Final, Literal

from .claims import Claim, ClaimFacts
from .instants import BEGINNING, FOREVER
from .normal import normal_value
from .registry import Registry

_SEPARATOR: Final = "\x1f"


class Fingerprints:
    """Keyed 16-byte hashes in hex. Equal inputs give equal outputs within one deployment and nowhere else."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def of(self, *parts: str) -> str:
        return hmac.new(self._secret, _SEPARATOR.join(parts).encode(), "sha256").hexdigest()[:32]


def subject_of(name: str, *, namespace: str, fingerprints: Fingerprints) -> str:
    """What stands for a subject, by one of its names, in a namespace's headers."""
    return fingerprints.of("subject", namespace, normal_value(name))


def is_single(claim: Claim, registry: Registry) -> bool:
    return claim.transfer or registry.predicate(claim.predicate).single(claim.qualifiers)


def slot_parts(namespace: str, claim: Claim, registry: Registry) -> tuple[str, ...]:
    """The slot's identity in words (normalised), to be fingerprinted."""
    predicate = registry.predicate(claim.predicate)
    keys = claim.qualifiers if predicate.key is None else [k for k in predicate.key if k in claim.qualifiers]
    keys = [k for k in keys if k != predicate.object]
    qualifiers = [f"{k}={predicate.meant(k, claim.qualifiers[k])}" for k in sorted(keys)]
    parts = ["slot", namespace, normal_value(claim.subject), claim.predicate, *qualifiers]
    if not is_single(claim, registry):
        parts.append("=" + predicate.meant("value", claim.qualifiers.get(predicate.object or "", claim.value)))
    return tuple(parts)


def bind(
    claim: Claim,
    *,
    namespace: str,
    evidence: Sequence[str],
    known_from: int | None,
    strength: int,
    registry: Registry,
    fingerprints: Fingerprints,
    correction: bool = False,
    targets: Sequence[str] = (),
    was: Literal["wrong", "true_until"] | None = None,
) -> ClaimFacts:
    """The claim's facts for the header. Its id is a keyed hash of evidence ids, slot and value: a re-reading of the
    same words that says the same gets the same id.

    `known_from` None means that the claim is stated by intent: it is known from its own event's recorded_at, and,
    unless it says when it began, valid from then. A claim read from evidence that says nothing is valid without
    beginning."""
    single = is_single(claim, registry)
    slot = fingerprints.of(*slot_parts(namespace, claim, registry))
    polarity = "-" if claim.negated else "+"
    predicate = registry.predicate(claim.predicate)
    about = predicate.object
    told = predicate.meant("value", claim.value) if single else polarity
    if not single and about in claim.qualifiers:
        told += predicate.meant("value", claim.value)
    value = fingerprints.of("value", namespace, told)
    valid_from = BEGINNING if claim.valid_from is None and known_from is not None else claim.valid_from
    from_stated = claim.valid_from is not None and (claim.from_source == "stated" or known_from is None)
    claim_id = fingerprints.of("claim", namespace, *sorted(evidence), slot, value, polarity)
    return ClaimFacts(
        claim_id=claim_id,
        slot=slot,
        value=value,
        negates=single and claim.negated,
        valid_from=valid_from,
        valid_to=FOREVER if claim.valid_to is None else claim.valid_to,
        to_inferred=claim.to_inferred and claim.valid_to is None,
        known_from=known_from,
        strength=strength,
        correction=correction or claim.corrects,
        from_inferred=not from_stated,
        succeeds=claim.succeeds,
        targets=tuple(targets),
        was=was,
        subject=subject_of(claim.subject, namespace=namespace, fingerprints=fingerprints),
    )
