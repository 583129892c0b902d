"""Admission: whole texts that are kept as raw events and never read for claims, each with its reason code.

Deterministic and data-driven (`admission.toml`). What a single sentence fails on (a question, a condition) is the
extractor's own matter; these codes are shared by all extractors and spare a model its call.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Final

from .extractor import Utterance
from .normal import normalise
from .simplified import simplified

SMALL_TALK: Final = "small_talk"
STATUS_NOISE: Final = "status_noise"
BARE_NUMBER: Final = "bare_number"
ECHO: Final = "echo"
PROMPT: Final = "prompt"
SECRET: Final = "secret"
EMPTY: Final = "empty"
HYPOTHETICAL: Final = "hypothetical"
QUESTION: Final = "question"
QUOTED: Final = "quoted"
REQUEST: Final = "request"
NOTHING_READ: Final = "nothing_read"
REASONS: Final = (
    EMPTY, SMALL_TALK, STATUS_NOISE, BARE_NUMBER, ECHO, PROMPT, SECRET, HYPOTHETICAL, QUESTION, QUOTED, REQUEST,
    NOTHING_READ,
)
"""Every code but the gate's own (`gate.<origin or session kind>`, `gate.injection`)."""

_LONGEST_TALK: Final = 48
_EDGES: Final = re.compile(r"^[\W_]+|(?<![\W_])[\W_]+$")
_PIECES: Final = re.compile(r"[\s,，、。.!！~～?？…]+")
_WORDY: Final = re.compile(r"\w")
_ONLY_SECRET: Final = re.compile(r"\s*(?:\[redacted:\w+\][\s,，.。]*)+")
_NOT_OWN: Final = frozenset({"assistant", "tool", "external", "system"})
_SELF_WORDS: Final = re.compile(
    r"^(?:相关记忆|记忆|memory|memories)?[:：\s]*(?:该?用户|使用者|[我你您]|the user|user|i|you)\s*"
    r"(?:'s|'re|is|am|are|的)?\s*"
)


@lru_cache(maxsize=1)
def _rules() -> tuple[frozenset[str], dict[str, re.Pattern[str]]]:
    data = tomllib.loads(files(__package__).joinpath("admission.toml").read_text("utf-8"))
    words = frozenset(data["small_talk"]["words"].split())
    return words, {
        name: re.compile("|".join(f"(?:{p})" for p in section["phrases"]), re.I | re.S)
        for name, section in data.items()
    }


def refusal(text: str) -> str | None:
    """Why this text, whoever said it, is not read; None where it may be."""
    text = simplified(text)
    bare = _EDGES.sub("", text.strip())
    if not bare:
        return EMPTY if not _WORDY.search(text) and not text.strip() else SMALL_TALK
    words, patterns = _rules()
    if _ONLY_SECRET.fullmatch(text) is not None:
        return SECRET
    if patterns["bare_number"].fullmatch(text.strip()) is not None:
        return BARE_NUMBER
    if len(bare) <= _LONGEST_TALK and _is_talk(bare, words, patterns["small_talk"]):
        return SMALL_TALK
    for reason in (STATUS_NOISE, ECHO, PROMPT):
        whole = bare if reason == STATUS_NOISE else text.strip()
        if patterns[reason].fullmatch(text.strip()) is not None or patterns[reason].fullmatch(whole) is not None:
            return reason
    return None


def _is_talk(bare: str, words: Collection[str], phrases: re.Pattern[str]) -> bool:
    low = bare.lower().replace("\u2019", "'")
    if low in words or phrases.fullmatch(low) is not None:
        return True
    pieces = [piece for piece in _PIECES.split(low) if piece]
    return len(pieces) > 1 and all(piece in words or phrases.fullmatch(piece) is not None for piece in pieces)


def statement_of(text: str) -> str:
    """The words of a statement without who it is about: "用户在学琴" and "我在学琴。" are one."""
    return _SELF_WORDS.sub("", normalise(text)).strip(" .。!！,，")


def is_echo(utterance: Utterance, earlier: Sequence[Utterance], recalled: Collection[str] = ()) -> bool:
    """Does someone other than the user repeat what was said before, or what was just recalled from memory?

    `recalled` are texts of memories lately handed out in this session; the user saying again what was recalled is no
    echo but new evidence.
    """
    if utterance.origin not in _NOT_OWN:
        return False
    statement = statement_of(utterance.text)
    if len(statement) < 2:
        return False
    known = {statement_of(text) for text in recalled} | {statement_of(before.text) for before in earlier}
    return statement in known
