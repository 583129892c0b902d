"""Replaying a namespace's history into the log: each event validated anew, its references bound to what is here.

Claims are bound to slots as if they were stated now, under this deployment's secrets; the intervals and times they were
recorded with stay. An event whose words were forgotten enters without words and says so (`wordless`: whoever reads it
before its key is destroyed, at once, reads it alike), and so stays a rectangle without content. Tombstones name what
they named, destroy the keys again and enter the ledger. Who sends the same history twice gets the first positions; what
was forgotten here since stays forgotten.

Nothing is redacted: what was taken for a secret was taken out when it first came in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from pydantic import ValidationError

from taishi.ingest.crypto import NO_KEY
from taishi.ingest.dictionary import dictionary_words
from taishi.ingest.entries import same_words
from taishi.ingest.envelope import CLAIM_TYPES, FORGETTING_TYPES, RAW_TYPES, Actor, Event, NewEvent, Position
from taishi.ingest.errors import EventIdConflict, InvalidInput
from taishi.ingest.ledger import LedgerEntry
from taishi.ingest.log import Batch
from taishi.ingest.web import Contract

from .configure import Configure
from .contract import stamp
from .history import (
    BODIES,
    FACTS,
    Closed,
    Confirmed,
    Facts,
    Faded,
    Forgotten,
    History,
    HistoryEvent,
    Judged,
    Recalled,
    Remark,
    Resolved,
    Retracted,
)
from .ports import Ports
from .rebinding import rebound

_DERIVED: Final = frozenset({"claim.extracted", "extraction.completed", "window.skipped"})
_NAMES_PLACES: Final = FORGETTING_TYPES | {"claim.expired", "claim.archived", "claim.revived"}
"""Types whose facts hold positions: what they speak of must be in the log before they can be written."""
_NO_WORDS: Final[Mapping[str, Mapping[str, Any]]] = {
    **{type_: {"text": ""} for type_ in RAW_TYPES},
    **{type_: {"subject": "", "predicate": "note", "value": ""} for type_ in CLAIM_TYPES},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stating:
    """A claim in the log, or on its way there: its id and its slot."""

    claim_id: str
    slot: str


@dataclass(slots=True)
class _Replay:
    """One request. `claims` are those that it states or speaks of, by event id; `places` those of events in the log,
    `keys` the data keys of events to be forgotten."""

    namespace: str
    generation: int
    ports: Ports
    claims: dict[str, _Stating] = field(default_factory=dict)
    places: dict[str, Position] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    replies: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[tuple[NewEvent, bool]] = field(default_factory=list)


async def replay(body: History, ports: Ports) -> dict[str, Any]:
    """Raises InvalidInput that names the event and the field, RecordedBehind, EventIdConflict, Unavailable."""
    work = _Replay(namespace=body.namespace, generation=ports.extraction(), ports=ports)
    said = [
        (event, _checked(FACTS.get(event.type, Facts), event.facts, f"events.{index}.facts"))
        for index, event in enumerate(body.events)
    ]
    await _look_up(said, work)
    for index, (event, facts) in enumerate(said):
        where = f"events.{index}"
        if event.type in _NAMES_PLACES:
            await _flush(work)
        if isinstance(facts, Forgotten):
            await _look_at_keys(facts, work)
        wordless = event.body is None and event.type in _NO_WORDS
        new = NewEvent(
            event_id=event.event_id,
            type=event.type,
            namespace=body.namespace,
            body=_body(event, where),
            facts={**_facts(event, facts, work, where), **({"wordless": True} if wordless else {})},
            schema_version=2 if event.type == "memory.recalled" else 1,
            session=event.session,
            actor=Actor(event.actor.id, event.actor.role),
            origin=event.origin,
            session_kind=event.session_kind,
            recorded_at=stamp(event.recorded_at, field=f"{where}.recorded_at").instant,
            generation=work.generation if event.type in _DERIVED else None,
            correlation_id=event.correlation_id,
            causation_id=event.causation_id,
            evidence=() if event.carried else tuple(event.evidence),
            erases=tuple(facts.events) if isinstance(facts, Forgotten) else (),
            **_said(event, where),
        )
        work.waiting.append((new, wordless))
    await _flush(work)
    return {"accepted": work.replies}


async def _look_up(said: Sequence[tuple[HistoryEvent, Facts]], work: _Replay) -> None:
    """Finds in the log what these events are, or speak of."""
    claims: set[str] = set()
    named: dict[str, None] = {}
    for event, facts in said:
        claims.update(event.claim.targets if event.claim is not None else (), facts.claims_named())
        named |= dict.fromkeys((event.event_id, *facts.events_named()))
    named |= dict.fromkeys(sorted(claims))
    found = await work.ports.call(work.ports.log.locate, work.namespace, list(named))
    work.places |= {i: place for i, place in zip(named, found, strict=True) if place is not None}
    for event_id in sorted(claims & work.places.keys()):
        _note(await work.ports.call(work.ports.log.fetch, work.places[event_id]), work)


async def _look_at_keys(facts: Forgotten, work: _Replay) -> None:
    for event_id in facts.events:
        place = work.places.get(event_id)
        if place is not None:
            work.keys[event_id] = (await work.ports.call(work.ports.log.fetch, place)).key_id


def _note(event: Event | NewEvent, work: _Replay) -> None:
    if event.type in CLAIM_TYPES:
        facts = event.facts["claim"]
        work.claims[event.event_id] = _Stating(claim_id=facts["claim_id"], slot=facts["slot"])


async def _flush(work: _Replay) -> None:
    """Appends what waits, less what is in the log already; the keys of what has no words go at once."""
    ports, new = work.ports, list[NewEvent]()
    for event, _ in work.waiting:
        place = work.places.get(event.event_id)
        if place is None:
            new.append(event)
            continue
        stored = await ports.call(ports.log.fetch, place)
        if not stored.erased and not same_words(event, stored):
            raise EventIdConflict(
                "the event id is known with other content: an export goes into an empty namespace", field=event.event_id
            )
    appended = (await ports.commits.append(Batch(events=new))).recorded if new else ()
    work.places |= {one.event_id: one.position for one in appended}
    fresh = {event.event_id for event in new}
    for event, wordless in work.waiting:
        place = work.places[event.event_id]
        if wordless or event.type in FORGETTING_TYPES:
            await _destroy(event, place, wordless, ports)
        work.replies.append(
            {"event_id": event.event_id, "position": str(place), "duplicate": event.event_id not in fresh}
        )
    work.waiting.clear()


async def _destroy(event: NewEvent, place: Position, wordless: bool, ports: Ports) -> None:
    stored = await ports.call(ports.log.fetch, place)
    keys = {stored.key_id} if wordless else set(stored.facts["keys"])
    await ports.call(ports.keys.destroy, keys - {NO_KEY}, at=ports.clock())
    if not wordless:
        await ports.call(ports.ledger.append, LedgerEntry.of(stored))


# -- what an event says


def _checked(model: type[Contract], given: Mapping[str, Any], where: str) -> Any:
    try:
        return model.model_validate_json(orjson.dumps(given))
    except TypeError:
        raise InvalidInput("it holds what JSON of 64-bit numbers cannot", field=where) from None
    except ValidationError as e:
        first = e.errors()[0]
        place = ".".join([where, *(str(part) for part in first["loc"])])
        raise InvalidInput(str(first["msg"]).removeprefix("Value error, "), field=place) from None


def _body(event: HistoryEvent, where: str) -> Mapping[str, Any]:
    if event.body is None:
        return _NO_WORDS.get(event.type, {})
    if event.type == "namespace.configured":
        settings: Configure = _checked(Configure, event.body, f"{where}.body")
        dictionary_words(settings.dictionary or ())
        return settings.model_dump(exclude_none=True)  # a null setting is one that is left out
    _checked(BODIES.get(event.type, Remark), event.body, f"{where}.body")
    return event.body


def _said(event: HistoryEvent, where: str) -> dict[str, int]:
    if event.occurred_at is None:
        return {}
    at = stamp(event.occurred_at, field=f"{where}.occurred_at")
    return {"occurred_at": at.instant, "occurred_offset": at.offset}


def _facts(event: HistoryEvent, facts: Any, work: _Replay, where: str) -> dict[str, Any]:
    def claim(event_id: str) -> str:
        return _known(event_id, work, where).claim_id

    match facts:
        case Confirmed():
            return {"claim": claim(facts.claim)}
        case Retracted():
            return {"targets": list(map(claim, facts.targets)), **({"was": facts.was} if facts.was else {})}
        case Resolved():
            winner = None if facts.winner is None else claim(facts.winner)
            slot = _known(facts.slot, work, where).slot
            named = list(map(claim, facts.claims))
            return {"slot": slot, "winner": winner, "coexist": facts.coexist, "claims": named}
        case Judged():
            return {"claims": list(map(claim, facts.claims)), "verdict": facts.verdict}
        case Recalled():
            told = {} if facts.told is None else {"told": facts.told}
            return {
                "exposure": facts.exposure,
                "items": [claim(one.event) if one.kind == "claim" else one.event for one in facts.shown],
                "kinds": [one.kind for one in facts.shown],
                "seqs": [],
                "reader": facts.reader,
                **told,
            }
        case Faded():
            return {
                "claims": [[claim(i), work.places[i].seq] for i in facts.claims],
                "events": [[i, work.places[i].seq] for i in facts.events if i in work.places],
                "reason": facts.reason,
                "since": facts.since,
            }
        case Forgotten():
            return _tombstone(facts, work, where)
        case Closed():
            return facts.model_dump(exclude_none=True)
    if event.type in RAW_TYPES:
        return {"read": [work.generation]} if event.read else {}
    if event.type in CLAIM_TYPES:
        return _claim(event, work, where)
    return facts.model_dump()  # type: ignore[no-any-return]


def _known(event_id: str, work: _Replay, where: str) -> _Stating:
    found = work.claims.get(event_id)
    if found is None:
        raise InvalidInput(f"{event_id} is no claim that came before this event", field=f"{where}.facts")
    return found


def _tombstone(facts: Forgotten, work: _Replay, where: str) -> dict[str, Any]:
    """An event that did not come along is named without a place: it keeps its id from coming back."""
    places = {i: work.places[i].seq if i in work.places else 0 for i in facts.events}
    return {
        "kind": facts.kind,
        "claims": [[_known(i, work, where).claim_id, work.places[i].seq] for i in facts.claims],
        "events": [[i, seq] for i, seq in places.items()],
        "keys": sorted({work.keys[i] for i, seq in places.items() if seq} - {NO_KEY}),
    }


def _claim(event: HistoryEvent, work: _Replay, where: str) -> dict[str, Any]:
    given = event.claim
    if given is None:
        raise InvalidInput("a claim comes with what outlives its words", field=f"{where}.claim")
    facts = rebound(
        event,
        given,
        namespace=work.namespace,
        targets=[_known(i, work, where).claim_id for i in given.targets],
        registry=work.ports.registry,
        fingerprints=work.ports.fingerprints,
    )
    work.claims[event.event_id] = _Stating(claim_id=facts.claim_id, slot=facts.slot)
    return {"claim": facts.to_header(), **({"carried": list(event.evidence)} if event.carried else {})}
