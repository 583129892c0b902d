"""The words that several commands share: names, texts, times and actors as callers may write them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Any, Final, Literal, get_args

import orjson
from pydantic import AfterValidator, Field, JsonValue
from pydantic_core import PydanticCustomError

from taishi.ingest.envelope import ORIGINS, ROLES, SESSION_KINDS
from taishi.ingest.errors import InvalidInput, NotFound
from taishi.ingest.ids import is_canonical
from taishi.ingest.instants import BEGINNING, DAY, FOREVER, from_datetime, parse
from taishi.ingest.names import Name
from taishi.ingest.web import Contract

MAX_TEXT: Final = 100_000
MAX_METADATA: Final = 32_768
MAX_DEPTH: Final = 16
MAX_REASON: Final = 2_000
_CLAIM_ID: Final = re.compile(r"[0-9a-f]{32}")
_DAYS_AT_THE_ENDS: Final = 2 * DAY
_INT64: Final = range(-(1 << 63), 1 << 63)

RoleName = Literal["user", "assistant", "tool", "system"]
OriginName = Literal[
    "user_direct", "user_quoted", "assistant", "tool", "external", "system", "cron", "heartbeat", "subagent", "import"
]
SessionKindName = Literal["chat", "task", "heartbeat", "cron", "subagent", "import"]
assert get_args(RoleName) == ROLES and get_args(OriginName) == ORIGINS and get_args(SessionKindName) == SESSION_KINDS

ORIGIN_OF_ROLE: Final[Mapping[str, str]] = {
    "user": "user_direct", "assistant": "assistant", "tool": "tool", "system": "system",
}  # fmt: skip
"""Who speaks, where the caller does not say it."""

Redactor = Callable[[str], tuple[str, Sequence[str]]]
"""A text without the secrets in it, and which kinds of secret there were."""


def _said(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "give some text: it is blank")
    return text


def _bounded(metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
    _walk(metadata, MAX_DEPTH)
    if len(orjson.dumps(metadata)) > MAX_METADATA:
        raise PydanticCustomError("too_large", f"metadata holds at most {MAX_METADATA} bytes of JSON: shorten it")
    return metadata


def _walk(value: JsonValue, depth: int) -> None:
    if isinstance(value, (dict, list)):
        if not depth:
            raise PydanticCustomError("too_deep", f"metadata nests at most {MAX_DEPTH} deep: flatten it")
        for one in value.values() if isinstance(value, dict) else value:
            _walk(one, depth - 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise PydanticCustomError("finite_number", "metadata numbers are finite: use null")
    elif isinstance(value, int) and value not in _INT64:
        raise PydanticCustomError("int64", "metadata whole numbers fit in 64 bits: write it as a string")


_SHOWN: Final = "as recall returned it: of one item, or without its number of the whole answer"
Exposure = Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.\d{1,4})?$", description=_SHOWN)]
Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT), AfterValidator(_said)]
Reason = Annotated[str, Field(min_length=1, max_length=MAX_REASON), AfterValidator(_said)]
Time = Annotated[str, Field(min_length=4, max_length=64, description="ISO 8601; without an offset: namespace's zone")]
Metadata = Annotated[dict[str, JsonValue], AfterValidator(_bounded)]


class ActorBody(Contract):
    """Who spoke. `name` is for showing and is encrypted; `id` is not."""

    id: Name | None = None
    role: RoleName = "user"
    name: Name | None = None


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time as given: its instant, and its own UTC offset in minutes."""

    instant: int
    offset: int


def is_naive(text: str | None) -> bool:
    """Whether `text` is a time without an offset, so that the namespace's zone must be known to read it."""
    if text is None:
        return False
    try:
        return datetime.fromisoformat(text).tzinfo is None
    except ValueError:
        return False


def stamp(text: str, *, zone: tzinfo = UTC, field: str) -> Stamp:
    """Raises InvalidInput on what is no ISO 8601 time, or lies at the very ends of the calendar."""
    at = parse(text, zone=zone, field=field)
    instant = from_datetime(at)
    if not BEGINNING + _DAYS_AT_THE_ENDS < instant < FOREVER - _DAYS_AT_THE_ENDS:
        raise InvalidInput("the time is out of range: years 1 to 9999", field=field)
    return Stamp(instant, round((at.utcoffset() or timedelta()) / timedelta(minutes=1)))


def memory_id(text: str, *, field: str = "id") -> str:
    """The canonical form of a claim id or an event id. Raises NotFound on what can be neither."""
    lowered = text.lower()
    if not (_CLAIM_ID.fullmatch(lowered) or is_canonical(lowered)):
        raise NotFound("there is no such memory: give an id that recall, or its write, returned", field=field)
    return lowered


def redacted(value: Any, redact: Redactor, kinds: list[str]) -> Any:
    """`value` with every string in it redacted; the kinds that were found are added to `kinds`."""
    if isinstance(value, str):
        text, found = redact(value)
        kinds.extend(found)
        return text
    if isinstance(value, dict):
        return {key: redacted(one, redact, kinds) for key, one in value.items()}
    if isinstance(value, list):
        return [redacted(one, redact, kinds) for one in value]
    return value
