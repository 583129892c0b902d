"""Forgetting: one memory at once; a subject, a session, a time range or a whole namespace after a dry run.

First the tombstone enters the log, then the keys of the words are destroyed, then the ledger is told, then the read
models drop what they hold; a process that dies between them leaves work that the log's readers finish. The receipt is
signed, so that it can be checked against the log later. A confirmation token is bound to namespace, scope and position:
what was written after the dry run stays.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

import orjson
from pydantic import BaseModel, Field

from taishi.ingest.crashpoints import reach
from taishi.ingest.envelope import Event, NewEvent
from taishi.ingest.errors import InvalidInput, NotCaughtUp, NotFound
from taishi.ingest.ids import new_id
from taishi.ingest.instants import SECOND, render
from taishi.ingest.ledger import LedgerEntry
from taishi.ingest.log import Batch
from taishi.ingest.web import Contract

from .contract import Name, Namespace, Reason, Time, memory_id, stamp
from .directory import Closure, Scope
from .ports import Ports

TOKEN_LIFE: Final = 600 * SECOND
LARGEST_TOMBSTONE: Final = 1_000
"""Events that one tombstone names; a larger closure is forgotten by several."""


class Forget(Contract):
    """One of `subject`, `session`, `from`/`to` (when it was said) or `all`; `confirm` is the token of the dry run."""

    namespace: Namespace
    subject: Name | None = None
    session: Name | None = None
    since: Time | None = Field(default=None, alias="from")
    until: Time | None = Field(default=None, alias="to")
    all: bool = False
    reason: Reason | None = None
    confirm: str | None = Field(default=None, max_length=200)


class Forgotten(BaseModel):
    """`would_forget` and `confirm` answer a dry run, `receipt` what was done."""

    would_forget: dict[str, int] | None = None
    confirm: str | None = None
    receipt: dict[str, Any] | None = None


async def forget_memory(given_id: str, namespace: str, reason: str | None, ports: Ports) -> dict[str, Any]:
    """Raises NotFound, Gone when it was forgotten before."""
    wanted = memory_id(given_id)
    await ports.call(ports.directory.settled, namespace)
    try:
        claim = await ports.call(ports.directory.claim, namespace, wanted)
        scope = Scope(kind="claim", claim_id=claim.claim_id)
    except NotFound:
        await ports.call(ports.directory.event, namespace, wanted)
        scope = Scope(kind="event", event_id=wanted)
    closure = await ports.call(ports.directory.closure, namespace, scope)
    what = {"kind": scope.kind, "namespace": namespace, "id": wanted}
    return {"receipt": await _erase(closure, namespace, scope, what, reason, ports)}


async def forget_scope(body: Forget, ports: Ports) -> dict[str, Any]:
    scope = await _scope(body, ports)
    what: dict[str, Any] = {"kind": scope.kind, "namespace": body.namespace}
    if scope.subject is not None:
        what["subject"] = scope.subject
    if scope.session is not None:
        what["session"] = scope.session
    if scope.kind == "range":
        what |= {"from": render(scope.since), "to": render(scope.until)}
    secret = await ports.call(ports.keys.secret, "ledger")
    if body.confirm is None:
        upto = (await ports.call(ports.log.namespace_head, body.namespace)).position.seq
        await ports.call(ports.directory.settled, body.namespace)
        closure = await ports.call(ports.directory.closure, body.namespace, scope, upto=upto)
        token = _token(secret, body.namespace, scope, upto, ports.clock() + TOKEN_LIFE)
        return {"would_forget": dict(closure.counts), "confirm": token}
    upto = _confirmed(secret, body.confirm, body.namespace, scope, now=ports.clock())
    await ports.call(ports.directory.settled, body.namespace)
    closure = await ports.call(ports.directory.closure, body.namespace, scope, upto=upto)
    return {"receipt": await _erase(closure, body.namespace, scope, what, body.reason, ports)}


async def _scope(body: Forget, ports: Ports) -> Scope:
    """Raises InvalidInput unless the body names exactly one scope."""
    ranged = body.since is not None or body.until is not None
    named = [body.subject is not None, body.session is not None, ranged, body.all]
    if sum(named) != 1:
        raise InvalidInput("say what to forget by one of: subject, session, from/to, all", field="subject")
    if body.subject is not None:
        return Scope(kind="subject", subject=body.subject)
    if body.session is not None:
        return Scope(kind="session", session=body.session)
    if body.all:
        return Scope(kind="namespace")
    zone = await ports.zone_for(body.namespace, body.since, body.until)
    since = None if body.since is None else stamp(body.since, zone=zone, field="from").instant
    until = None if body.until is None else stamp(body.until, zone=zone, field="to").instant
    if since is not None and until is not None and until <= since:
        raise InvalidInput("the range ends before it begins: `to` lies after `from`", field="to")
    return Scope(kind="range", since=since, until=until)


def _mac(secret: bytes, namespace: str, scope: Scope, upto: int, expires: int) -> str:
    bound = orjson.dumps(["forget", namespace, asdict(scope), upto, expires], option=orjson.OPT_SORT_KEYS)
    return hmac.new(secret, bound, hashlib.sha256).hexdigest()


def _token(secret: bytes, namespace: str, scope: Scope, upto: int, expires: int) -> str:
    return f"{upto}.{expires}.{_mac(secret, namespace, scope, upto, expires)}"


def _confirmed(secret: bytes, token: str, namespace: str, scope: Scope, *, now: int) -> int:
    """The upper bound that the token stands for. Raises InvalidInput when it is of another request, or too old."""
    upto, _, rest = token.partition(".")
    expires, _, mac = rest.partition(".")
    known = token.isascii() and upto.isdigit() and expires.isdigit() and len(upto) + len(expires) < 40
    if not known or not hmac.compare_digest(mac, _mac(secret, namespace, scope, int(upto), int(expires))):
        raise InvalidInput("the token does not belong to this request: make the dry run again", field="confirm")
    if int(expires) < now:
        raise InvalidInput("the token has expired: make the dry run again", field="confirm")
    return int(upto)


def _tombstones(closure: Closure) -> Iterator[Closure]:
    """The closure in parts that one event each can name, by position; at least one part."""
    events = sorted(closure.events, key=lambda event: event[1])
    claims = sorted(closure.claims, key=lambda claim: claim[1])
    for start in range(0, len(events) or 1, LARGEST_TOMBSTONE):
        part = events[start : start + LARGEST_TOMBSTONE]
        last = start + LARGEST_TOMBSTONE >= len(events)
        taken = claims if last else [claim for claim in claims if claim[1] <= part[-1][1]]
        claims = claims[len(taken) :]
        yield Closure(claims=taken, events=part)


async def _erase(
    closure: Closure, namespace: str, scope: Scope, what: dict[str, Any], reason: str | None, ports: Ports
) -> dict[str, Any]:
    """Tombstones, then keys, then the ledger, then the read models. The receipt says `read_models: pending` if these
    lag behind."""
    single = scope.kind in ("claim", "event")
    correlation = new_id()
    tombstone: Event | None = None
    destroyed = 0
    for part in _tombstones(closure):
        keys = sorted({key_id for _, _, key_id in part.events})
        event = NewEvent(
            event_id=new_id(),
            type="claim.forgotten" if single else "scope.forgotten",
            namespace=namespace,
            body={} if reason is None else {"reason": reason},
            facts={
                "kind": scope.kind,
                "claims": [[claim_id, seq] for claim_id, seq in part.claims],
                "events": [[event_id, seq] for event_id, seq, _ in part.events],
                "keys": keys,
            },
            correlation_id=correlation,
            erases=tuple(event_id for event_id, _, _ in part.events),
        )
        appended = await ports.commits.append(Batch(events=[event]))
        reach("tombstoned")
        destroyed += await ports.call(ports.keys.destroy, keys, at=ports.clock())
        reach("destroyed")
        tombstone = await ports.call(ports.log.fetch, appended.recorded[0].position)
        await ports.call(ports.ledger.append, LedgerEntry.of(tombstone))
    assert tombstone is not None
    try:
        await ports.call(ports.directory.settled, namespace)
        dropped = "dropped"
    except NotCaughtUp:
        dropped = "pending"
    receipt = {
        "what": what,
        "when": render(tombstone.recorded_at),
        "counts": {**closure.counts, "keys_destroyed": destroyed},
        "position": str(tombstone.position),
        "digest": tombstone.digest.hex(),
        "read_models": dropped,
    }
    secret = await ports.call(ports.keys.secret, "ledger")
    return {**receipt, "signature": sign_receipt(receipt, secret)}


def sign_receipt(receipt: dict[str, Any], secret: bytes) -> str:
    """HMAC-SHA-256 under the `ledger` secret over the receipt's canonical JSON, without its signature."""
    signed = {name: value for name, value in receipt.items() if name != "signature"}
    return hmac.new(secret, b"receipt" + orjson.dumps(signed, option=orjson.OPT_SORT_KEYS), hashlib.sha256).hexdigest()
