"""What is asked of something: `the port of the gateway`, `年会的地点`.

A memory that speaks of the thing and not of that is no answer, however near it is: where none speaks of both, the
answer is not known. Only questions of this plain form are judged so; the attribute counts as told where it is named, or
where a predicate is that the question has words for. Dev halves: a hard no on 32% of questions whose evidence was
forgotten (2% without), and on .3% more of those that can be answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from taishi.ingest.normal import normalise

from .asking import RELATIVE
from .folding import Ranked
from .synonyms import mentions
from .understand import Question

_CHINESE: Final = re.compile(
    r"^(?:请问|那么?|你知道|知道)?[，,]?(?P<of>[^，,。?？的]{2,40})的(?P<what>[\u4e00-\u9fff]{2,5}?)(?:到底|究竟|现在|目前)?"
    r"(?:是在|是|叫|在|有)(?:什么|啥|多少|哪里|哪儿|哪|何时|几)[^，,。?？]{0,6}[?？]?\s*$"
)
_ENGLISH: Final = re.compile(
    r"^what(?:'s|’s| is| was| are| were) the (?P<what>[a-z]+(?: [a-z]+)?)"
    r" of (?:the |my |our )?(?P<of>[^,?]{3,40}?)\s*\??$"
)
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_CLAUSE: Final = re.compile(
    r"^(?:刚|参观|喜欢|爱|常|平时|用|在用|穿|戴|拿|手|买|去|来|住|看|吃|喝|经过|路过|要|想|说|做|玩|开|骑|养|学|读|听|认识|负责)"
)
"""Begins what somebody does to a thing (`喜欢的家电`), which is no thing that has an attribute."""
_POINTS: Final = re.compile(r"^[那这哪每各]")
_OWN: Final = re.compile(r"^(?:我们|咱们|我|咱|俺|这个?|那个?)(?:的)?")


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
    of, what = _OWN.sub("", found["of"]), found["what"]
    if len(of) < 2 or _CLAUSE.match(of) or _POINTS.match(what):
        return None
    person = any(m.kind.kin for m in mentions(of))
    if person and not any(predicate != RELATIVE for predicate in question.asks):
        return None  # people's attributes are told in many words
    return Attribute(of, what, person) if person or not question.first_person else None


def untold(question: Question, ranked: Iterable[Ranked]) -> bool:
    """Whether an attribute of something is asked for, and no memory tells it of that."""
    asked = attribute(question)
    return asked is not None and not any(_tells(asked, question, one) for one in ranked)


def _tells(asked: Attribute, question: Question, one: Ranked) -> bool:
    if one.slot:
        return True
    said = one.event.text if one.claim is None and one.event is not None else one.claim.text if one.claim else None
    value = one.claim.value if one.claim is not None else None
    text = normalise(f"{said or ''} {value or ''}")
    if not asked.named_in(text):
        return False
    words = {word for predicate, those in question.asks.items() if predicate != RELATIVE for word in those}
    return asked.told_in(text) or bool(words.intersection(one.explained))
