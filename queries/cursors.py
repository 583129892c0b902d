"""Opaque cursors: where the next page begins, and what it is a page of.

A cursor names the question it belongs to: with other filters it is refused, rather than giving pages of two lists.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from taishi.ingest.errors import InvalidInput

_INT64: Final = range(-(1 << 63), 1 << 63)


def _digest(question: Mapping[str, Any]) -> str:
    return hashlib.blake2b(orjson.dumps(question, option=orjson.OPT_SORT_KEYS), digest_size=6).hexdigest()


def encode(state: Mapping[str, int], question: Mapping[str, Any]) -> str:
    content = orjson.dumps({**state, "q": _digest(question)})
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def decode(cursor: str, question: Mapping[str, Any], *, names: tuple[str, ...]) -> dict[str, int]:
    """The state, whole numbers of 64 bits under `names`. Raises InvalidInput."""
    try:
        state = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        found = {name: state[name] for name in names}
        if any(type(value) is not int or value not in _INT64 for value in found.values()):
            raise ValueError
        if state["q"] != _digest(question):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise InvalidInput("this cursor is not of this list: give the one of the last page, and the same filters",
                           field="cursor") from None  # fmt: skip
    return found
