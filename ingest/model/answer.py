"""What a model is asked to answer with, and what of an answer is taken.

Every event that was asked about must be answered for, by its short name, once: an answer that leaves one out, or speaks
of another, was not read from these words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from .repair import Unreadable

Kind = Literal["fact", "change", "preference", "plan", "happening"]
MOST_CLAIMS: Final = 60
"""Of one event: more are junk."""


def _or(default: Any) -> BeforeValidator:
    return BeforeValidator(lambda given: default if given is None else given)


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class Qualifier(_Part):
    name: str = Field(max_length=40)
    value: str = Field(max_length=500)


class Said(_Part):
    """One claim as the model words it. `quote` and `time` are words of the event."""

    subject: str = Field(min_length=1, max_length=500)
    predicate: str = Field(min_length=1, max_length=100)
    value: str = Field(min_length=1, max_length=2_000)
    quote: str = Field(min_length=1, max_length=4_000)
    kind: Kind = "fact"
    negated: Annotated[bool, _or(False)] = False
    temporary: Annotated[bool, _or(False)] = False
    past: Annotated[bool, _or(False)] = False
    time: Annotated[str, _or("")] = Field(default="", max_length=500)
    qualifiers: Annotated[list[Qualifier], _or([])] = Field(default_factory=list, max_length=10)


class Read(_Part):
    event: str
    claims: list[Said]


class Answer(_Part):
    events: list[Read]


def taken(found: dict[str, Any], *, asked: Sequence[str]) -> list[Read]:
    """The answer for each of the names asked about, in their order.

    Raises Unreadable: `error_body`, `schema_echo`, `malformed`, `wrong_ids`, `flood`.
    """
    if "events" not in found:
        if found.keys() & {"$schema", "properties", "$defs", "json_schema"} or found.get("type") == "object":
            raise Unreadable("schema_echo")
        raise Unreadable("error_body" if found.keys() & {"error", "code", "error_code"} else "malformed")
    try:
        answer = Answer.model_validate(found)
    except ValidationError:
        echoed = isinstance(found["events"], dict) and "type" in found["events"]
        raise Unreadable("schema_echo" if echoed else "malformed") from None
    named = [read.event for read in answer.events]
    if sorted(named) != sorted(asked):
        raise Unreadable("wrong_ids")
    if any(len(read.claims) > MOST_CLAIMS for read in answer.events):
        raise Unreadable("flood")
    by_name = {read.event: read for read in answer.events}
    return [by_name[name] for name in asked]


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_TEXT: Final = {"type": "string"}
_YES_NO: Final = {"type": "boolean"}
SCHEMA: Final[dict[str, Any]] = _object({
    "events": _list(_object({
        "event": _TEXT,
        "claims": _list(_object({
            "subject": _TEXT,
            "predicate": _TEXT,
            "value": _TEXT,
            "quote": _TEXT,
            "kind": {"type": "string", "enum": ["fact", "change", "preference", "plan", "happening"]},
            "negated": _YES_NO,
            "temporary": _YES_NO,
            "past": _YES_NO,
            "time": _TEXT,
            "qualifiers": _list(_object({"name": _TEXT, "value": _TEXT})),
        })),
    })),
})  # fmt: skip
"""In the form that strict `json_schema` modes ask for: all required, nothing else allowed."""
