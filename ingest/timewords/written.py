"""The written form that patterns see: same length as the text, so that offsets stay true.

ASCII letters become small, full-width ASCII becomes half-width, traditional characters of time words become simplified,
curly quotes straight.
"""

from __future__ import annotations

from typing import Final

_TRADITIONAL: Final = (
    "週周禮礼個个號号從从兩两這这來来間间鐘钟點点後后節节國国慶庆聖圣誕诞陽阳內内過过時时剛刚現现還还會会將将開开結结幾几數数進进當当裡里裏里"
    "農农曆历歷历臘腊陰阴頭头為为爲为歲岁淩凌異异給给邊边準准備备劃划計计預预經经長长雙双婦妇勞劳動动兒儿師师親亲復复萬万靈灵選选隔隔學学"
    "離离屆届處处遲迟連连續续達达整整齣出總总週周傳传跨跨終终"
)
_TABLE: Final = (
    {0xFF01 + i: 0x21 + i for i in range(94)}
    | {ord(c): ord(c.lower()) for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    | {0xFF21 + i: ord("a") + i for i in range(26)}
    | {ord(a): ord(b) for a, b in zip(_TRADITIONAL[::2], _TRADITIONAL[1::2], strict=True)}
    | {ord("‘"): ord("'"), ord("’"): ord("'"), 0x3000: 0x20, 0xA0: 0x20, ord("\t"): 0x20}
)
# Clause marks stay as they are: "，" must not join digits as "," would.
for _mark in "，；！？":
    del _TABLE[ord(_mark)]


def normal(text: str) -> str:
    return text.translate(_TABLE)
