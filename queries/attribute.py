"""What is asked of something or someone: `the port of the gateway`, `年会的地点`, `my aunt's phone number`.

A memory that speaks of the thing and not of that is no answer, however near it is: where none speaks of both, the
answer is not known. The attribute of a thing counts as told where it is named, or where a predicate is that the
question has words for. People's attributes are told in many words: a memory of the person tells nothing of what is
asked only if it is about something else (its predicate, or the words of one), or if it lacks what every answer has
(digits of a phone number). Data: `answers.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Final

from taishi.ingest.normal import normalise

from .asking import OWNS, RELATIVE, Asking, asking
from .fence import names_it
from .folding import Ranked
from .pointing import CLASSIFIERS
from .synonyms import Mention, mentions
from .understand import QUESTION, Question

_CHINESE: Final = re.compile(
    r"^(?:请问|那么|那(?=[，,])|你知道|知道)?[，,]?(?P<of>[^，,。?？的]{2,40})的(?P<what>[\u4e00-\u9fff]{2,5}?)(?:到底|究竟|现在|目前)?"
    r"(?:是在|是|叫|在|有)(?:什么|啥|多少|哪里|哪儿|哪|何时|几)[^，,。?？]{0,6}[?？]?\s*$"
)
_ENGLISH: Final = re.compile(
    r"^what(?:'s|’s| is| was| are| were) the (?P<what>[a-z]+(?: [a-z]+)?)"
    r" of (?:the |my |our )?(?P<of>[^,?]{3,40}?)\s*\??$"
)
SUMMAND: Final = "attribute"
"""How `why` calls what a memory gains or loses by it."""
TELLS: Final = 0.12
LOOKED_AT: Final = 16
"""Best ranked memories that are read for it."""
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_CLAUSE: Final = re.compile(
    r"^(?:刚|参观|喜欢|爱|常|平时|用|在用|穿|戴|拿|手|买|去|来|住|看|吃|喝|经过|路过|要|想|说|做|玩|开|骑|养|学|读|听|认识|负责)"
)
"""Begins what somebody does to a thing (`喜欢的家电`), which is no thing that has an attribute."""
_POINTS: Final = re.compile(r"^[那这哪每各]")
_LED_IN: Final = re.compile(r"^(?:请问|那么?|你知道|知道)?[，,]?(?:(?:我|咱|俺)们?)?的?")
"""What stands before the relative whose attribute is asked."""
_POINTED: Final = re.compile(
    rf"^(?:[那这该][{CLASSIFIERS}些]?|(?:that|this|those|these)\s+)", re.IGNORECASE
)
"""Words that point at a thing are no part of its name."""
_OWN: Final = re.compile(r"^[我咱俺]们?的?")


_OF_ONESELF: Final = re.compile(
    r"^(?:请问|那么?|现在|目前|你知道)?[，,]?[我咱俺](?:[们家]?的?)(?!.*[他她])"
    r"|\b(?:do|am|is|are) (?:i|we|my|our)\b(?!.*\b(?:s?he|they|his|her|their)\b)"
)
"""A question of the one who asks, and not one that is only put in his name ("can you tell me")."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """`what` is asked `of` something; both normalised."""

    of: str
    what: str
    person: bool

    def named_in(self, text: str) -> bool:
        """A (normalised) text speaks of it."""
        if self.of in text:
            return True
        return self.person and bool({m.kind.name for m in mentions(self.of)} & {m.kind.name for m in mentions(text)})

    def told_in(self, text: str) -> bool:
        """A (normalised) text names the attribute, and no longer one that ends in it (`持续时间` is not `时间`)."""
        for found in re.finditer(re.escape(self.what), text):
            before = text[: found.start()]
            if self.person or not before or before.endswith((self.of, "的")) or _HAN.match(before[-1]) is None:
                return True
        return False


def attribute(question: Question) -> Attribute | None:
    """None where the question has another form, or asks for a system's present state, which has a rule of its own."""
    if question.asks_state:
        return None
    found = _CHINESE.match(question.text) or _ENGLISH.match(question.text)
    if found is None:
        return None
    of, what = _POINTED.sub("", _OWN.sub("", found["of"])), found["what"]
    if len(of) < 2 or _CLAUSE.match(of) or _POINTS.match(what):
        return None
    person = any(m.kind.kin for m in mentions(of))
    if person and not any(predicate != RELATIVE for predicate in question.asks):
        return None  # people's attributes are told in many words
    return Attribute(of, what, person) if person or not question.first_person else None


def untold(question: Question, ranked: Sequence[Ranked], *, named: Sequence[str] = ()) -> bool:
    """Whether an attribute of something or someone is asked for, and no memory tells it of that: of one's own, none
    where all that is known is another's. `named` are those whom the question names."""
    oneself = bool(question.asks) and _OF_ONESELF.search(question.text[:QUESTION]) is not None
    if ranked and oneself and question.intent == "current":
        if ranked[0].of_another and not any(one.slot or one.explained and not one.of_another for one in ranked):
            return True
    person = of_person(question, named)
    if person is not None:
        return not any(person.may_be_told_by(one) for one in ranked)
    asked = attribute(question)
    return asked is not None and not any(_tells(asked, question, one) for one in ranked)


def told_first(ranked: Sequence[Ranked], question: Question) -> list[Ranked]:
    """The same memories: of the best ones, those that tell the attribute that is asked for gain, and those that cannot
    tell it lose."""
    person = of_person(question)
    asked = None if person is not None else attribute(question)
    if person is None and asked is None:
        return list(ranked)
    best = []
    for one in ranked[:LOOKED_AT]:
        if person is not None:
            gain = person.gain(one)
        else:
            gain = TELLS if asked is not None and _tells(asked, question, one) else 0.0
        best.append(replace(one, score=one.score + gain, parts={**one.parts, SUMMAND: gain}) if gain else one)
    best.sort(key=lambda one: -one.score)
    return [*best, *ranked[LOOKED_AT:]]


def _tells(asked: Attribute, question: Question, one: Ranked) -> bool:
    if one.slot:
        return True
    text = _text(one)
    if not asked.named_in(text):
        return False
    words = {word for predicate, those in question.asks.items() if predicate != RELATIVE for word in those}
    return asked.told_in(text) or bool(words.intersection(one.explained))


def _text(one: Ranked) -> str:
    said = one.event.text if one.claim is None and one.event is not None else one.claim.text if one.claim else None
    value = one.claim.value if one.claim is not None else None
    return normalise(f"{said or ''} {value or ''}")


@dataclass(frozen=True, slots=True)
class OfPerson:
    """What is asked of a relative, or of someone by name, by the predicates that the question has words for: `asking`
    has no others."""

    asking: Asking
    names: tuple[str, ...] = ()

    def may_be_told_by(self, one: Ranked) -> bool:
        predicate = None if one.claim is None else one.claim.predicate or ""
        asked = predicate is not None and bool(self.asking.for_predicate(predicate))
        if not self._speaks_of(one):
            return asked and one.slot
        text = _text(one)
        if asked or self._said(one.explained) or self._said(self.asking.said_in(text)):
            return True
        if predicate is not None or asking(text).asks.keys() - _BARE:
            return False  # it is about something else
        shapes = [shape for name in self.asking.asks if (shape := _shapes().get(name)) is not None]
        return not shapes or any(shape.search(text) for shape in shapes)

    def gain(self, one: Ranked) -> float:
        """What it is worth that a memory tells what is asked of this person, or cannot."""
        if not self.may_be_told_by(one):
            return -TELLS
        predicate = None if one.claim is None else one.claim.predicate or ""
        surely = predicate is not None and bool(self.asking.for_predicate(predicate))
        return TELLS if surely or self._said(one.explained) else 0.0

    def _speaks_of(self, one: Ranked) -> bool:
        kin = {m.words for m in self.asking.kin}
        if not {*kin, *self.names}.isdisjoint(one.explained) or self.asking.named_in(_text(one)):
            return True
        text = _text(one)
        return any(names_it(text, name) for name in self.names)

    def _said(self, words: Iterable[str]) -> bool:
        return not {word for those in self.asking.asks.values() for word in those}.isdisjoint(words)


_BARE: Final = frozenset({RELATIVE, OWNS, "name", "nickname", "did", "uses", "knows"})
"""Words for these stand in memories of anything."""


def of_person(question: Question, named: Sequence[str] = ()) -> OfPerson | None:
    """None where the question is not of a relative or of one of those `named`, or asks nothing but who that is."""
    if question.intent in ("open", "list", "plan"):
        return None
    if not relatives_of(question):
        told = tuple(name for name in named if _is_whose(name, question.text))
        first = {p: words for p, words in question.asks.items() if p in _PERSONAL}
        alone = told and first and not question.asking.kin
        return OfPerson(replace(question.asking, asks=first), told) if alone else None
    first = {p: words for p, words in question.asks.items() if p not in _BARE and p not in question.asking.second}
    return OfPerson(replace(question.asking, asks=first)) if first else None


def relatives_of(question: Question) -> tuple[Mention, ...]:
    """The relatives that the question names as those of whom something is asked."""
    if question.intent == "open":
        return ()
    kin = question.asking.kin
    return kin if any(_is_of(m.words, question.text) for m in kin) else ()


_PERSONAL: Final = frozenset(
    {"age", "birthday", "lives_in", "works_at", "phone", "email", "height", "weight", "hometown", "marital_status"}
)
"""What anyone has one of, and what is told in words of its own."""


def _is_whose(name: str, text: str) -> bool:
    """The question asks of the one whom it names, alone: "where does Leo live", "李娜多大了"."""
    who = re.escape(name)
    if name.isascii():
        return re.search(
            rf"^(?:what(?:[’']s| is| was)|when(?:[’']s| is| was)) {who}[’']s? (?:\w{{1,30}} ?){{1,3}}\??$"
            rf"|^(?:where|how old|how tall) (?:does|do|did|is|was) {who}"
            r"(?: (?:live|work|now|from|based|currently))*\s*\??$",
            text,
        ) is not None
    what = "住|在|多大|几岁|多高|多重|生日|电话|手机|邮箱|年龄|身高|是哪里?人|结婚|老家"
    return re.match(rf"(?:请问)?{who}(?:现在|今年|目前|的)?(?:{what})", text) is not None


def _is_of(relative: str, text: str) -> bool:
    """It is named as whose attribute is asked, and not to describe another."""
    if relative.isascii():
        return re.search(rf"\bmy (?:[a-z]+ )?{re.escape(relative)}\b", text) is not None
    return text.startswith(relative, len(_LED_IN.findall(text)[0]))


@lru_cache(maxsize=1)
def _shapes() -> Mapping[str, re.Pattern[str]]:
    data = tomllib.loads(files(__package__).joinpath("answers.toml").read_text("utf-8"))
    return {predicate: re.compile(pattern) for predicate, pattern in data["shape"].items()}
