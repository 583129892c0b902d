"""Stream entries: how one event is written in the log and read back.

An entry has the fields `h` header, `b` sealed body (see `crypto`), `d` digest = SHA-256(length of h ‖ h ‖ b), `t`
appended_at, and `r` recorded_at where it was given (imported history). `h` is JSON under one-letter names, absent where
null:

    i event_id   y type           v schema_version   n namespace   s session         a [actor id, role]
    o origin     k session_kind   w occurred_at      z its UTC offset in minutes     g generation
    c correlation_id              u causation_id     x key_id      e evidence        f facts
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from .crypto import NO_KEY, is_encrypted, seal, unseal
from .envelope import Actor, Event, NewEvent, Position
from .errors import KeyMissing, LogDamaged
from .upcasters import UPCASTERS, Shape

_EMPTY_BODY: Final[dict[str, Any]] = {}
_FIELDS: Final = [b"h", b"b", b"d", b"t"]
_IMPORTED_FIELDS: Final = [*_FIELDS, b"r"]


def encode_header(event: NewEvent, key_id: int) -> bytes:
    """Raises TypeError where `facts` are no JSON."""
    header: dict[str, Any] = {
        "i": event.event_id,
        "y": event.type,
        "v": event.schema_version,
        "n": event.namespace,
        "a": (event.actor.id, event.actor.role),
        "o": event.origin,
        "k": event.session_kind,
        "x": key_id,
    }
    if event.session is not None:
        header["s"] = event.session
    if event.occurred_at is not None:
        header["w"] = event.occurred_at
    if event.occurred_offset is not None:
        header["z"] = event.occurred_offset
    if event.generation is not None:
        header["g"] = event.generation
    if event.correlation_id is not None:
        header["c"] = event.correlation_id
    if event.causation_id is not None:
        header["u"] = event.causation_id
    if event.evidence:
        header["e"] = event.evidence
    if event.facts:
        header["f"] = event.facts
    return orjson.dumps(header)


def digest_of(header: bytes, sealed: bytes) -> bytes:
    return hashlib.sha256(len(header).to_bytes(4, "big") + header + sealed).digest()


class Sealed(NamedTuple):
    """What is written of one event: everything but its place and time."""

    header: bytes
    body: bytes
    digest: bytes


def seal_event(event: NewEvent, *, key_id: int, key: bytes | None, nonce: bytes) -> Sealed:
    """`key` None writes the body open. Raises TypeError where facts or body are no JSON."""
    header = encode_header(event, key_id)
    body = orjson.dumps(event.body)
    if key is not None:
        body = seal(body, key=key, nonce=nonce, header=header)
    return Sealed(header, body, digest_of(header, body))


@dataclass(slots=True)
class StoredEntry:
    """An entry as it stands in the stream, its digest verified, its body still sealed."""

    position: Position
    raw_header: bytes
    header: dict[str, Any]
    sealed: bytes
    digest: bytes
    appended_at: int
    recorded_at: int
    encrypted: bool
    imported: bool
    """Whether `recorded_at` was given (the field `r`)."""

    @property
    def key_id(self) -> int:
        return int(self.header["x"])


def parse_entry(partition: int, seq: int, fields: list[bytes]) -> StoredEntry:
    """`fields` alternate names and values. Raises LogDamaged where the entry is not what was written."""
    try:
        given = None
        if fields[::2] == _FIELDS:
            _, raw, _, sealed, _, digest, _, at = fields
        elif fields[::2] == _IMPORTED_FIELDS:
            _, raw, _, sealed, _, digest, _, at, _, given = fields
        else:
            raise ValueError("other fields")
        appended_at = int(at)
        recorded_at = None if given is None else int(given)
    except ValueError:
        raise LogDamaged(f"the entry at {Position(partition, seq)} is not one that this log writes") from None
    return stored_entry(
        Position(partition, seq), raw, sealed, digest=digest, appended_at=appended_at, recorded_at=recorded_at
    )


def stored_entry(
    position: Position, raw: bytes, sealed: bytes, *, digest: bytes, appended_at: int, recorded_at: int | None
) -> StoredEntry:
    """`recorded_at` None: as appended. Raises LogDamaged where the parts do not belong together."""
    if digest_of(raw, sealed) != digest:
        raise LogDamaged(f"the entry at {position} was altered: its digest does not fit")
    try:
        header = orjson.loads(raw)
        encrypted = is_encrypted(sealed)
        if encrypted == (header["x"] == NO_KEY):
            raise LogDamaged(f"the entry at {position} was altered: its key and the form of its body do not fit")
    except (KeyError, ValueError):
        raise LogDamaged(f"the entry at {position} is not one that this log writes") from None
    imported = recorded_at is not None
    return StoredEntry(
        position, raw, header, sealed, digest, appended_at, appended_at if recorded_at is None else recorded_at,
        encrypted, imported,
    )  # fmt: skip


def open_entry(entry: StoredEntry, key: bytes | None, *, erased: bool) -> Event:
    """The event, at its newest schema version. `key` opens an encrypted body; `erased` makes it None."""
    body: Any = None
    if not erased:
        if not entry.encrypted:
            plain = entry.sealed
        elif key is None:
            raise KeyMissing(f"the key store has no row for key {entry.key_id} of the event at {entry.position}")
        else:
            plain = unseal(entry.sealed, key=key, header=entry.raw_header)
        body = orjson.loads(plain)
    header = entry.header
    name, version, facts = header["y"], header["v"], header.get("f", _EMPTY_BODY)
    if version != UPCASTERS.newest(name):
        shape = UPCASTERS.upcast(Shape(type=name, version=version, facts=facts, body=body))
        version, facts, body = shape.version, shape.facts, shape.body
    actor_id, role = header["a"]
    return Event(
        position=entry.position,
        event_id=header["i"],
        type=name,
        schema_version=version,
        namespace=header["n"],
        session=header.get("s"),
        actor=Actor(actor_id, role),
        origin=header["o"],
        session_kind=header["k"],
        appended_at=entry.appended_at,
        recorded_at=entry.recorded_at,
        occurred_at=header.get("w"),
        occurred_offset=header.get("z"),
        generation=header.get("g"),
        correlation_id=header.get("c"),
        causation_id=header.get("u"),
        evidence=tuple(header.get("e", ())),
        facts=facts,
        body=body,
        key_id=header["x"],
        digest=entry.digest,
    )


def same_words(event: NewEvent, stored: Event) -> bool:
    """Whether `event` says what `stored` says: type, session, speaker, origin, time of occurrence, body and facts.

    Both sides are compared as the JSON they are written as. The recorded time is the log's and is not compared.
    """
    shape = UPCASTERS.upcast(Shape(type=event.type, version=event.schema_version, facts=event.facts, body=event.body))
    return _frame(event) == _frame(stored) and _json(shape.body, shape.facts) == _json(stored.body, stored.facts)


def similar(one: NewEvent, other: NewEvent) -> bool:
    """The same of two events that are both on their way."""
    return _frame(one) == _frame(other) and _json(one.body, one.facts) == _json(other.body, other.facts)


def _frame(event: NewEvent | Event) -> tuple[object, ...]:
    return (
        event.type, event.session, event.actor, event.origin, event.session_kind,
        event.occurred_at, event.occurred_offset,
    )  # fmt: skip


def _json(body: Any, facts: Any) -> bytes:
    return orjson.dumps((body, facts), option=orjson.OPT_SORT_KEYS)
