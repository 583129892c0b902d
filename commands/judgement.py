"""What callers think of memories: confirming one, settling a conflict, saying whether a recall helped."""

from __future__ import annotations

from typing import Any, Final

from taishi.ingest.envelope import NewEvent
from taishi.ingest.errors import InvalidInput, NotFound
from taishi.ingest.ids import new_id
from taishi.ingest.log import Batch
from taishi.ingest.names import Name, Namespace
from taishi.ingest.web import Contract

from .contract import Exposure, Reason, memory_id
from .correct import find_claim
from .lifecycle import lifecycle_event
from .ports import Ports

EXPOSED_SECONDS: Final = 1.5
"""How long feedback waits for the log to learn of the recall that it speaks of: it comes a moment after the answer."""


class Confirm(Contract):
    namespace: Namespace


class Resolve(Contract):
    """`winner` is the claim that holds, or `coexist` says that all of them do."""

    namespace: Namespace
    winner: Name | None = None
    coexist: bool = False
    reason: Reason | None = None


class Feedback(Contract):
    """Whether what one recall returned (`exposure_id`) helped."""

    namespace: Namespace
    exposure_id: Exposure
    helpful: bool
    note: Reason | None = None


async def confirm(given_id: str, body: Confirm, ports: Ports) -> dict[str, str]:
    """What has faded comes back with it."""
    known = await find_claim(body.namespace, given_id, ports)
    faded = await ports.call(ports.directory.faded, body.namespace, known.claim_id)
    revived = [] if faded is None else [lifecycle_event(faded)]
    return await _place("claim.confirmed", body.namespace, {"claim": known.claim_id}, {}, ports, *revived)


async def resolve(slot: str, body: Resolve, ports: Ports) -> dict[str, str]:
    """Raises NotFound for an unknown slot, InvalidInput when the winner is not one of its claims."""
    if (body.winner is not None) == body.coexist:
        raise InvalidInput("give either winner or coexist", field="winner")
    wanted = memory_id(slot, field="slot")
    await ports.call(ports.directory.settled, body.namespace)
    known = await ports.call(ports.directory.slot, body.namespace, wanted)
    winner = None if body.winner is None else memory_id(body.winner, field="winner")
    if winner is not None and winner not in known.claims:
        raise InvalidInput(f"the winner is one of the slot's claims: {', '.join(known.claims[:5])}", field="winner")
    facts = {
        "slot": known.fingerprint, "winner": winner, "coexist": body.coexist, "claims": list(known.claims),
    }  # fmt: skip
    return await _place("conflict.resolved", body.namespace, facts, {"reason": body.reason}, ports)


async def feedback(body: Feedback, ports: Ports) -> dict[str, str]:
    """Raises NotFound where no recall showed that, NotCaughtUp where that cannot be known now."""
    exposure, _, number = body.exposure_id.partition(".")
    shown = await ports.call(ports.directory.shown, body.namespace, exposure, seconds=EXPOSED_SECONDS)
    if shown is None:
        await ports.call(ports.directory.settled, body.namespace)
        shown = await ports.call(ports.directory.shown, body.namespace, exposure, seconds=0)
    if shown is None:
        raise NotFound(
            "none of this namespace's last recalls goes by it: give the exposure_id that recall returned, and the"
            " namespace that was asked",
            field="exposure_id",
        )
    if number and int(number) >= shown:
        raise NotFound(f"that recall showed {shown} items, numbered from 0: give one of them", field="exposure_id")
    facts = {"exposure": body.exposure_id, "helpful": body.helpful}
    return await _place("feedback.given", body.namespace, facts, {"note": body.note}, ports)


async def _place(
    type_: str, namespace: str, facts: dict[str, Any], body: dict[str, str | None], ports: Ports, *more: NewEvent
) -> dict[str, str]:
    """The event, and `more` in one batch with it. The position is that of the last."""
    said = {name: text for name, text in body.items() if text is not None}
    event = NewEvent(event_id=new_id(), type=type_, namespace=namespace, body=said, facts=facts)
    appended = await ports.commits.append(Batch(events=[event, *more]))
    return {"position": str(max(one.position for one in appended.recorded))}
