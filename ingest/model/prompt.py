"""The prompt: what the model is told, and how words are shown to it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from ..extractor import Utterance
from .chat import Message
from .pieces import Piece

_CONTEXT_CHARACTERS: Final = 500
_CONTEXT: Final = 6


@lru_cache(maxsize=1)
def data() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("prompt.toml").read_text("utf-8"))


def version() -> str:
    return str(data()["version"])


@lru_cache(maxsize=1)
def _system() -> str:
    rows = (f"- {name}: {gloss}" for name, gloss in data()["predicates"].items())
    return "\n".join([str(data()["system"]).strip(), *rows])


def name_of(place: int) -> str:
    """What the piece at this place of a call is called."""
    return f"e{place + 1}"


def messages(pieces: Sequence[Piece], context: Sequence[Utterance]) -> list[Message]:
    """One call's messages. The words stand in JSON, so that nothing in them can pass for the prompt."""
    shown = {
        "context": [
            {"speaker": u.speaker, "role": u.role, "text": u.text[-_CONTEXT_CHARACTERS:]} for u in context[-_CONTEXT:]
        ],
        "events": [
            {
                "event": name_of(place),
                "speaker": piece.utterance.speaker,
                "role": piece.utterance.role,
                "said_at": piece.utterance.said_at.strftime("%Y-%m-%d %H:%M %a"),
                "text": piece.text,
            }
            for place, piece in enumerate(pieces)
        ],
    }
    return [
        {"role": "system", "content": _system()},
        {"role": "user", "content": json.dumps(shown, ensure_ascii=False)},
    ]
