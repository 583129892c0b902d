"""Giving up an event that cannot be folded: it stays in the log, and read models do without it from now on."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from taishi.ingest.envelope import NewEvent, Position
from taishi.ingest.errors import InvalidInput, NotFound
from taishi.ingest.ids import derived_id
from taishi.ingest.log import Batch
from taishi.ingest.names import Namespace
from taishi.ingest.web import Contract

from .contract import Reason
from .ports import Ports


class Skip(Contract):
    """`position` is that of a dead letter, as `taishi dead-letters` shows it; the reason goes into the log."""

    namespace: Namespace
    position: Annotated[str, Field(max_length=40)]
    reason: Reason


class Skipped(BaseModel):
    position: str


async def skip(body: Skip, ports: Ports) -> dict[str, str]:
    """Raises InvalidInput, NotFound where nothing is parked there."""
    try:
        at = Position.parse(body.position)
    except ValueError as e:
        raise InvalidInput(str(e), field="position") from None
    await ports.call(ports.directory.settled, body.namespace)
    if not await ports.call(ports.directory.is_parked, body.namespace, at):
        raise NotFound("no event of this namespace is parked at this position", field="position")
    event = NewEvent(
        event_id=derived_id("event.skipped", body.namespace, str(at)),
        type="event.skipped",
        namespace=body.namespace,
        facts={"seq": at.seq},
        body={"reason": body.reason},
        origin="system",
    )
    appended = await ports.commits.append(Batch(events=[event]))
    return {"position": str(appended.recorded[0].position)}
