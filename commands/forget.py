"""Forgetting: one memory at once; a subject, a session, a time range or a whole namespace after a dry run.

What is asked for is followed to everything that repeats its words (`directory.Closure`), then erased (`erasure`). A
confirmation token is bound to namespace, scope and position: what was written after the dry run stays. Words that no
extractor has read yet are waited for, for a moment; what of them is read later and says what was forgotten goes then.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import asdict
from typing import Any, Final

import orjson
from pydantic import BaseModel, Field

from taishi.ingest.errors import InvalidInput, NotFound
from taishi.ingest.instants import SECOND, render
from taishi.ingest.names import Name, Namespace
from taishi.ingest.web import Contract

from .contract import Reason, Time, memory_id, stamp
from .directory import Scope
from .erasure import Erasure, Tell, erase, untold
from .ports import Ports

TOKEN_LIFE: Final = 600 * SECOND
READING_SECONDS: Final = 1.0
"""How long a forget waits for words that are being read just now, so that its first tombstone names all."""


_FIELD: Final = {"subject": "subject", "session": "session", "range": "from", "namespace": "namespace"}


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
    """`would_forget` and `confirm` answer a dry run, with how many messages are `unread` that may turn out to be about
    the subject; `receipt` tells what was done."""

    would_forget: dict[str, int] | None = None
    unread: int | None = None
    confirm: str | None = None
    receipt: dict[str, Any] | None = None


async def forget_memory(given_id: str, namespace: str, reason: str | None, ports: Ports) -> dict[str, Any]:
    """Raises NotFound, Gone when it was forgotten before."""
    wanted = memory_id(given_id)
    upto = (await ports.call(ports.log.namespace_head, namespace)).position.seq
    await ports.call(ports.directory.settled, namespace)
    unread = 0
    try:
        claim = await ports.call(ports.directory.claim, namespace, wanted)
        scope = Scope(kind="claim", claim_id=claim.claim_id)
        unread = await ports.call(ports.directory.unread, namespace, upto=upto, seconds=READING_SECONDS)
    except NotFound:
        await ports.call(ports.directory.event, namespace, wanted)
        scope = Scope(kind="event", event_id=wanted)
    closure = await ports.call(ports.directory.closure, namespace, scope, upto=upto)
    what = {"kind": scope.kind, "namespace": namespace, "id": wanted}
    erasure = Erasure(namespace=namespace, scope=scope, closure=closure, upto=upto, unread=unread, reason=reason)
    return {"receipt": await erase(erasure, what, ports)}


async def forget_scope(body: Forget, ports: Ports, tell: Tell = untold) -> dict[str, Any]:
    """`tell` hears how many of how many events are forgotten. Raises NotFound where nothing matches, and no words
    wait to be read that might."""
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
        unread = await _unread(body.namespace, scope, upto, ports, seconds=0)
        closure = await ports.call(ports.directory.closure, body.namespace, scope, upto=upto)
        token = _token(secret, body.namespace, scope, upto, ports.clock() + TOKEN_LIFE)
        return {"would_forget": dict(closure.counts), **({"unread": unread} if unread else {}), "confirm": token}
    upto = _confirmed(secret, body.confirm, body.namespace, scope, now=ports.clock())
    await ports.call(ports.directory.settled, body.namespace)
    unread = await _unread(body.namespace, scope, upto, ports, seconds=READING_SECONDS)
    closure = await ports.call(ports.directory.closure, body.namespace, scope, upto=upto)
    if not closure.events and not unread:
        raise NotFound(
            "nothing here matches, so that nothing was forgotten or written: see what there is with GET /v1/memories",
            field=_FIELD[scope.kind],
        )
    erasure = Erasure(
        namespace=body.namespace, scope=scope, closure=closure, upto=upto, unread=unread, reason=body.reason
    )
    return {"receipt": await erase(erasure, what, ports, tell)}


async def _unread(namespace: str, scope: Scope, upto: int, ports: Ports, *, seconds: float) -> int:
    """How many messages may turn out to be about the subject. Any other scope takes the words themselves, read or
    not."""
    if scope.kind != "subject":
        return 0
    return await ports.call(ports.directory.unread, namespace, upto=upto, seconds=seconds)


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
