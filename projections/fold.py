"""The fold of one partition: what each type of event does to the read model.

`apply` is deterministic in the events alone, and in which extraction generation is folded: what another one derived
leaves no more than the way to its words. Types that change nothing here are folded as nothing; a type or version
this code does not know never reaches it (the reader stops there). Bodies that were erased fold from their facts: the
slot keeps an opaque rectangle and no word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from taishi.ingest.envelope import RAW_TYPES, SYSTEM_TYPES, Event

from .fold_claims import retracted, stated
from .fold_entities import identified
from .fold_erasure import forgotten
from .fold_extraction import closed
from .fold_foreign import drop_foreign, noted
from .fold_judgement import confirmed, feedback, judged, recalled, resolved
from .fold_lifecycle import archived, expired, revived
from .fold_remarks import REMARKED, remark
from .fold_settings import configured
from .model import Model
from .parking import given_up
from .rendering import spoken
from .schema import document_of_event


def apply(model: Model, event: Event) -> None:
    """Folds one event. Raises on an event whose facts make no sense: the worker decides what becomes of it."""
    if event.type in SYSTEM_TYPES:
        return
    if event.facts.get("wordless"):  # its key is destroyed, or is about to be
        event = replace(event, body=None)
    handler = _HANDLERS.get(event.type)
    ns = model.namespace(event)
    if event.generation not in (None, model.generation):
        noted(model, event, ns)
    elif handler is not None:
        handler(model, event, ns)
    if event.type in REMARKED:
        remark(model, event, ns)


# raw events


def _raw(model: Model, event: Event, ns: int) -> None:
    seq = event.position.seq
    body: Mapping[str, Any] = event.body or {}
    text, speaker = body.get("text"), body.get("speaker")
    metadata = body.get("metadata")
    model.execute(
        "INSERT INTO events (seq, ns, event_id, type, session, actor_id, role, origin, session_kind, said_at,"
        " recorded_at, key_id, kept_from, speaker, text, metadata)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            seq, ns, event.event_id, event.type, event.session, event.actor.id, event.actor.role, event.origin,
            event.session_kind, event.said_at, event.recorded_at, event.key_id, event.appended_at, speaker, text,
            None if not metadata else orjson.dumps(metadata, option=orjson.OPT_SORT_KEYS).decode(),
        ),
    )  # fmt: skip
    model.execute("UPDATE namespaces SET pending = pending + 1 WHERE ns = ?", (ns,))
    if text:
        model.index(document_of_event(seq), ns, spoken(text, speaker))


# forgetting


def _forgotten(model: Model, event: Event, ns: int) -> None:
    drop_foreign(model, [seq for _, seq in event.facts["claims"]])
    forgotten(model, event, ns)


_HANDLERS: Final[Mapping[str, Callable[[Model, Event, int], None]]] = {
    **dict.fromkeys(RAW_TYPES, _raw),
    **dict.fromkeys(("claim.extracted", "claim.asserted", "claim.corrected"), stated),
    "claim.retracted": retracted,
    "claim.expired": expired,
    "claim.archived": archived,
    "claim.revived": revived,
    "claim.forgotten": _forgotten,
    "scope.forgotten": _forgotten,
    "extraction.completed": closed("done"),
    "extraction.failed": closed("failed"),
    "window.skipped": closed("skipped"),
    "claim.confirmed": confirmed,
    "conflict.resolved": resolved,
    "dedup.judged": judged,
    "entity.aliased": identified,
    "entity.merged": identified,
    "entity.split": identified,
    "memory.recalled": recalled,
    "feedback.given": feedback,
    "namespace.configured": configured,
    "event.skipped": given_up,
}
