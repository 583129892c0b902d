"""Varied made-up messages, zh and en, about 40 characters each, with the claims they state. Seeded and endless."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

_SYLLABLES = [a + b for a in "bdfgklmnprstvwyz" for b in "aeio"]
_HAN = (
    "安白柏北滨波苍昌城川春丹德东冬栋帆飞峰福冈光桂海河鹤虹湖华怀辉建江金晶静康兰乐丽莲林岭龙鹿罗梅明南宁平青秋泉荣山"
)
_THINGS_ZH = [
    "咖啡",
    "红茶",
    "爬山",
    "游泳",
    "摄影",
    "钢琴",
    "火锅",
    "散步",
    "围棋",
    "电影",
    "园艺",
    "滑雪",
    "书法",
    "陶艺",
    "露营",
]
_THINGS_EN = [
    "coffee",
    "hiking",
    "piano",
    "noodles",
    "cycling",
    "chess",
    "novels",
    "skiing",
    "pottery",
    "baking",
    "sailing",
]


@dataclass(frozen=True, slots=True)
class Message:
    text: str
    subject: str
    predicate: str
    value: str
    negated: bool


def messages(seed: int = 1) -> Iterator[Message]:
    """Half Chinese, half English; half of them state a change of where someone lives or works, half a liking."""
    rng = random.Random(seed)
    while True:
        chinese = rng.random() < 0.5
        yield (_chinese if chinese else _english)(rng)


def _chinese(rng: random.Random) -> Message:
    place, number = "".join(rng.choices(_HAN, k=rng.randint(2, 3))), rng.randint(1, 99_999)
    person = rng.choice(["user", "user", "user", "".join(rng.choices(_HAN, k=2))])
    who = "我" if person == "user" else person
    if rng.random() < 0.5:
        kind, verb = rng.choice([("lives_in", "住"), ("works_at", "上班")])
        text = f"{who}上个月搬到{place}{verb}了，新地址是{place}路{number}号，楼下有一家店。"
        return Message(text, person, kind, place, False)
    negated, thing = rng.random() < 0.2, place + rng.choice(_THINGS_ZH)
    text = f"{who}{'不再' if negated else '很'}喜欢{thing}，{rng.choice('春夏秋冬')}天去过{number % 97}次，还写了笔记。"
    return Message(text, person, "likes", thing, negated)


def _english(rng: random.Random) -> Message:
    place, number = "".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))).title(), rng.randint(1, 99_999)
    person = rng.choice(["user", "user", "user", "".join(rng.choices(_SYLLABLES, k=2)).title()])
    who = "I" if person == "user" else person
    if rng.random() < 0.5:
        kind, purpose = rng.choice([("lives_in", "to live"), ("works_at", "for work")])
        return Message(f"{who} moved to {place} {purpose}, number {number} on the corner.", person, kind, place, False)
    negated, thing = rng.random() < 0.2, f"{place} {rng.choice(_THINGS_EN)}"
    text = f"{who} {'no longer likes' if negated else 'really likes'} {thing}, went {number % 97} times this year."
    return Message(text, person, "likes", thing, negated)
