"""Exports of a namespace: JSON lines, one an event, in the order they were recorded. Pure.

The first line is the header, `{"taishi_export": 1, "namespace": …, "exported_at": …, "position": …}`; the last one is
`{"end": <number of events>, "sha256": <of all lines before it>}`, so that a file that was cut short is known by it.
Between them stands one event a line, as `commands.history.HistoryEvent` (`POST /v1/import/log`) documents it:

    event_id type recorded_at session actor{id, role} origin session_kind occurred_at correlation_id causation_id
    evidence   event ids of the words a claim rests on
    body       the words: {text, metadata, speaker} of a raw event, the claim's content of a claim; null: forgotten
    claim      what of a claim outlives its words: valid_from, valid_to (when it is true), known_from (from when it is
               known; null: its recorded_at), whose words outweigh whose, what it corrects (`targets`, event ids)
    read       true: what was read of these words comes along, they are not read again
    facts      what the type says: of which claims (by the events that state them), which verdict

Claims of the live extraction alone come along, each with everything that was said of it: corrections, confirmations,
feedback, what recall showed, fading, forgetting. What was forgotten has no words here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from taishi.ingest.envelope import CLAIM_TYPES, FORGETTING_TYPES, RAW_TYPES, Event, Position
from taishi.ingest.errors import BackupDamaged
from taishi.ingest.ids import derived_id
from taishi.ingest.instants import render, with_offset

VERSION: Final = 1
_CLOSING: Final = frozenset({"extraction.completed", "window.skipped"})
_DERIVED: Final = _CLOSING | {"claim.extracted"}
_FADING: Final = frozenset({"claim.expired", "claim.archived", "claim.revived"})
_WITH_WORDS: Final = frozenset({"entity.aliased", "entity.merged", "entity.split", "namespace.configured"})
_CLAIM: Final = (
    "slot", "value", "negates", "valid_from", "valid_to", "to_inferred", "from_inferred", "known_from", "strength",
    "correction", "succeeds", "was",
)  # fmt: skip


@dataclass(slots=True)
class ExportIndex:
    """What lines refer to, gathered by a first reading (`see`) of the namespace's events in order.

    `extraction` is the extraction generation whose claims go along.
    """

    extraction: int
    events: int = 0
    _stated_by: dict[str, str] = field(default_factory=dict)
    _in_slot: dict[str, str] = field(default_factory=dict)
    _closed: set[str] = field(default_factory=set)
    _there: set[str] = field(default_factory=set)
    _living: dict[tuple[str, ...], int] = field(default_factory=dict)
    _forbidden_upto: int = 0
    _withheld: list[str] = field(default_factory=list)

    def see(self, event: Event) -> None:
        self.events += 1
        if event.type in _DERIVED and event.generation != self.extraction:
            return
        if event.type in RAW_TYPES:
            self._there.add(event.event_id)
        elif event.type in CLAIM_TYPES:
            facts = event.facts["claim"]
            self._there.add(event.event_id)
            self._stated_by[facts["claim_id"]] = event.event_id
            self._in_slot.setdefault(facts["slot"], event.event_id)
            if event.body is not None:
                self._living.setdefault((facts["slot"],), event.position.seq)
                self._living.setdefault(_value_of(facts), event.position.seq)
        elif event.type in _CLOSING:
            self._closed.update(event.facts["events"])
        elif event.type in FORGETTING_TYPES and (event.facts.get("values") or event.facts.get("subjects")):
            self._forbidden_upto = max(self._forbidden_upto, event.facts["upto"])

    def line(self, event: Event, body_at: Callable[[int], Mapping[str, Any] | None]) -> dict[str, Any] | None:
        """The event's line; None where it does not go along. `body_at` gives the body of an event of the partition."""
        if event.type in _DERIVED and event.generation != self.extraction:
            return None
        line = _envelope(event)
        if event.type in RAW_TYPES:
            if event.event_id in self._closed:
                line["read"] = True
            elif event.position.seq <= self._forbidden_upto:  # they might say what was forgotten, which none can tell
                line["read"] = True
                self._withheld.append(event.event_id)
            return line
        if event.type in CLAIM_TYPES:
            return {**line, "claim": self._claim(event, body_at), **self._rests_on(event)}
        if event.type in _WITH_WORDS:
            return None if event.body is None else line
        facts = self._facts(event)
        return None if facts is None else {**line, "facts": facts}

    def last_lines(self, *, namespace: str, exported_at: int) -> list[dict[str, Any]]:
        """What closes words that no extractor had read, and that may not be read any more."""
        facts = {"window": "withheld", "events": self._withheld}
        event_id = derived_id("export.withheld", namespace, *self._withheld)
        line = {"event_id": event_id, "type": "window.skipped", "recorded_at": render(exported_at)}
        return [{**line, "actor": {"role": "system"}, "origin": "system", "facts": facts}] if self._withheld else []

    def _rests_on(self, event: Event) -> dict[str, Any]:
        if "carried" in event.facts:
            return {"evidence": list(event.facts["carried"]), "carried": True}
        return {"evidence": list(event.evidence)} if event.evidence else {}

    def _claim(self, event: Event, body_at: Callable[[int], Mapping[str, Any] | None]) -> dict[str, Any]:
        facts = event.facts["claim"]
        claim = {name: facts[name] for name in _CLAIM if name in facts}
        if targets := self._events_of(facts.get("targets", ())):
            claim["targets"] = targets
        if event.body is None:
            for name, key in (("slot_like", (facts["slot"],)), ("value_like", _value_of(facts))):
                if key in self._living and (body := body_at(self._living[key])) is not None:
                    claim[name] = body
        return claim

    def _events_of(self, claim_ids: Any) -> list[str]:
        return [self._stated_by[i] for i in claim_ids if i in self._stated_by]

    def _facts(self, event: Event) -> dict[str, Any] | None:
        facts = event.facts
        if event.type in FORGETTING_TYPES:
            return {
                "kind": facts["kind"],
                "claims": self._events_of(i for i, _ in facts["claims"]),
                "events": [i for i, _ in facts["events"]],
            }
        if event.type in _FADING:
            claims = self._events_of(i for i, _ in facts["claims"])
            events = [i for i, _ in facts["events"] if i in self._there]
            return {**facts, "claims": claims, "events": events} if claims else None
        match event.type:
            case "extraction.completed" | "window.skipped":
                return {**facts, "events": [i for i in facts["events"] if i in self._there]}
            case "claim.confirmed":
                found = self._events_of([facts["claim"]])
                return {"claim": found[0]} if found else None
            case "claim.retracted":
                targets = self._events_of(facts["targets"])
                return {**facts, "targets": targets} if targets else None
            case "dedup.judged":
                pair = self._events_of(facts["claims"])
                return {"claims": pair, "verdict": facts["verdict"]} if len(pair) == 2 else None
            case "conflict.resolved":
                return self._resolution(facts)
            case "memory.recalled":
                pairs = zip(facts["items"], facts["kinds"], strict=True)
                shown = [
                    {"event": self._stated_by[i] if kind == "claim" else i, "kind": kind}
                    for i, kind in pairs
                    if (i in self._stated_by if kind == "claim" else i in self._there)
                ]
                kept = {name: facts[name] for name in ("exposure", "reader", "told") if name in facts}
                return {**kept, "shown": shown} if len(shown) == len(facts["items"]) else None
            case "feedback.given":
                return dict(facts)
        return None

    def _resolution(self, facts: Mapping[str, Any]) -> dict[str, Any] | None:
        slot = self._stated_by.get(facts["slot"]) or self._in_slot.get(facts["slot"])
        winner = None if facts.get("winner") is None else self._stated_by.get(facts["winner"])
        if slot is None or (winner is None and not facts.get("coexist")):
            return None
        claims = self._events_of(facts.get("claims", ()))
        return {"slot": slot, "winner": winner, "coexist": bool(facts.get("coexist")), "claims": claims}


def _value_of(facts: Mapping[str, Any]) -> tuple[str, ...]:
    return facts["slot"], facts["value"], str(bool(facts.get("negates")))


def _envelope(event: Event) -> dict[str, Any]:
    line: dict[str, Any] = {"event_id": event.event_id, "type": event.type, "recorded_at": render(event.recorded_at)}
    if event.session is not None:
        line["session"] = event.session
    if event.actor.id is not None or event.actor.role != "user":
        line["actor"] = {"id": event.actor.id, "role": event.actor.role}
    line |= {"origin": event.origin, "session_kind": event.session_kind}
    if event.occurred_at is not None:
        line["occurred_at"] = with_offset(event.occurred_at, event.occurred_offset or 0).isoformat()
    for name in ("correlation_id", "causation_id"):
        if (value := getattr(event, name)) is not None:
            line[name] = value
    return {**line, "body": None if event.body is None else dict(event.body)}


# -- the file


def header_line(*, namespace: str, exported_at: int, position: Position) -> bytes:
    return orjson.dumps({
        "taishi_export": VERSION, "namespace": namespace, "exported_at": render(exported_at), "position": str(position),
    }) + b"\n"  # fmt: skip


class Checked:
    """Lines on their way in or out: counted, summed up, and the last line told from the others."""

    def __init__(self) -> None:
        self.events = 0
        self._sum: Final = hashlib.sha256()

    def header(self, line: bytes) -> dict[str, Any]:
        """Raises BackupDamaged where it is none of a version that is read here."""
        self._sum.update(line)
        header = orjson.loads(line)
        if header.get("taishi_export") != VERSION:
            raise BackupDamaged(f"the export has version {header.get('taishi_export')}, this release reads {VERSION}")
        return dict(header)

    def event(self, line: bytes) -> None:
        self._sum.update(line)
        self.events += 1

    def end_line(self) -> bytes:
        return orjson.dumps({"end": self.events, "sha256": self._sum.hexdigest()}) + b"\n"

    def is_end(self, line: bytes) -> bool:
        """Raises BackupDamaged where it is the end of other lines than these."""
        if not line.startswith(b'{"end":'):
            return False
        if line != self.end_line():
            raise BackupDamaged("the export was altered: its last line does not fit those before it")
        return True


def is_header(line: bytes) -> bool:
    return line.startswith(b'{"taishi_export":')
