"""The words by which a question asks, and which of them a memory answers for.

A memory of the asked predicate need not repeat the words that ask for it: "I moved to Bristol" answers for "live" and
for "which city". It answers for them only where it is about the one who is asked about. Data: `questions.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from taishi.ingest.normal import normalise

from .synonyms import Mention, meant, mentions, spoken_of

_SORT: Final = re.compile(
    r"\b(?:what|which)(?: (?:kind|sort|type)s? of)? ((?:\w+ )?\w+) (?:am|is|are|was|were|do|does|did|has|have|can)\b"
    r"|(?:哪[个种款道本部台辆门支项样]|什么)([\u4e00-\u9fff]{1,4})(?=[?？。!！\s]*$)"
)
"""The sort of answer that is wanted: `which editor`, `哪道菜`."""
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_FORMER: Final = re.compile(r"\b(?:ex|former|late)\b|前")
RELATIVE: Final = "relative"
OWNS: Final = "owns"
_MARRIED: Final = re.compile(
    r"^(?:am|is|are) (?:\w+ ){0,2}?(?:married|single)\b|marital status|结婚了?(?:吗|没)|已婚|单身|婚姻状况"
)
_OWN_AGE: Final = re.compile(
    r"\bhow old (?:am i|is the user|are we)\b|\bmy (?:own )?age\b|\buser['’]s age\b"
    r"|^(?:我|用户)(?!.{0,3}[爸妈哥姐弟妹儿女老]).{0,4}(?:多大|几岁|年龄|岁数)"
)
POSSESSIONS: Final = (OWNS, "uses")
"""Predicates of things of every kind: where a kind is meant, a claim tells of it or nothing."""


@dataclass(frozen=True, slots=True)
class Asking:
    """`asks` are predicates with the words that ask for them; those in `second` are asked less than others. `answer`
    are words for the kind of answer, by predicate; `sort` those that name a sort of thing. `naming` ask for a name.
    `implied` are predicates that tell what is asked by what follows from them, in some values: a wife, that one is
    married; a year of birth, how old one is.
    `meant` are the kinds of people and things that are named; the words of people say which one is meant."""

    asks: Mapping[str, tuple[str, ...]]
    second: frozenset[str] = frozenset()
    answer: Mapping[str, tuple[str, ...]] = ()  # type: ignore[assignment]
    sort: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()
    meant: tuple[Mention, ...] = ()
    implied: frozenset[str] = frozenset()

    @property
    def telling(self) -> tuple[str, ...]:
        """Of people, and of what a name is asked of."""
        return tuple(m.words for m in self.meant if m.kind.kin or self.naming)

    @property
    def things(self) -> tuple[Mention, ...]:
        return tuple(m for m in self.meant if not m.kind.kin)

    @property
    def kin(self) -> tuple[Mention, ...]:
        return tuple(m for m in self.meant if m.kind.kin)

    def for_predicate(self, predicate: str) -> tuple[str, ...]:
        """The words by which the question asks for this predicate; none if it does not."""
        return self.asks.get(_key(self.asks, predicate), ()) if self.asks else ()

    def named_in(self, text: str) -> tuple[str, ...]:
        """Words of the question whose kind a (normalised) text names, in whatever words."""
        if not self.meant:
            return ()
        there = spoken_of(text)
        return tuple(m.words for m in self.meant if there & m.kind.fits)

    def explained_by(self, *, predicate: str, qualifiers: Mapping[str, Any], text: str) -> tuple[str, ...]:
        """Words of the question that a claim of the asked subject answers for. `text` is normalised: its words and its
        value."""
        named = self.named_in(_with_kind(text, qualifiers))
        if predicate in self.implied:
            return self.for_predicate(predicate) if self.implies(predicate, qualifiers=qualifiers, text=text) else ()
        asked = self.for_predicate(predicate)
        if not self.may_tell(predicate=predicate, qualifiers=qualifiers, text=text):
            return named
        if predicate == RELATIVE and self.kin:
            return (*named, *asked, *self.naming) if self.relation_fits(qualifiers) else ()
        if predicate == OWNS and self.naming:
            return (*named, *asked, *self.naming) if named and "name" in qualifiers else (*named, *asked)
        if not asked:
            return named
        return (*named, *asked, *self.answer.get(_key(self.answer, predicate), ()), *self.answer.get("*", ()))

    def may_tell(self, *, predicate: str, qualifiers: Mapping[str, Any], text: str) -> bool:
        """Whether a claim with this (normalised) text may be of the kind of thing that is meant, if one is."""
        things = self.things if predicate in POSSESSIONS else ()
        if not things:
            return True
        there = spoken_of(_with_kind(text, qualifiers))
        return any(there & m.kind.fits for m in things)

    def implies(self, predicate: str, *, qualifiers: Mapping[str, Any], text: str) -> bool:
        """Whether what is asked follows from a claim of an implied predicate. `text` is normalised."""
        if predicate == RELATIVE:
            relation = normalise(str(qualifiers.get("relation", "")))
            return _FORMER.search(relation) is None and any("spouse" in m.kind.fits for m in mentions(relation))
        return _YEAR.search(text) is not None

    def said_in(self, text: str) -> tuple[str, ...]:
        """Words of the question that ask for a predicate of which a (normalised) text speaks in other words."""
        found: list[str] = list(self.named_in(text))
        for row in _table().rows:
            if row.predicate not in self.implied and (asked := self.asks.get(row.predicate)) and (
                row.words.search(text) or (row.said is not None and row.said.search(text))
            ):
                if row.predicate != RELATIVE:
                    found += (*asked, *self.answer.get(row.predicate, ()))
                elif found:
                    found += self.naming
        return tuple(found)

    def relation_fits(self, qualifiers: Mapping[str, Any]) -> bool:
        """Whether a relative is one of those that the question names."""
        there = {m.kind.name for m in mentions(normalise(str(qualifiers.get("relation", ""))))}
        return any(there & m.kind.fits for m in self.kin)


def _with_kind(text: str, qualifiers: Mapping[str, Any]) -> str:
    return normalise(" ".join((text, str(qualifiers.get("relation", "")), str(qualifiers.get("kind", "")))))


def _key(table: Mapping[str, Any], predicate: str) -> str:
    return predicate if predicate in table else predicate.partition(".")[0] + ".*"


@dataclass(frozen=True, slots=True)
class _Row:
    predicate: str
    words: re.Pattern[str]
    said: re.Pattern[str] | None
    before: str | None
    naming: bool


@dataclass(frozen=True, slots=True)
class _Table:
    rows: Sequence[_Row]
    answer: Mapping[str, re.Pattern[str]]


@lru_cache(maxsize=1)
def _table() -> _Table:
    data: Mapping[str, Mapping[str, Any]] = tomllib.loads(
        files(__package__).joinpath("questions.toml").read_text("utf-8")
    )
    rows = [
        _Row(
            predicate,
            _pattern(forms),
            _pattern(data["said"][predicate]) if predicate in data["said"] else None,
            forms.get("before"),
            bool(forms.get("naming", False)),
        )
        for predicate, forms in data["ask"].items()
    ]
    return _Table(rows, {predicate: _pattern(forms) for predicate, forms in data["answer"].items()})


def _pattern(forms: Mapping[str, Any]) -> re.Pattern[str]:
    zh = "|".join(normalise(word) if "." in word or "[" in word else re.escape(normalise(word)) for word in forms["zh"])
    en = "|".join(forms["en"])
    return re.compile("|".join(part for part in (zh, rf"\b(?:{en})\b" if en else "") if part))


def asking(words: str) -> Asking:
    """What the (normalised) question has words for."""
    table = _table()
    asks: dict[str, tuple[str, ...]] = {}
    naming: tuple[str, ...] = ()
    for row in table.rows:
        if matched := tuple(dict.fromkeys(m[0] for m in row.words.finditer(words))):
            asks[row.predicate] = matched
            naming = matched if row.naming else naming
    kinds = meant(words)
    relatives = tuple(m.words for m in kinds if m.kind.kin)
    if relatives:
        asks[RELATIVE] = (*asks.get(RELATIVE, ()), *relatives)
    if naming and (kinds or len(asks.keys() - {"name", "nickname", "surname"}) > 0):
        asks.pop("name")  # the name of something else
    if things := tuple(m.words for m in kinds if not m.kind.kin):
        asks[OWNS] = (*asks.get(OWNS, ()), *things)
    implied: dict[str, tuple[str, ...]] = {}
    if not relatives and "marital_status" in asks and _MARRIED.search(words):
        implied[RELATIVE] = asks["marital_status"]
    if not relatives and "age" in asks and "birthday" not in asks and _OWN_AGE.search(words):
        implied["birthday"] = asks["age"]
    asks |= implied
    second = {row.predicate for row in table.rows if row.before in asks}
    answer = {
        predicate: found
        for predicate, pattern in table.answer.items()
        if (found := tuple(m[0] for m in pattern.finditer(words)))
    }
    sort = tuple(word for m in _SORT.finditer(words) for word in m.groups() if word)
    return Asking(asks, frozenset(second), answer, sort, naming, kinds, frozenset(implied))
