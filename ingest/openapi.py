"""The routes of an API as data, and the OpenAPI document written from them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import Response

Handler = Callable[[Request], Awaitable[Response]]
_REF: Final = "#/components/schemas/{model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One route. `path` may hold converters (`{namespace:path}`). `query` names query parameters and describes them.

    `body` is for the OpenAPI document only: the handler parses it itself with `parse_body`.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    status: int = 200
    body: type[BaseModel] | None = None
    reply: type[BaseModel] | None = None
    query: Mapping[str, str] = field(default_factory=dict)


def plain_path(path: str) -> str:
    """The path as OpenAPI writes it: without converters."""
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


def document_of(*, title: str, version: str, operations: Sequence[Operation]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of an API: request bodies and replies included, every error a problem document."""
    models = {op.body for op in operations if op.body} | {op.reply for op in operations if op.reply}
    ordered = sorted(models, key=lambda model: model.__name__)
    refs, schemas = models_json_schema([(model, "validation") for model in ordered], ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for op in operations:
        reply: dict[str, Any] = {"description": "done"}
        if op.reply:
            reply["content"] = {"application/json": {"schema": refs[op.reply, "validation"]}}
        entry: dict[str, Any] = {"summary": op.summary, "responses": {str(op.status): reply, "default": _FAILURE}}
        if parameters := _parameters(op):
            entry["parameters"] = parameters
        if op.body:
            content = {"application/json": {"schema": refs[op.body, "validation"]}}
            entry["requestBody"] = {"required": True, "content": content}
        paths.setdefault(plain_path(op.path), {})[op.method.lower()] = entry
    components = {"schemas": {**schemas.get("$defs", {}), "Problem": _PROBLEM}}
    return {"openapi": "3.1.0", "info": {"title": title, "version": version}, "paths": paths, "components": components}


def _parameters(op: Operation) -> list[dict[str, Any]]:
    text = {"type": "string"}
    in_path = re.findall(r"\{(\w+)", op.path)
    return [{"name": name, "in": "path", "required": True, "schema": text} for name in in_path] + [
        {"name": name, "in": "query", "required": name == "namespace", "description": about, "schema": text}
        for name, about in op.query.items()
    ]


_FAILURE: Final = {
    "description": "an RFC 9457 problem",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_WRONG_FIELD: Final = {
    "type": "object",
    "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
}
_PROBLEM: Final = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "field": {"type": "string"},
        "fields": {"type": "array", "items": _WRONG_FIELD},
        "retry_after": {"type": "integer"},
    },
}
