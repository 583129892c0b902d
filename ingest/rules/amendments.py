"""Slips of the tongue: "I meant Thursday", "说错了，是周四", read against the one claim that was made just before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..claims import Claim, Quote
from ..extractor import Utterance
from ..instants import from_datetime
from ..registry import Registry

_SLIP: Final = re.compile(
    r"(?:^|[，,。.；;!！\s])(?:我?(?:说错了|口误|记错了|打错了|写错了)|不对|更正(?:一下)?|纠正一下)[，,：:。\s]*(?:应该|其实)?(?:是|为|叫)(?P<zh>[^，,。！!？?；;\n]{1,24})"
    r"|(?:^|[\s,;.–—-])(?:sorry,? |no,? |oops,? |wait,? )*i mean(?:t)?(?: to say)?:?,? (?P<en>(?!that\b|it\b|i\b|you\b|what\b|to\b|well\b|really\b|we\b|he\b|she\b|they\b|this\b|the way)[^,.;!?\n]{1,40})$",
    re.I,
)
_SLIPPED: Final = ("错了", "口误", "不对", "更正", "纠正")
_WRONG: Final = re.compile(
    r"[\s,，!！.。—-]{0,4}(?:(?:啊|哦|呃|抱歉|不好意思|sorry|oops|wait|no|um|uh|ah)[\s,，!！.。—-]{0,4}){0,3}(?:不对|不是|错了|(?:我?刚才?)?(?:说|记|打|写)错了|更正|纠正|口误|correction|scratch that|my mistake"
    r"|i misspoke|i was wrong|that(?:'s| was) wrong|sorry,? i meant|i meant|(?:no|oops|wait|sorry),)", re.I)
_DIGIT: Final = re.compile(r"\d")


def may_amend(text: str) -> bool:
    """Whether the words have the look of a slip taken back at all, so that the words before are worth reading again."""
    low = text.lower()
    return "i mean" in low or any(word in low for word in _SLIPPED)


def takes_back(text: str) -> bool:
    """Whether the words begin by saying that what was said before is wrong."""
    return _WRONG.match(text) is not None


def taken_back(text: str) -> int | None:
    """Where in a text the words of a slip begin, by which what stands before is taken back."""
    found = _SLIP.search(text.rstrip(" .。!！"))
    return None if found is None or not text[: found.start()].strip() else found.start()


def retold(claims: Sequence[Claim], before: Sequence[Claim]) -> list[Claim]:
    """Denials of what was said before of whom someone has, where words that take it back name another: "no, my sister's
    name is Mei". Of the rest it is not plain whether the one shuts out the other."""
    denied: list[Claim] = []
    for claim in claims:
        for old in before:
            alike = (old.subject, old.predicate, old.qualifiers) == (claim.subject, claim.predicate, claim.qualifiers)
            if alike and claim.predicate == "relative" and not old.negated and not claim.negated and old.value != claim.value:
                denied.append(replace(
                    claim, value=old.value, negated=True, modality=old.modality, confidence=0.7, rule="retold"
                ))
    return denied


def amended(text: str, utterance: Utterance, before: Sequence[Claim], registry: Registry) -> list[Claim]:
    """The claim before with the value that was meant; the value it had is denied where both could stand side by side.

    Nothing where it is not plain which claim is meant: no claim before, several of one utterance, or values of unlike shape.
    """
    found = _SLIP.search(text.rstrip(" .。!！"))
    if found is None or len(before) != 1:
        return []
    old = before[0]
    side = "zh" if found["zh"] is not None else "en"
    value = found[side].strip(" 了的")
    if not value or value == old.value or bool(_DIGIT.search(value)) is not bool(_DIGIT.search(old.value)):
        return []
    start = found.start() + (not found[0][0].isalnum() and found[0][0] not in "我说")
    while start < found.end() and text[start] in " ，,。.；;!！–—-":
        start += 1
    end = found.end(side)
    quote = Quote(event_id=utterance.event_id, start=start, end=end, text=text[start:end])
    now = from_datetime(utterance.said_at)
    meant = replace(old, value=value, quote=quote, valid_from=old.valid_from or now, said_by=utterance.speaker, confidence=0.7, rule="amended")
    if registry.predicate(old.predicate).single(old.qualifiers):
        return [meant]
    return [replace(old, negated=not old.negated, quote=quote, said_by=utterance.speaker, confidence=0.7, rule="amended"), meant]
