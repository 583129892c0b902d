"""Correcting: a claim was never true, or it was true until some time.

`wrong` takes the target and its equals out of valid time, and what replaces it takes over its interval. `true_until`
leaves the past as it was: the slot changes from then on. In a many-valued slot, where another value does not end the
old one by itself, the old one is negated from then on in the same batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from pydantic import BaseModel

from taishi.ingest.claims import ORIGIN_STRENGTH, Claim, Quote
from taishi.ingest.envelope import NewEvent
from taishi.ingest.errors import Conflict, InvalidInput, NotFound
from taishi.ingest.ids import new_id
from taishi.ingest.importance import as_said
from taishi.ingest.instants import FOREVER
from taishi.ingest.log import Batch
from taishi.ingest.names import Namespace
from taishi.ingest.normal import normal_value
from taishi.ingest.slots import bind, is_single, slot_parts
from taishi.ingest.web import Contract

from .contract import ActorBody, Reason, Text, Time, memory_id, redacted
from .directory import KnownClaim
from .ports import Ports
from .remember import Interval, read_text, stated_interval

_ORIGIN: Final = "user_direct"


class Correct(Contract):
    """`value` (or `text`, read as words) is what is true instead; without it the claim is taken back, or ends."""

    namespace: Namespace
    text: Text | None = None
    value: Text | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    was: Literal["wrong", "true_until"]
    reason: Reason | None = None
    sensitive: bool = False


class Corrected(BaseModel):
    memory_id: str
    position: str
    redacted: list[str] = []


async def find_claim(namespace: str, given_id: str, ports: Ports) -> KnownClaim:
    """A claim that is still believed at some time. Raises NotFound, Gone, Conflict, InvalidInput for a raw event."""
    wanted = memory_id(given_id)
    await ports.call(ports.directory.settled, namespace)
    try:
        known = await ports.call(ports.directory.claim, namespace, wanted)
    except NotFound:
        event = await ports.call(ports.directory.event, namespace, wanted)
        drawn = f" ({', '.join(event.claims[:5])})" if event.claims else ""
        raise InvalidInput(
            f"this is the id of a message, which stays as it was said: name a claim drawn from it{drawn}, "
            "publish what is true now, or DELETE it",
            field="id",
        ) from None
    if known.removed is not None:
        raise Conflict("that memory was taken back before: remember what is true instead", field="id")
    return known


async def correct(given_id: str, body: Correct, ports: Ports) -> dict[str, Any]:
    if body.text is not None and body.value is not None:
        raise InvalidInput("give text or value, not both", field="text")
    zone = await ports.zone_for(body.namespace, body.valid_from, body.valid_to)
    interval = stated_interval(body.valid_from, body.valid_to, zone=zone)
    known = await find_claim(body.namespace, given_id, ports)
    found: list[str] = []
    text, value, reason = body.text, body.value, body.reason
    if not body.sensitive:
        text, value, reason = redacted([text, value, reason], ports.redact, found)
    event_id = new_id()
    known = replace(known, claim=_in_its_slot(known, body.namespace, ports))
    replacement = await _replacement(known.claim, text, value, event_id, body.namespace, ports)
    events: Sequence[NewEvent]
    if body.was == "wrong":
        if replacement is None and interval == Interval(None, None):
            events, made = [_retraction(event_id, body.namespace, known, reason)], known.claim_id
        else:
            claim = _over(replacement or known.claim, interval, known)
            event, made = _event(event_id, body.namespace, claim, known, "wrong", reason, ports)
            events = [event]
    else:
        events, made = _ended(event_id, body.namespace, replacement, interval, known, reason, ports)
    appended = await ports.commits.append(Batch(events=events))
    reply = {"memory_id": made, "position": str(appended.recorded[-1].position)}
    return {**reply, "redacted": sorted(set(found))} if found else reply


def _in_its_slot(known: KnownClaim, namespace: str, ports: Ports) -> Claim:
    """The target's claim such that it binds to the slot it is in: that its words said `transfer`, which makes a
    many-valued predicate single, may show only there."""
    moved = replace(known.claim, transfer=True)
    is_moved = ports.fingerprints.of(*slot_parts(namespace, moved, ports.registry)) == known.facts.slot
    return moved if is_moved and not is_single(known.claim, ports.registry) else known.claim


async def _replacement(
    old: Claim, text: str | None, value: str | None, event_id: str, namespace: str, ports: Ports
) -> Claim | None:
    """The target's claim with what is true instead in place of its value, or None where nothing was given."""
    if text is not None:
        read = await read_text(text, namespace, event_id=event_id, actor=ActorBody(), said_at=None, ports=ports)
        value = read.value if read.predicate == old.predicate else text
    if value is None:
        return None
    quote = None if text is None else Quote(event_id=event_id, start=0, end=len(text), text=text)
    negated = old.negated and not is_single(old, ports.registry)
    return replace(old, value=value.strip(), quote=quote, negated=negated, said_by=None, rule="correction")


def _over(claim: Claim, interval: Interval, known: KnownClaim) -> Claim:
    """The claim over the target's interval, but for the ends that the caller states."""
    start = known.facts.valid_from if interval.start is None else interval.start
    stated_end = interval.end is not None
    end = interval.end if stated_end else (None if known.facts.valid_to >= FOREVER else known.facts.valid_to)
    if start is not None and end is not None and end <= start:
        field = "valid_to" if stated_end else "valid_from"
        raise InvalidInput("with the memory's own other end the interval is reversed: give both ends", field=field)
    inferred = False if stated_end else known.facts.to_inferred
    source = claim.from_source if interval.start is None else "stated"
    return replace(claim, valid_from=start, valid_to=end, to_inferred=inferred, from_source=source, rule="correction")


def _ended(
    event_id: str,
    namespace: str,
    replacement: Claim | None,
    interval: Interval,
    known: KnownClaim,
    reason: str | None,
    ports: Ports,
) -> tuple[Sequence[NewEvent], str]:
    start, end = interval.start, interval.end
    if replacement is None and start is None:
        start, end = end, None  # "true until valid_to", with nothing said of what came after
    began = known.facts.valid_from
    if start is not None and began is not None and start <= began:
        field = "valid_from" if interval.start is not None else "valid_to"
        raise InvalidInput("that is before the memory began to hold: say `was: wrong` if it never held", field=field)
    if end is not None and start is None and end <= ports.clock():
        raise InvalidInput("it would end before it begins: give valid_from too", field="valid_from")
    opposite = _from_then(replace(known.claim, negated=not known.claim.negated, quote=None, said_by=None), start)
    if replacement is None:
        if end is not None:
            opposite = replace(opposite, valid_to=end, to_inferred=False)
        event, made = _event(event_id, namespace, opposite, known, "true_until", reason, ports)
        return [event], made
    new = replace(_from_then(replacement, start), valid_to=end, to_inferred=end is None)
    if is_single(new, ports.registry):
        event, made = _event(event_id, namespace, new, known, "true_until", reason, ports)
        return [event], made
    if normal_value(new.value) == normal_value(known.claim.value):
        raise InvalidInput("that is what the memory says already: give another value, or none to end it", field="value")
    event, made = _event(event_id, namespace, new, known, "true_until", reason, ports)
    ending, _ = _event(new_id(), namespace, opposite, known, "true_until", reason, ports)
    return [ending, event], made


def _from_then(claim: Claim, start: int | None) -> Claim:
    """The claim with a new beginning (None: when it is recorded) and an open end, without the target's own times."""
    return replace(
        claim,
        valid_from=start,
        valid_to=None,
        to_inferred=True,
        from_source="event" if start is None else "stated",
        grain="instant",
        occurs_from=None,
        occurs_to=None,
        temporary=False,
        rule="correction",
    )


def _event(
    event_id: str,
    namespace: str,
    claim: Claim,
    known: KnownClaim,
    was: Literal["wrong", "true_until"],
    reason: str | None,
    ports: Ports,
) -> tuple[NewEvent, str]:
    """A `claim.corrected` and the id of its claim. One that repeats the target's words rests on the event that states
    them, so that the log refuses it where they were forgotten in the meantime."""
    insisted = as_said(ports.registry.predicate(claim.predicate), correction=True)
    claim = replace(claim, importance=max(claim.importance, insisted))
    facts = bind(
        claim,
        namespace=namespace,
        evidence=[event_id],
        known_from=None,
        strength=ORIGIN_STRENGTH[_ORIGIN],
        registry=ports.registry,
        fingerprints=ports.fingerprints,
        correction=True,
        targets=(known.claim_id, *known.equals),
        was=was,
    )
    body = claim.to_body()
    if reason is not None:
        body["reason"] = reason
    event = NewEvent(
        event_id=event_id,
        type="claim.corrected",
        namespace=namespace,
        body=body,
        facts={"claim": facts.to_header()},
        origin=_ORIGIN,
        causation_id=known.event_id,
        evidence=(known.event_id,) if claim.value == known.claim.value else (),
    )
    return event, facts.claim_id


def _retraction(event_id: str, namespace: str, known: KnownClaim, reason: str | None) -> NewEvent:
    return NewEvent(
        event_id=event_id,
        type="claim.retracted",
        namespace=namespace,
        body={} if reason is None else {"reason": reason},
        facts={"targets": [known.claim_id, *known.equals], "was": "wrong"},
        origin=_ORIGIN,
        causation_id=known.event_id,
    )
