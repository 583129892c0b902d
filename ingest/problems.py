"""RFC 9457 problem documents: the one form in which both APIs report what went wrong.

A problem names the field it speaks of and the remedy; it never holds a body, a key or internals of the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import orjson
from pydantic import ValidationError
from starlette.responses import Response

from .errors import InvalidInput, MalformedBody, TaishiError, TooLarge, TooSlow, Unauthorised, Unavailable
from .instants import render

PROBLEM_JSON: Final = "application/problem+json"
MAX_FIELDS: Final = 20
_DETAILS: Final = frozenset({"fields", "earliest", "position", "event_id", "expected", "actual"})
"""Details of an error that callers see; others are for logs and tests."""

_REMEDIES: Final[Mapping[str, str]] = {
    "missing": "this field is missing: give it",
    "extra_forbidden": "there is no such field: remove it (GET /openapi.json lists the known ones)",
    "string_type": "give a string",
    "model_type": "give a JSON object",
    "model_attributes_type": "give a JSON object",
    "dict_type": "give a JSON object",
    "list_type": "give a JSON array",
    "tuple_type": "give a JSON array",
    "bool_type": "give true or false",
    "int_type": "give a whole number",
    "float_type": "give a number",
    "finite_number": "give a finite number",
}


def problem(
    status: int, *, slug: str, detail: str, headers: Mapping[str, str] | None = None, **members: Any
) -> Response:
    title = slug.replace("-", " ").capitalize()
    document = {"type": f"urn:taishi:problem:{slug}", "title": title, "status": status, "detail": detail, **members}
    return Response(orjson.dumps(document), status, headers, media_type=PROBLEM_JSON)


def problem_of(error: TaishiError) -> Response:
    """Server-side faults (status 500) are reported without their message, which is for the operator's log."""
    if error.status >= 500 and not isinstance(error, Unavailable):
        return internal_problem(slug=error.slug)
    members: dict[str, Any] = {}
    if error.field is not None:
        members["field"] = error.field
    for name in _DETAILS & error.details.keys():
        given = error.details[name]
        members[name] = render(given) if name == "earliest" and isinstance(given, int) else given
    headers: dict[str, str] = {}
    if isinstance(error, Unavailable):
        members["retry_after"] = error.retry_after
        headers["retry-after"] = str(error.retry_after)
    if isinstance(error, TooLarge | TooSlow):
        headers["connection"] = "close"  # the rest of the body stays unread
    if isinstance(error, Unauthorised):
        headers["www-authenticate"] = "Bearer"
    return problem(error.status, slug=error.slug, detail=error.message, headers=headers, **members)


def internal_problem(*, slug: str = "internal") -> Response:
    return problem(500, slug=slug, detail="the server failed at this request, which may be fine; its log says where")


def status_problem(status: int, *, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """A problem for an HTTP status that the framework raised (404, 405, …)."""
    try:
        slug = HTTPStatus(status).phrase.lower().replace(" ", "-")
    except ValueError:
        slug = "error"
    return problem(status, slug=slug, detail=detail, headers=headers)


def invalid(error: ValidationError) -> InvalidInput:
    """What pydantic found, in dotted field names, each with a remedy; input values are not repeated."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    if found[0]["type"] == "json_invalid":
        return MalformedBody(found[0]["msg"] + ": send one JSON object, in UTF-8")
    fields = [
        {"field": ".".join(map(str, one["loc"])) or "body", "message": _REMEDIES.get(one["type"], one["msg"])}
        for one in found[:MAX_FIELDS]
    ]
    first = fields[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return InvalidInput(f"{first['field']}: {first['message']}{more}", field=first["field"], fields=fields)
