"""What callers of the read side send and get: bodies, replies, and the parameters of each route."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from taishi.ingest.envelope import ORIGINS
from taishi.ingest.errors import InvalidInput
from taishi.ingest.names import Name, Namespace
from taishi.ingest.web import Contract

from .exposures import Reader
from .request import DEFAULT_BUDGET, DEFAULT_LIMIT, RecallRequest
from .validity import STATUSES
from .wanted import Wanted

MAX_LIMIT: Final = 200
MAX_QUERY: Final = 20_000
MAX_BUDGET: Final = 1_000_000


def _written_out(query: str) -> str:
    """One character may stand for many: what is searched for is bounded as well."""
    if len(unicodedata.normalize("NFKC", query)) > MAX_QUERY:
        said = f"a query has at most {MAX_QUERY} characters, with what stands for several written out: shorten it"
        raise PydanticCustomError("string_too_long", said)
    return query


class Asker(Contract):
    """The one who asks."""

    id: Name | None = None
    name: Name | None = None
    role: Literal["user", "assistant", "tool", "system"] | None = None


class RecallBody(Contract):
    """Times are ISO 8601 (naive ones in the namespace's zone), positions tokens such as `p0:17`."""

    namespace: Namespace
    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY), AfterValidator(_written_out)]
    valid_at: str | None = None
    known_at: str | None = None
    as_of_position: str | None = None
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    token_budget: int = Field(default=DEFAULT_BUDGET, ge=1, le=MAX_BUDGET)
    session: Name | None = None
    actor: Asker | Name | None = None
    kinds: list[Literal["claim", "event"]] | None = Field(default=None, min_length=1)
    filters: dict[str, str | int | float | bool | None] | None = None
    min_position: str | None = None
    explain: bool = False


class Context(Contract):
    text: str
    tokens: int
    truncated: bool


class AsOf(Contract):
    position: str
    valid_at: str
    known_at: str


class RecallReply(Contract):
    answerability: Literal["supported", "low_confidence", "no_evidence"]
    items: list[dict[str, Any]]
    context: Context
    as_of: AsOf
    degraded: list[str]
    exposure_id: str | None = None
    ambiguous: dict[str, list[str]] | None = None
    explain: dict[str, Any] | None = None


def limit_of(given: Mapping[str, str], default: int) -> int:
    """Raises InvalidInput."""
    text = given.get("limit", str(default))
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= MAX_LIMIT):
        raise InvalidInput(f"a limit is a whole number from 1 to {MAX_LIMIT}", field="limit")
    return int(text)


POINT: Final = {
    "valid_at": "when it is true (ISO 8601; default now)",
    "known_at": "as it was known then (ISO 8601; default now)",
}
PAGED: Final = {"limit": f"1 to {MAX_LIMIT}", "cursor": "where the last page ended"}
NAMESPACE: Final = {"namespace": "whose memory it is"}
LIST: Final = {
    **NAMESPACE,
    "subject": "about whom or what",
    "predicate": "a predicate's name",
    "status": f"any of {', '.join(STATUSES)}, parted by commas (default: current,contested)",
    **POINT,
    **PAGED,
}
ONE: Final = {**NAMESPACE, **POINT}
EXPOSURE: Final = NAMESPACE
TIMELINE: Final = {**NAMESPACE, "subject": "about whom or what", "predicate": "a predicate's name", **POINT}
ENTITIES: Final = {**NAMESPACE, "name": "any name of the one that is asked about"}
AUDIT: Final = {
    **NAMESPACE,
    "type": "an event type",
    "actor": "an actor's id",
    "session": "a session's id",
    "origin": f"one of {', '.join(ORIGINS)}",
    "from": "recorded at or after (ISO 8601)",
    "to": "recorded before (ISO 8601)",
    **PAGED,
}
STATUS: Final = {"namespace": "one namespace; without it, all partitions together"}


def statuses_of(given: Mapping[str, str]) -> frozenset[str] | None:
    """None where none is named. Raises InvalidInput."""
    if "status" not in given:
        return None
    named = frozenset(part.strip() for part in given["status"].split(",") if part.strip())
    if unknown := sorted(named - set(STATUSES)):
        raise InvalidInput(f"no status is {unknown[0][:40]!r}: {', '.join(STATUSES)}", field="status")
    if not named:
        raise InvalidInput(f"name a status: {', '.join(STATUSES)}", field="status")
    return named


def request_of(
    body: RecallBody, *, valid_at: int | None, known_at: int | None, position: int | None, key: str | None = None
) -> RecallRequest:
    """The request a body stands for; its times and position are parsed already. `key` is the API key's name."""
    actor = body.actor
    return RecallRequest(
        namespace=body.namespace,
        query=body.query,
        valid_at=valid_at,
        known_at=known_at,
        position=position,
        limit=body.limit,
        token_budget=body.token_budget,
        session=body.session,
        reader=Reader(key=key, actor=actor.id if isinstance(actor, Asker) else None),
        asker=(actor.name or actor.id) if isinstance(actor, Asker) else actor,
        wanted=Wanted(kinds=frozenset(body.kinds or ("claim", "event")), metadata=body.filters or None),
        explain=body.explain,
    )
