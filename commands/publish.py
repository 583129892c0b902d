"""Publishing: raw events, lived now or brought from elsewhere, enter the log whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from taishi.ingest.envelope import RAW_TYPES, Actor, NewEvent
from taishi.ingest.errors import InvalidInput
from taishi.ingest.ids import canonical_id, new_id
from taishi.ingest.log import Batch
from taishi.ingest.names import Name, Namespace
from taishi.ingest.web import Contract

from .contract import (
    ORIGIN_OF_ROLE,
    ActorBody,
    Metadata,
    OriginName,
    SessionKindName,
    Text,
    Time,
    is_naive,
    redacted,
    stamp,
)
from .ports import Ports

MAX_EVENTS: Final = 5_000
RawType = Literal["message.recorded", "tool.called", "tool.returned", "operation.recorded", "document.recorded"]
assert frozenset(get_args(RawType)) == RAW_TYPES
_USER: Final = Actor()
_USER_BODY: Final = ActorBody()


def _uuid(text: str) -> str:
    try:
        return canonical_id(text)
    except InvalidInput as error:
        raise PydanticCustomError("uuid", "give a UUID such as 0198c0de-7a11-7000-8000-00000000002a") from error


EventId = Annotated[str, AfterValidator(_uuid)]


class EventBody(Contract):
    """Words as they were said. `sensitive` keeps what looks like a secret in the (encrypted) words."""

    namespace: Namespace
    content: Text
    session: Name | None = None
    actor: ActorBody | None = None
    type: RawType = "message.recorded"
    origin: OriginName | None = None
    session_kind: SessionKindName = "chat"
    occurred_at: Time | None = None
    event_id: EventId | None = None
    sensitive: bool = False
    metadata: Metadata | None = None


class ImportedBody(EventBody):
    """`recorded_at` is when the other system recorded it; `record_now` says to record it now instead."""

    recorded_at: Time | None = None
    record_now: bool = False


class Publish(Contract):
    events: Annotated[list[EventBody], Field(min_length=1, max_length=MAX_EVENTS)]


class Import(Contract):
    """`record_now` holds for all events."""

    events: Annotated[list[ImportedBody], Field(min_length=1, max_length=MAX_EVENTS)]
    record_now: bool = False


class AcceptedEvent(BaseModel):
    event_id: str
    position: str
    duplicate: bool
    redacted: list[str] = []


class Accepted(BaseModel):
    accepted: list[AcceptedEvent]


def namespace_of(events: Sequence[EventBody]) -> str:
    """The one namespace a request speaks for. Raises InvalidInput when there are several."""
    namespace = events[0].namespace
    for index, event in enumerate(events):
        if event.namespace != namespace:
            raise InvalidInput(
                "one request speaks for one namespace: send the others apart", field=f"events.{index}.namespace"
            )
    return namespace


async def publish(body: Publish, ports: Ports) -> dict[str, Any]:
    return await _append(body.events, [None] * len(body.events), ports)


async def publish_history(body: Import, ports: Ports) -> dict[str, Any]:
    """Raises InvalidInput when recorded times decrease or lie ahead, RecordedBehind when the namespace is past them."""
    namespace = namespace_of(body.events)
    zone = await ports.zone_for(namespace, *(event.recorded_at for event in body.events))
    now = ports.clock()
    recorded: list[int | None] = []
    events: list[EventBody] = []
    latest: int | None = None
    for index, event in enumerate(body.events):
        field = f"events.{index}.recorded_at"
        if body.record_now or event.record_now:
            recorded.append(None)
            said = event.occurred_at or event.recorded_at
            events.append(event if said == event.occurred_at else event.model_copy(update={"occurred_at": said}))
            continue
        if event.recorded_at is None:
            raise InvalidInput("say when it was recorded, or set record_now", field=field)
        at = stamp(event.recorded_at, zone=zone, field=field).instant
        if at > now:
            raise InvalidInput("history was not recorded in the future: give an earlier time", field=field)
        if latest is not None and at < latest:
            raise InvalidInput("recorded times never decrease within a request: put the events in order", field=field)
        latest = at
        recorded.append(at)
        events.append(event)
    return await _append(events, recorded, ports)


async def _append(events: Sequence[EventBody], recorded: Sequence[int | None], ports: Ports) -> dict[str, Any]:
    namespace = namespace_of(events)
    zone: tzinfo | None = None
    kinds: list[list[str]] = []
    new: list[NewEvent] = []
    seen: set[str] = set()
    for index, (event, recorded_at) in enumerate(zip(events, recorded, strict=True)):
        if zone is None and is_naive(event.occurred_at):
            zone = await ports.zone_for(namespace, event.occurred_at)
        event_id = event.event_id or new_id()
        if event_id in seen:
            raise InvalidInput("the id occurs twice in this request: give each event its own", field=_id_field(index))
        seen.add(event_id)
        found: list[str] = []
        new.append(_event(event, event_id, recorded_at, zone, found, index, ports))
        kinds.append(found)
    appended = await ports.commits.append(Batch(events=new))
    replies: list[dict[str, Any]] = []
    for one, found in zip(appended.recorded, kinds, strict=True):
        reply: dict[str, Any] = {
            "event_id": one.event_id, "position": str(one.position), "duplicate": one.duplicate,
        }  # fmt: skip
        if found:
            reply["redacted"] = sorted(set(found))
        replies.append(reply)
    return {"accepted": replies}


def _id_field(index: int) -> str:
    return f"events.{index}.event_id"


def _event(
    event: EventBody,
    event_id: str,
    recorded_at: int | None,
    zone: tzinfo | None,
    found: list[str],
    index: int,
    ports: Ports,
) -> NewEvent:
    occurred_at = offset = None
    if event.occurred_at is not None:
        field = f"events.{index}.occurred_at"
        at = stamp(event.occurred_at, field=field) if zone is None else stamp(event.occurred_at, zone=zone, field=field)
        occurred_at, offset = at.instant, at.offset
    body: dict[str, Any] = {"text": event.content}
    if event.metadata is not None:
        body["metadata"] = event.metadata
    if not event.sensitive:
        body = redacted(body, ports.redact, found)
    actor = event.actor or _USER_BODY
    if actor.name is not None:
        body["speaker"] = actor.name
    return NewEvent(
        event_id=event_id,
        type=event.type,
        namespace=event.namespace,
        body=body,
        session=event.session,
        actor=_USER if event.actor is None else Actor(actor.id, actor.role),
        origin=event.origin or ORIGIN_OF_ROLE[actor.role],
        session_kind=event.session_kind,
        recorded_at=recorded_at,
        occurred_at=occurred_at,
        occurred_offset=offset,
    )
