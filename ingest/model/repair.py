"""From what a model wrote to the one JSON object in it, where there is no doubt which one it meant.

Taken off: a closed `<think>` block before the answer, one code fence, prose around exactly one object, commas before a
closing bracket. Nothing is ever added: an answer that is cut off, or holds two objects, stays refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

_THINKING: Final = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.S | re.I)
_STILL_THINKING: Final = re.compile(r"</?think(?:ing)?>", re.I)
_FENCE: Final = re.compile(r"```[ \t]*(?:json|JSON|json5|jsonc)?[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.S)
_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])|[{}]', re.S)


class Unreadable(ValueError):
    """`code` says why there is no one object in the text."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def read_object(text: str) -> dict[str, Any]:
    """Raises Unreadable: `empty`, `thinking_only`, `not_json`, `two_objects`, `surrogates`."""
    text = _THINKING.sub("", text.lstrip("\ufeff"), count=1).strip()
    if not text:
        raise Unreadable("empty")
    found = _whole(text)
    if found is None:
        start, end = _place(text)
        if _STILL_THINKING.search(text[:start]) or _STILL_THINKING.search(text[end:]):
            raise Unreadable("thinking_only")
        found = _whole(text[start:end].strip())
    if found is None or not isinstance(found, dict):
        raise Unreadable("not_json")
    _refuse_surrogates(found)
    return found


def _whole(text: str) -> Any | None:
    """The JSON that the text is, commas before closing brackets aside."""
    for candidate in (text, _without_trailing_commas(text)):
        try:
            return json.loads(candidate, object_pairs_hook=_distinct, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            continue
    return None


def _place(text: str) -> tuple[int, int]:
    """Where the one fenced block stands, else the one object in the prose; at the end where there is neither."""
    spans = [m.span(1) for m in _FENCE.finditer(text)] or list(_objects(text))
    if len(spans) > 1:
        raise Unreadable("two_objects")
    return spans[0] if spans else (len(text), len(text))


def _objects(text: str) -> Iterator[tuple[int, int]]:
    """Where outermost braces open and close. An opening one without its end yields the rest of the text."""
    depth = start = place = 0
    while place < len(text):
        if depth == 0:
            place = text.find("{", place)
            if place < 0:
                return
            start, depth, place = place, 1, place + 1
            continue
        piece = _PIECE.search(text, place)
        if piece is None:
            break
        place = piece.end()
        depth += {"{": 1, "}": -1}.get(piece[0], 0)
        if depth == 0:
            yield start, place
    if depth:
        yield start, len(text)


def _without_trailing_commas(text: str) -> str:
    return _PIECE.sub(lambda piece: "" if piece[0] == "," else piece[0], text)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that says one name twice may mean either."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _refuse_surrogates(found: dict[str, Any]) -> None:
    try:
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (UnicodeEncodeError, RecursionError):
        raise Unreadable("surrogates") from None
