"""A sentence's own signs of tense. Data first; `tense_of` weighs them.

Words that place a thing in the past (昨天, last week) outweigh a plan's modal (打算), which outweighs an aspect mark (了, -ed).
"""

from __future__ import annotations

import re
from typing import Final

from .spans import Tense
from .written import normal

_IRREGULAR: Final = (
    "was were did had went bought met saw got made took came left began told said gave found knew thought became lost "
    "won felt ate drank wrote ran sold spent sent built paid taught caught broke chose drove flew forgot grew held kept "
    "led meant rode rose sang sat slept spoke stood stole swam threw understood woke wore brought heard used fell hung "
    "wasn weren didn hadn been gone done seen taken"
).split()
_NOT_PAST: Final = (
    "need needs bed red feed seed speed indeed hundred wed shed sled unlimited united limited med ted "
    "fred embed breed exceed proceed succeed agreed naked sacred excited interested married scheduled "
    "related based supposed planned worried tired bored retired allowed called named"
).split()

_PLACED_PAST: Final = re.compile(
    r"昨[天日晚夜儿]|(?<![以之目提])前天|大前天|(?<![过出回进])去年|(?<![以之目])前年|(?<![马以晚早])上+(?:一?个)?(?:周|星期|礼拜|月)|刚才|刚刚|上次|当时|那时|曾经?"
    r"|(?<![a-z])(?:yesterday|ago|last (?:week|month|year|night|time|weekend|summer|winter|spring|fall|autumn|[a-z]+day)"
    r"|just now|the other day|back in|earlier today|used to)(?![a-z])"
)
_FUTURE: Final = re.compile(
    r"(?<![需主重只不紧必首还摘纲概])要(?![求是不么素紧点害强好])|(?<![开过个次了完机社聚约晚宴协大年学不工商议诉运博事误])会(?![议员计话面场长所谈见馆儿说上后中])"
    r"|打算|即将|将(?=[于在会要来])|(?<![即大主])将(?![军士领])|准备(?!好|了)|计划|(?<![不没])想(?![了起到过法象念必想])|预计|快要|就要|明[天日晚早儿年]|(?<![以之然最])后天"
    r"|(?<![以一等楼])下+(?:一?个)?(?:周|星期|礼拜|月)|(?<![a-z])(?:will|won't|'ll|shall|going to|gonna|plan(?:s|ning)? (?:to|on|a|for)"
    r"|intend(?:s|ing)? to"
    r"|about to|(?:want|wants|hope|hopes|hoping|expect|expects|expecting|scheduled|due|need|needs|have|has|would like|'d like"
    r"|'d love|looking forward) to"
    r"|planning|upcoming|tomorrow|tonight|next (?:week|month|year|weekend|[a-z]+day))(?![a-z])|(?<=[a-z])'ll(?![a-z])"
)
_ASPECT_PAST: Final = re.compile(
    r"(?<![不没除为极太好对罢])了(?!解|不)|(?<=[一-鿿])(?<![不通超经难度])过(?![年节来去程于敏期生度滤])|刚(?!好|需|性)|已经?|之前|以前|原来"
    rf"|(?<![a-z])(?:{'|'.join(_IRREGULAR)}|(?!(?:{'|'.join(_NOT_PAST)})(?![a-z]))[a-z]{{2,}}ed)(?![a-z])"
)
_NOW_LE: Final = re.compile(r"(?:快|要|就|该).{0,12}了")


def tense_of(text: str) -> Tense:
    """`past`, `future`, or None where the words do not tell."""
    return tense_of_normal(normal(text))


def tense_of_normal(text: str) -> Tense:
    """As `tense_of`, on text already normalised by `written.normal`."""
    placed = _PLACED_PAST.search(text)
    future = _FUTURE.search(text)
    if placed is not None and (future is None or _ASPECT_PAST.search(text) is not None):
        return "past"
    if future is not None:
        return "future"
    return "past" if placed is not None or _ASPECT_PAST.search(text) is not None else None
