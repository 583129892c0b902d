"""Asking a chat model whether two values say the same: the last step of the dedup funnel, off unless asked for."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from .calls import Bill, Caller
from .chat import Message
from .repair import Unreadable, read_object

MOST_PAIRS: Final = 20
"""In one call."""


class Pair(NamedTuple):
    subject: str
    predicate: str
    values: tuple[str, str]


class _Verdict(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    pair: str
    same: bool


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    pairs: list[_Verdict]


SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "pairs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"pair": {"type": "string"}, "same": {"type": "boolean"}},
                "required": ["pair", "same"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["pairs"],
    "additionalProperties": False,
}


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("pair_audit.toml").read_text("utf-8"))


class PairAudit:
    """`seconds` is the time that one call, tried as often as it may be, takes at most."""

    def __init__(self, caller: Caller, *, seconds: float = 120.0) -> None:
        self._caller = caller
        self._seconds = seconds

    def judge(self, namespace: str, pairs: Sequence[Pair]) -> tuple[list[bool], Bill]:
        """Of each pair whether its values say the same, in order, and what the call took. At most `MOST_PAIRS`.

        Raises Postponed, AnswerRefused.
        """
        bill = self._caller.bill(str(_data()["version"]))
        names = [f"p{place + 1}" for place in range(len(pairs))]

        def read(text: str) -> list[bool]:
            return _taken(read_object(text), asked=names)

        try:
            verdicts = self._caller.ask(
                namespace, _messages(names, pairs), SCHEMA, read, bill=bill, deadline=time.monotonic() + self._seconds
            )
        finally:
            self._caller.done(bill)
        return verdicts, bill


def _messages(names: Sequence[str], pairs: Sequence[Pair]) -> list[Message]:
    shown = [{"pair": name, **pair._asdict()} for name, pair in zip(names, pairs, strict=True)]
    return [
        {"role": "system", "content": str(_data()["system"]).strip()},
        {"role": "user", "content": json.dumps({"pairs": shown}, ensure_ascii=False)},
    ]


def _taken(found: Mapping[str, Any], *, asked: Sequence[str]) -> list[bool]:
    """Raises Unreadable: `malformed`, `wrong_ids`."""
    try:
        answer = _Answer.model_validate(found)
    except ValidationError:
        raise Unreadable("malformed") from None
    told = {verdict.pair: verdict.same for verdict in answer.pairs}
    if len(told) != len(answer.pairs) or told.keys() != set(asked):
        raise Unreadable("wrong_ids")
    return [told[name] for name in asked]
