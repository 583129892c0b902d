"""Golden stored events: entries as some release wrote them, with what must be read from them for good.

    python -m tests.support.golden

writes those of `EXAMPLES` that are missing from `tests/unit/golden/`. A file is never rewritten: it stands for data
that is out there. When a type's schema changes, its old files stay, and `event` in them becomes the upcast form.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from taishi.ingest.entries import seal_event
from taishi.ingest.envelope import Actor, NewEvent
from taishi.ingest.upcasters import UPCASTERS, Shape

FOLDER = Path(__file__).parent.parent / "unit" / "golden"
SEEN = (
    "event_id", "type", "schema_version", "namespace", "session", "origin", "session_kind", "occurred_at",
    "occurred_offset", "generation", "correlation_id", "causation_id", "facts", "body",
)  # fmt: skip
BASE: dict[str, Any] = {"event_id": "0198c0de-7a11-7000-8000-00000000002a", "namespace": "house", "session": "s1"}
SOURCE = "0198c0de-7a11-7000-8000-00000000002d"
CLAIM = {
    "claim_id": "c3" * 16, "slot": "a1" * 16, "value": "b2" * 16, "valid_from": 5, "valid_to": 253402300800000000,
    "to_inferred": True, "known_from": 4, "strength": 40,
}  # fmt: skip
RECALLED: dict[str, Any] = {"type": "memory.recalled", "actor": Actor(role="system"), "origin": "system"}
SHOWN = {"exposure": "x9", "items": ["c3" * 16, SOURCE], "claims": ["c3" * 16], "events": [SOURCE]}
EXAMPLES: dict[str, tuple[NewEvent, bool]] = {
    "message.recorded.v1": (
        NewEvent(
            **BASE,
            type="message.recorded",
            body={"text": "水管工周三上午九点来，钥匙在门垫下。 " * 20, "speaker": "林", "metadata": {"floor": 3}},
            actor=Actor("lin", "user"),
            occurred_at=1_772_000_000_000_000,
            occurred_offset=480,
            correlation_id="0198c0de-7a11-7000-8000-00000000002b",
            causation_id="0198c0de-7a11-7000-8000-00000000002c",
        ),
        True,
    ),
    "message.recorded.v1.open": (
        NewEvent(**BASE, type="message.recorded", body={"text": "the lift works again"}),
        False,
    ),
    "claim.extracted.v1": (
        NewEvent(
            **BASE,
            type="claim.extracted",
            body={"subject": "user", "predicate": "owns", "value": "a piano", "quote": [SOURCE, 0, 7, "a piano"]},
            facts={"claim": CLAIM},
            generation=1,
            evidence=(SOURCE,),
        ),
        True,
    ),
    "extraction.completed.v1": (
        NewEvent(
            **BASE,
            type="extraction.completed",
            body={},
            facts={"window": "w", "events": [SOURCE], "claims": 1, "decisions": {}, "extractor": "rules@1"},
            generation=1,
        ),
        True,
    ),
    "memory.recalled.v1": (NewEvent(**BASE, **RECALLED, facts={**SHOWN, "seqs": [4, 2]}, body={}), True),
    "memory.recalled.v1.oldest": (NewEvent(**BASE, **RECALLED, facts=SHOWN, body={}), True),
    "memory.recalled.v2": (
        NewEvent(
            **BASE,
            **RECALLED,
            schema_version=2,
            facts={
                "exposure": "x9", "items": ["c3" * 16, SOURCE], "kinds": ["claim", "event"], "seqs": [4, 2],
                "reader": {"key": "desk", "actor": "lin"},
            },
            body={},
        ),
        True,
    ),
    "claim.forgotten.v1": (
        NewEvent(
            **BASE,
            type="claim.forgotten",
            body={"reason": "asked to"},
            facts={"kind": "claim", "claims": [["c3" * 16, 2]], "events": [[SOURCE, 1]], "keys": [1, 2]},
            erases=(SOURCE,),
        ),
        True,
    ),
}  # fmt: skip


def goldens() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(FOLDER.glob("*.json")):
        yield path.stem, json.loads(path.read_text("utf-8"))


def fields(golden: dict[str, Any]) -> list[bytes]:
    """The entry's fields as the server returns them."""
    stored = golden["stored"]
    pairs = {"h": stored["h"].encode(), "b": base64.b64decode(stored["b"]), "d": bytes.fromhex(stored["d"])}
    pairs |= {name: stored[name].encode() for name in "tr" if name in stored}
    return [part for name, value in pairs.items() for part in (name.encode(), value)]


def _write(name: str, event: NewEvent, encrypted: bool) -> None:
    """`event` as it was written then; what is read from it is at today's version."""
    key = os.urandom(32) if encrypted else None
    sealed = seal_event(event, key_id=7 if encrypted else 0, key=key, nonce=os.urandom(12))
    stored = {
        "h": sealed.header.decode(),
        "b": base64.b64encode(sealed.body).decode(),
        "d": sealed.digest.hex(),
        "t": "1772000000000001",
    }
    if name == "message.recorded.v1":
        stored["r"] = "1500000000000000"
    shape = UPCASTERS.upcast(Shape(type=event.type, version=event.schema_version, facts=event.facts, body=event.body))
    event = replace(event, schema_version=shape.version, facts=shape.facts, body=shape.body)
    golden = {
        "key": None if key is None else key.hex(),
        "stored": stored,
        "event": {
            **{field: getattr(event, field) for field in SEEN},
            "actor": [event.actor.id, event.actor.role],
            "evidence": list(event.evidence),
        },
    }
    (FOLDER / f"{name}.json").write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    for name, (event, encrypted) in EXAMPLES.items():
        if not (FOLDER / f"{name}.json").exists():
            _write(name, event, encrypted)
