"""The event history of a namespace, read from the log itself: what was recorded, by whom and when. Erased words are
shown as erased."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from taishi.ingest.envelope import Event
from taishi.ingest.instants import render
from taishi.ingest.log import EventLog

from .cursors import decode, encode
from .rows import NamespaceRow

PAGE: Final = 100
SCANNED: Final = 10_000
"""Events of the partition that one page looks through, at most: a page may be short and still have a next."""
READ: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """`since` and `until` bound recorded time, [since, until)."""

    namespace: str
    type: str | None = None
    actor: str | None = None
    session: str | None = None
    origin: str | None = None
    since: int | None = None
    until: int | None = None
    limit: int = PAGE
    cursor: str | None = None


def audit(log: EventLog, namespace: NamespaceRow | None, request: AuditRequest) -> dict[str, Any]:
    """Oldest first."""
    asked = {
        "namespace": request.namespace,
        "type": request.type,
        "actor": request.actor,
        "session": request.session,
        "origin": request.origin,
        "since": request.since,
        "until": request.until,
    }
    head = log.namespace_head(request.namespace)
    after = 0 if namespace is None else namespace.ns - 1
    if request.cursor is not None:
        after = max(after, decode(request.cursor, asked, names=("after",))["after"])
    begun = after
    events: list[dict[str, Any]] = []
    while after < head.position.seq and after - begun < SCANNED and len(events) < request.limit:
        batch = log.read(head.position.partition, after=after, limit=READ)
        if not batch:
            break
        for event in batch:
            after = event.position.seq
            if _asked(event, request):
                events.append(_shown(event))
                if len(events) == request.limit:
                    break
    more = after < head.position.seq
    return {"events": events, "next_cursor": encode({"after": after}, asked) if more else None}


def _asked(event: Event, request: AuditRequest) -> bool:
    return (
        event.namespace == request.namespace
        and (request.type is None or event.type == request.type)
        and (request.actor is None or event.actor.id == request.actor)
        and (request.session is None or event.session == request.session)
        and (request.origin is None or event.origin == request.origin)
        and (request.since is None or event.recorded_at >= request.since)
        and (request.until is None or event.recorded_at < request.until)
    )


def _shown(event: Event) -> dict[str, Any]:
    return {
        "event_id": event.event_id,
        "position": str(event.position),
        "type": event.type,
        "schema_version": event.schema_version,
        "session": event.session,
        "actor": {"id": event.actor.id, "role": event.actor.role},
        "origin": event.origin,
        "session_kind": event.session_kind,
        "appended_at": render(event.appended_at),
        "recorded_at": render(event.recorded_at),
        "occurred_at": render(event.occurred_at),
        "generation": event.generation,
        "correlation_id": event.correlation_id,
        "causation_id": event.causation_id,
        "evidence": list(event.evidence),
        "facts": dict(event.facts),
        "erased": event.erased,
        "body": None if event.body is None else dict(event.body),
    }
