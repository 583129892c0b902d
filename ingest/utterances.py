"""Raw events as an extractor sees them: who speaks, and when, in whose time zone."""

from __future__ import annotations

from datetime import tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from .envelope import Event
from .extractor import Utterance
from .instants import to_datetime, with_offset


def speaker_of(event: Event) -> str:
    """The subject of the first person: the actor's name or id, else `user` or the role."""
    name = (event.body or {}).get("speaker")
    return name or event.actor.id or event.actor.role


def utterance(event: Event, zone: tzinfo) -> Utterance:
    """An event with a text. Its time is in its own UTC offset where it was given with one, else in `zone`."""
    stated = event.occurred_at is not None and event.occurred_offset is not None
    offset = event.occurred_offset if stated else None
    return Utterance(
        event_id=event.event_id,
        text=(event.body or {})["text"],
        said_at=to_datetime(event.said_at, zone) if offset is None else with_offset(event.said_at, offset),
        speaker=speaker_of(event),
        role=event.actor.role,
        origin=event.origin,
        session_kind=event.session_kind,
    )


@lru_cache(maxsize=1024)
def zone_named(name: str) -> tzinfo:
    """Raises ZoneInfoNotFoundError or ValueError where there is no such zone."""
    return ZoneInfo(name)
