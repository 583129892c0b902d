"""The predicate registry: data that says how many truths a predicate holds at a time, and for how long they matter."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, Literal

from .errors import ConfigurationError
from .normal import normal_value


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """`key` is None where every given qualifier is part of the slot. `life` in days, 0 for good; `expires` as well: a
    state that passes (0: one that does not) is taken to be over so long after anyone said so.

    `single_if` names qualifier values under which a many-valued predicate holds one truth at a time: being in a project
    is one at a time, being in clubs is not, and both are `member_of`. `object` names the qualifier that is the object
    of a many-valued predicate where it is given: "runs every morning" and "no longer runs" are about running. `same`
    are words that mean the same, by the part of a claim they stand in, in whatever language: `吃素` is `vegetarian`.
    """

    name: str
    cardinality: Literal["single", "many"] = "many"
    key: tuple[str, ...] | None = None
    single_if: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    object: str | None = None
    life: int = 365
    expires: int = 0
    importance: float = 0.5
    surface: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    same: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def meant(self, part: str, text: str) -> str:
        """What `text` is compared as: normalised, and one of all words that mean the same. `part` is a qualifier's
        name or `value`."""
        told = normal_value(text)
        known = self.same.get(part)
        return told if known is None else known.get(told, told)

    def single(self, qualifiers: Mapping[str, str]) -> bool:
        return self.cardinality == "single" or any(
            qualifiers.get(name) in values for name, values in self.single_if.items()
        )


class Registry:
    """Predicates by name; `prefers.*` serves every name that begins with `prefers.`."""

    def __init__(self, predicates: Mapping[str, Predicate]) -> None:
        self._exact: Final = {n: p for n, p in predicates.items() if not n.endswith(".*")}
        self._families: Final = {n[:-1]: p for n, p in predicates.items() if n.endswith(".*")}

    def predicate(self, name: str) -> Predicate:
        known = self._exact.get(name)
        if known is None:
            head, dot, _ = name.partition(".")
            known = self._families.get(head + dot) if dot else None
        return known or Predicate(name=name)

    def knows(self, name: str) -> bool:
        """Is there a row for this predicate, or for its family?"""
        head, dot, _ = name.partition(".")
        return name in self._exact or (bool(dot) and head + dot in self._families)

    def __iter__(self):  # type: ignore[no-untyped-def]
        yield from self._exact.values()
        yield from self._families.values()


def _read(name: str, row: Mapping[str, Any], meanings: Mapping[str, Mapping[str, str]]) -> Predicate:
    row = dict(row)
    named = row.pop("same", {})
    key = row.pop("key", None)
    single_if = {name: tuple(values) for name, values in row.pop("single_if", {}).items()}
    surface = {lang: tuple(words) for lang, words in row.pop("surface", {}).items()}
    try:
        keys = None if key is None else tuple(key)
        same = {
            part: {word: first for table in tables for word, first in meanings[table].items()}
            for part, tables in named.items()
        }
        return Predicate(name=name, key=keys, single_if=single_if, surface=surface, same=same, **row)
    except (KeyError, TypeError) as e:
        raise ConfigurationError(f"predicate {name!r} in the registry: {e}") from None


def _meanings(tables: Mapping[str, list[list[str]]]) -> dict[str, dict[str, str]]:
    """Tables of rows of words that mean the same: each word with the first of its row."""
    return {
        name: {normal_value(word): normal_value(row[0]) for row in rows for word in row}
        for name, rows in tables.items()
    }


def parse_registry(text: str) -> Registry:
    data = tomllib.loads(text)
    meanings = _meanings(data.get("meanings", {}))
    return Registry({name: _read(name, row, meanings) for name, row in data.get("predicates", {}).items()})


@lru_cache(maxsize=1)
def default_registry() -> Registry:
    return parse_registry(files(__package__).joinpath("registry.toml").read_text("utf-8"))
