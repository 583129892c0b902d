"""Remembering: a claim stated outright, with its structure or in words that are read without any model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from taishi.ingest.claims import ORIGIN_STRENGTH, Claim, Quote
from taishi.ingest.envelope import Actor, NewEvent
from taishi.ingest.errors import InvalidInput, NotCaughtUp, TaishiError
from taishi.ingest.extractor import Utterance, Window
from taishi.ingest.ids import new_id
from taishi.ingest.importance import as_said
from taishi.ingest.instants import BEGINNING, to_datetime
from taishi.ingest.log import Batch
from taishi.ingest.names import MAX_NAME, Name, Namespace
from taishi.ingest.normal import normalise
from taishi.ingest.registry import Registry
from taishi.ingest.slots import bind
from taishi.ingest.web import Contract

from .contract import ORIGIN_OF_ROLE, ActorBody, Text, Time, redacted, stamp
from .ports import Ports

MAX_QUALIFIERS: Final = 16
_STRUCTURE: Final = ("subject", "predicate", "value")
_USER_BODY: Final = ActorBody()


def _qualifiers(given: dict[str, str]) -> dict[str, str]:
    if len(given) > MAX_QUALIFIERS:
        raise PydanticCustomError("too_many", f"give at most {MAX_QUALIFIERS} qualifiers")
    for name, value in given.items():
        if not (name.strip() and value.strip()) or len(name) > MAX_NAME or len(value) > MAX_NAME:
            raise PydanticCustomError("qualifier", f"qualifiers have names and values of 1 to {MAX_NAME} characters")
    return given


class Remember(Contract):
    """`subject`, `predicate` and `value` together, or `text`; with both, the text is the words that state the claim.

    `subject` is `user` for the one whose memory it is. Without `valid_from` the claim holds from when it is recorded.
    """

    namespace: Namespace
    text: Text | None = None
    subject: Name | None = None
    predicate: Name | None = None
    value: Text | None = None
    polarity: Literal["positive", "negative", "+", "-"] | None = None
    qualifiers: Annotated[dict[str, str], AfterValidator(_qualifiers)] | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    importance: Annotated[float, Field(ge=0, le=1)] | None = None
    session: Name | None = None
    actor: ActorBody | None = None
    recorded_at: Time | None = None
    sensitive: bool = False


class Remembered(BaseModel):
    memory_id: str
    event_id: str
    position: str
    redacted: list[str] = []


@dataclass(frozen=True, slots=True)
class Interval:
    """When a claim holds, as far as the caller says: instants, None where nothing was said."""

    start: int | None
    end: int | None


def stated_interval(start: str | None, end: str | None, *, zone: tzinfo) -> Interval:
    """Raises InvalidInput on a bad time or an interval that ends before it begins."""
    begins = None if start is None else stamp(start, zone=zone, field="valid_from").instant
    ends = None if end is None else stamp(end, zone=zone, field="valid_to").instant
    if begins is not None and ends is not None and ends <= begins:
        raise InvalidInput("the interval ends before it begins: valid_to lies after valid_from", field="valid_to")
    return Interval(begins, ends)


def known_predicate(given: str, registry: Registry) -> str:
    """The registry's spelling where it knows the predicate in another case or width; else as it stands."""
    known = normalise(given).replace(" ", "_")
    return known if registry.predicate(known).name in {p.name for p in registry} else given.strip()


def speaker_of(actor: ActorBody) -> str:
    """The subject of the first person: the actor's name or id, else `user` (or another role)."""
    return actor.name or actor.id or actor.role


async def remember(body: Remember, ports: Ports) -> dict[str, Any]:
    missing = [name for name in _STRUCTURE if getattr(body, name) is None]
    if missing and len(missing) < 3:
        raise InvalidInput(f"a structured memory also needs {' and '.join(missing)}: give all three", field=missing[0])
    if missing and body.text is None:
        raise InvalidInput("give text, or subject, predicate and value", field="text")
    zone = await ports.zone_for(body.namespace, body.valid_from, body.valid_to, body.recorded_at)
    interval = stated_interval(body.valid_from, body.valid_to, zone=zone)
    recorded_at = None
    if body.recorded_at is not None:
        recorded_at = stamp(body.recorded_at, zone=zone, field="recorded_at").instant
        if recorded_at > ports.clock():
            raise InvalidInput("nothing was recorded in the future: give an earlier time", field="recorded_at")
    found: list[str] = []
    text = body.text
    given: Mapping[str, Any] = {name: getattr(body, name) for name in _STRUCTURE} | {
        "qualifiers": body.qualifiers or {}
    }
    if not body.sensitive:
        text = None if text is None else redacted(text, ports.redact, found)
        given = redacted(given, ports.redact, found)
    event_id = new_id()
    actor = body.actor or _USER_BODY
    origin = ORIGIN_OF_ROLE[actor.role]
    if missing:
        assert text is not None
        claim = await read_text(text, body.namespace, event_id=event_id, actor=actor, said_at=recorded_at, ports=ports)
        if body.qualifiers:
            claim = replace(claim, qualifiers={**claim.qualifiers, **given["qualifiers"]})
    else:
        predicate = known_predicate(given["predicate"], ports.registry)
        claim = Claim(
            subject=given["subject"].strip(),
            predicate=predicate,
            value=given["value"].strip(),
            qualifiers=given["qualifiers"],
            importance=as_said(ports.registry.predicate(predicate), text or ""),
            rule="stated",
        )
    if text is not None:
        claim = replace(claim, quote=Quote(event_id=event_id, start=0, end=len(text), text=text))
    claim = within(claim, interval, now=ports.clock() if recorded_at is None else recorded_at)
    claim = replace(claim, said_by=actor.name or actor.id)
    if body.polarity is not None:
        claim = replace(claim, negated=body.polarity in ("negative", "-"))
    if body.importance is not None:
        claim = replace(claim, importance=body.importance)
    facts = bind(
        claim,
        namespace=body.namespace,
        evidence=[event_id],
        known_from=None,
        strength=ORIGIN_STRENGTH[origin],
        registry=ports.registry,
        fingerprints=ports.fingerprints,
    )
    event = NewEvent(
        event_id=event_id,
        type="claim.asserted",
        namespace=body.namespace,
        body=claim.to_body(),
        facts={"claim": facts.to_header()},
        session=body.session,
        actor=Actor(actor.id, actor.role),
        origin=origin,
        recorded_at=recorded_at,
    )
    try:
        appended = await ports.commits.append(Batch(events=[event]))
    except TaishiError as error:  # the log counts the events of a request, of which this one has none
        error.field = error.field and error.field.removeprefix("events.0.")
        raise
    reply = {"memory_id": facts.claim_id, "event_id": event_id, "position": str(appended.recorded[0].position)}
    return {**reply, "redacted": sorted(set(found))} if found else reply


def within(claim: Claim, interval: Interval, *, now: int) -> Claim:
    """The claim over the interval its caller stated. An end without a beginning begins now, or, where it lies behind,
    at a time nobody knows."""
    start, end = interval.start, interval.end
    if start is None and end is not None:
        start = now if end > now else BEGINNING
    if start is not None:
        claim = replace(claim, valid_from=start, from_source="stated")
        if end is None and claim.valid_to is not None and claim.valid_to <= start:
            claim = replace(claim, valid_to=None, to_inferred=True)
    if end is not None:
        claim = replace(claim, valid_to=end, to_inferred=False)
    return claim


async def read_text(
    text: str, namespace: str, *, event_id: str, actor: ActorBody, said_at: int | None, ports: Ports
) -> Claim:
    """What the words say if exactly one claim can be read from them without a model, else a note that holds them."""
    note = Claim(subject="user", predicate="note", value=text, rule="stated")
    if ports.reader is None:
        return note
    try:
        await ports.call(ports.directory.settled, namespace, seconds=1.0)
    except NotCaughtUp:
        pass  # the zone as known so far: remembering does not wait for the read models to come back
    zone = await ports.call(ports.directory.zone, namespace)
    utterance = Utterance(
        event_id=event_id,
        text=text,
        said_at=to_datetime(ports.clock() if said_at is None else said_at, zone),
        speaker=speaker_of(actor),
        role=actor.role,
        origin=ORIGIN_OF_ROLE[actor.role],
    )
    window = Window(namespace=namespace, session=None, utterances=[utterance], zone=zone)
    claims = (await ports.call(ports.reader.extract, window)).claims
    if len(claims) != 1:
        return note
    (claim,) = claims
    return replace(claim, valid_from=None) if claim.from_source == "event" else claim
