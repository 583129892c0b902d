"""Varied made-up messages, zh and en, about 40 characters each, with the claims they state. Seeded, endless, no repeats."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

_SYLLABLES = "ba be bo da de do fa fi ga go ka ke ki ko la le li lo ma me mi mo na ne no pa pe po ra re ri ro sa se so ta te to va vi wo ya zo".split()
_HAN = "安白柏北滨波苍昌城川春丹德东冬栋帆飞峰福冈光桂海河鹤虹湖华怀辉建江金晶静康兰乐丽莲林岭龙鹿罗梅明南宁平青秋泉荣山尚松苏泰涛天桐湾文武西溪夏仙湘晓欣秀雪岩阳叶银英云泽珍舟竹"
_THINGS_ZH = "咖啡 红茶 爬山 游泳 摄影 钢琴 火锅 面条 散步 骑车 围棋 电影 小说 园艺 滑雪 羽毛球 篮球 书法 陶艺 露营 烘焙 钓鱼 潜水 跑步 瑜伽 吉他 话剧 相声 拼图 模型".split()
_THINGS_EN = "coffee tea hiking swimming photography piano noodles walking cycling chess films novels gardening skiing badminton basketball pottery camping baking fishing diving running yoga guitar theatre puzzles models sailing climbing weaving".split()


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
        zh = rng.random() < 0.5
        place = (
            "".join(rng.choices(_HAN, k=rng.randint(2, 3)))
            if zh
            else "".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))).title()
        )
        person = rng.choice(
            [
                "user",
                "user",
                "user",
                "".join(rng.choices(_HAN, k=2)) if zh else "".join(rng.choices(_SYLLABLES, k=2)).title(),
            ]
        )
        number = rng.randint(1, 99_999)
        negated = rng.random() < 0.2
        who = ("我" if zh else "I") if person == "user" else person
        if rng.random() < 0.5:
            kind, value = rng.choice([("lives_in", place), ("works_at", place)])
            if zh:
                text = f"{who}上个月搬到{place}{'住' if kind == 'lives_in' else '上班'}了，新地址是{place}路{number}号，楼下有一家店。"
            else:
                text = f"{who} moved to {place} {'to live' if kind == 'lives_in' else 'for work'}, number {number} on the corner."
            yield Message(text, person, kind, value, False)
        else:
            thing = f"{place}{rng.choice(_THINGS_ZH)}" if zh else f"{place} {rng.choice(_THINGS_EN)}"
            if zh:
                text = f"{who}{'不再' if negated else '很'}喜欢{thing}，{rng.choice('春夏秋冬')}天去过{number % 97}次，还写了笔记。"
            else:
                text = f"{who} {'no longer likes' if negated else 'really likes'} {thing}, went {number % 97} times this year."
            yield Message(text, person, "likes", thing, negated)
