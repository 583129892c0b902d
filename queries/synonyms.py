"""Kinds of people and things under their many words: `老婆`, `太太`, `wife`. Data (`synonyms.toml`).

A kind answers for its narrower and its wider ones: who asks for a spouse is answered with a wife, but not who asks for
a husband.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from taishi.ingest.normal import normalise

from .remembering import by_digest


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of person (`kin`) or thing. `fits` are the names of the kinds that answer for it. `zh` and `en` are
    the words of all those."""

    name: str
    kin: bool
    fits: frozenset[str]
    zh: tuple[str, ...]
    en: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mention:
    """A kind with the words that name it in a text."""

    kind: Kind
    words: str


@dataclass(frozen=True, slots=True)
class _Table:
    kinds: Mapping[str, Kind]
    of_word: Mapping[str, str]
    pattern: re.Pattern[str]
    asked: Sequence[tuple[str, re.Pattern[str]]]
    said: Sequence[tuple[str, re.Pattern[str]]]


@lru_cache(maxsize=1)
def _table() -> _Table:
    data: Mapping[str, Mapping[str, Any]] = tomllib.loads(
        files(__package__).joinpath("synonyms.toml").read_text("utf-8")
    )
    rows = {name: (section == "kin", row) for section, of in data.items() for name, row in of.items()}
    wider = {name: row["of"] for name, (_, row) in rows.items() if "of" in row}
    kinds: dict[str, Kind] = {}
    of_word: dict[str, str] = {}
    for name, (kin, row) in rows.items():
        fits = {name} | {other for other in rows if name in _upwards(other, wider)} | set(_upwards(name, wider))
        words = {script: tuple(w for k in sorted(fits) for w in rows[k][1].get(script, ())) for script in ("zh", "en")}
        kinds[name] = Kind(name, kin, frozenset(fits), words["zh"], words["en"])
        of_word |= {normalise(word): name for script in ("zh", "en") for word in row.get(script, ())}
    longest = sorted(of_word, key=lambda word: (-len(word), word))
    parts = [rf"(?<![a-z]){re.escape(w)}(?![a-z])" if w.isascii() else re.escape(w) for w in longest]
    asked, said = (
        [(name, re.compile("|".join(row[key]))) for name, (_, row) in rows.items() if key in row]
        for key in ("asked", "said")
    )
    return _Table(kinds, of_word, re.compile("|".join(parts)), asked, said)


def _upwards(name: str, wider: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    while name in wider:
        name = wider[name]
        found.append(name)
    return found


@by_digest(8_192)
def mentions(text: str) -> tuple[Mention, ...]:
    """Kinds that a (normalised) text names, in its order; the longest word counts (`舅妈` is no `妈`)."""
    table = _table()
    found = {m[0]: Mention(table.kinds[table.of_word[m[0]]], m[0]) for m in table.pattern.finditer(text)}
    return tuple(found.values())


def meant(question: str) -> tuple[Mention, ...]:
    """As `mentions`, and kinds that a question means without their words (`married to`)."""
    table = _table()
    hinted = [Mention(table.kinds[name], m[0]) for name, asks in table.asked if (m := asks.search(question))]
    return (*mentions(question), *hinted)


@by_digest(8_192)
def spoken_of(memory: str) -> frozenset[str]:
    """Names of the kinds of which a (normalised) memory speaks, by their words or without them (`drives a`)."""
    named = {m.kind.name for m in mentions(memory)}
    return frozenset(named | {name for name, says in _table().said if says.search(memory)})
