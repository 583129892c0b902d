"""Which system or person a question names, known or not: what speaks of another one is no answer.

A name that memories speak of is found by the fence. One that none speaks of has to be read out of the question itself:
"what version is the billing crawler on now" names the billing crawler, and billing gateways are not asked about.
"""

from __future__ import annotations

import re
from typing import Final

from taishi.ingest.normal import normalise
from taishi.ingest.rules import NOT_A_NAME, PERSON_NAME
from taishi.projections.stopwords import STOP_WORDS

from .synonyms import mentions

_ASKED_EN: Final = r"(?:version|release|status|state|port|timeout)"
_NAME_EN: Final = r"(?:the |my |our |your )?(?P<n>[a-z0-9][\w.'’+-]*(?: [\w.'’+-]+){0,4}?)"
_AFTER_EN: Final = (
    r"(?= (?:on|at|in|now|running|run|runs|use|uses|using|currently|right|today|deployed|installed|these|as|have|has"
    r"|am|is|are|was|were|do|does|did|should|i|we|you|they)\b"
    r"|[?.!,]|\s*$)"
)
_ENGLISH: Final = (
    re.compile(rf"\b{_ASKED_EN} (?:number )?(?:of|is|was|does|did|do) {_NAME_EN}{_AFTER_EN}"),
    re.compile(rf"\b(?:is|was|of|on|in) {_NAME_EN}['’]s (?:current |present |latest )?{_ASKED_EN}\b"),
)
_CHINESE: Final = re.compile(
    r"(?:^|那天|当天|那时候?|[，,\s]|请问)\s*(?P<n>[^，,？?\s的][^，,？?]{1,23}?)\s*(?:的|现在|目前|当前|如今|是|什么|哪个|处于|跑)*\s*"
    r"(?:健康|运行|连接|部署|任务)?(?:版本|状态|端口|超时)"
)
_NOBODY: Final = re.compile(
    r"(?:我|你|您|咱|它|他|她|这|那|哪|谁|现在|目前|当前|最新|今天)|(?:i|we|you|it|this|that|they|there|current|latest|now|am|are)\b"
)
_WORD: Final = re.compile(r"[a-z0-9]+(?:[._+-][a-z0-9]+)*|[\u4e00-\u9fff]+")
_THEN: Final = re.compile(r"^.*(?:那[天时日]|当[天时日]|那时候|的时候)\s*")
_DATE: Final = re.compile(r"\d[\d年月日号./-]*")
_SPACE: Final = re.compile(r"\s+")


def named_system(words: str) -> str | None:
    """The name in a (normalised) question about a system's state; None where it names none, or not plainly."""
    for pattern in (*_ENGLISH, _CHINESE):
        found = pattern.search(words)
        if found is not None:
            name = _THEN.sub("", found["n"]).strip()
            return None if not name or _NOBODY.match(name) or _DATE.fullmatch(name) else name
    return None


_PERSON: Final = re.compile(
    rf"(?:请问)?(?P<n>{PERSON_NAME})(?:现在|今年|目前|以前|之前)?(?=在哪|在什么|住|的(?:生日|电话|手机|邮箱|年龄|身高|职业|工作|老家|爱好)|多大|几岁|多高|是谁|是做|是干|是哪里?人|喜欢|会说|会不会|做什么|叫什么|毕业|养)"
)


def named_person(words: str) -> str | None:
    """The Chinese name, surname and all, of the one whom a (normalised) question is about; None where it begins with
    none. An English name is a word of its own, and is met or not; of a Chinese one its first character may be met in
    the name of another."""
    found = _PERSON.match(words)
    return None if found is None or NOT_A_NAME.match(found["n"]) is not None else found["n"]


_CAPITALISED: Final = (
    r"(?P<n>(?:(?:Mrs?|Ms|Miss|Dr|Prof)\.? )?[A-ZÀ-Þ][a-zß-ÿ]+"
    r"(?:[ -](?:(?:van|von|de[lr]?|d[aiu]|l[ae]|el|bin|al) )?[A-ZÀ-Þ][a-zß-ÿ]+){0,2})"
)
_ASKED_OF: Final = (
    re.compile(rf"(?<![\w'’])(?<!\bSt )(?<!\bSt\. ){_CAPITALISED}['’]s? (?=[a-z])"),
    re.compile(rf"\b(?:[Dd]oes|[Dd]id|[Hh]as|[Cc]an|[Ww]ill) {_CAPITALISED}(?= [a-z]|\s*\?|$)"),
    re.compile(
        rf"\b(?:[Ww]ho|[Ww]here|[Hh]ow (?:old|tall))(?:['’]s| is| was| are) {_CAPITALISED}"
        r"(?= (?:from|now|living)|\s*\?|$)"
    ),
    re.compile(rf"^(?:Is|Was) {_CAPITALISED}(?= [a-z])"),
)
_NOBODYS: Final = STOP_WORDS | {"user", "assistant", "van", "von", "del", "der", "bin"}
_TITLE: Final = re.compile(r"^(?:mrs?|ms|miss|dr|prof)\b\.? ?")
_CAPITAL: Final = re.compile(r"(?<!^)\b[A-Z][a-z]+")
_TIMES: Final = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs"
    r"|fri|satur|sun)day|christmas|easter|spring|summer|autumn|winter|today|tomorrow|yesterday)$"
)


def named_in_capitals(text: str) -> tuple[str, ...]:
    """The names (normalised) of those of whom an English question asks something, as it is written: what they do, have
    or are. Each stands with its parts, since one may be known by less of it. None where every word has a capital."""
    if any(normalise(word) in STOP_WORDS for word in _CAPITAL.findall(text)):
        return ()
    names: dict[str, None] = {}
    for pattern in _ASKED_OF:
        for found in pattern.finditer(text):
            name = normalise(found["n"])
            parts = _TITLE.sub("", name).split(" ")
            if parts[0] in _NOBODYS or any(_TIMES.match(part) for part in parts) or mentions(name):
                continue
            names |= dict.fromkeys((name, *(part for part in parts if len(part) >= 3 and part not in _NOBODYS)))
    return tuple(names)


def speaks_of(text: str, name: str) -> bool:
    """Whether a (normalised) text has the name: Chinese by what stands around 的, English by all its words."""
    if name.isascii():
        told = {word.removesuffix("s") for word in _WORD.findall(text)}
        return all(word.removesuffix("s") in told for word in _WORD.findall(re.sub(r"['’]s\b", "", name)))
    closed = _SPACE.sub("", text)
    return all(part in closed for part in _SPACE.sub("", name).split("的"))
