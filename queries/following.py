"""The thread of an answer: what the best memory names that the question does not, other memories may tell more of.

"What does the one from Leeds do?" is answered in two steps: who is from Leeds, and what is told of that one. "Which
phone do I use?" has an answer with a name, and what is said of the phone under that name repeats no word of the
question. So memories that share with the best one what is new in it gain, by how telling that is among all that was
looked at. Nothing is searched for anew: what was found is seen in another light. A long best memory names too many
things to follow. Dev halves, without and with it: memdaily R@5 .920 and .947, memdaily_mix .899 and .911; the others
are indifferent.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from taishi.ingest.normal import normalise
from taishi.projections.stopwords import STOP_WORDS

from .folding import Ranked, best_first

SUMMAND: Final = "thread"
"""How `why` calls it."""
FOLLOWED: Final = 0.2
LEAST: Final = 0.02
"""What is gained, at least."""
LONGEST: Final = 60
"""Characters of a best memory whose thread is followed."""
READ: Final = 300
LOOKED_AT: Final = 30
"""Best memories that are read: a sixtieth of a recall at 100,000."""
FEWEST: Final = 3
"""Memories among which it can be told what is telling."""
COMMON: Final = 0.5
"""Share of the memories from which on what they have is not telling."""

_CUT: Final = re.compile(r"['’](?:s|ve|m|re|d|ll|t)$")
_WORD: Final = re.compile(r"[a-z0-9]+(?:['’.-][a-z0-9]+)*|[\u4e00-\u9fff]+")


def followed(ranked: Sequence[Ranked], question: str) -> list[Ranked]:
    """The same memories, best first. `question` is normalised.

    A word that stands in the best memory alone tells that the others do not speak of all that is new in it; a pair of
    characters may cross the border of two words, and tells nothing.
    """
    if len(ranked) < FEWEST or len(_text(ranked[0])) > LONGEST:
        return list(ranked)
    near, rest = ranked[:LOOKED_AT], ranked[LOOKED_AT:]
    told = [_pieces(_text(one)) for one in near]
    new = told[0] - _pieces(question)
    count = Counter(piece for those in told for piece in those & new)
    most = COMMON * len(near)
    telling = {piece: math.log(len(near) / n) for piece, n in count.items() if n <= most}
    weight = {piece: worth for piece, worth in telling.items() if count[piece] > 1}
    if not weight:
        return list(ranked)
    total = sum(worth for piece, worth in telling.items() if piece.isascii() or piece in weight)
    better = []
    for one, those in zip(near, told, strict=True):
        share = sum(weight[piece] for piece in those & weight.keys()) / total
        gain = FOLLOWED * share if one is not near[0] else 0.0
        told_more = gain >= LEAST
        better.append(replace(one, score=one.score + gain, parts={**one.parts, SUMMAND: gain}) if told_more else one)
    return best_first([*better, *rest])


def _text(one: Ranked) -> str:
    if one.event is not None:
        return one.event.text or ""
    return "" if one.claim is None else one.claim.text or one.claim.value or ""


def _pieces(text: str) -> frozenset[str]:
    """Words, and pairs of Chinese characters."""
    found: set[str] = set()
    for word in _WORD.findall(normalise(text[:READ])):
        if word.isascii():
            word = _CUT.sub("", word)
            if len(word) > 1 and word not in STOP_WORDS:
                found.add(word)
        else:
            found.update(word[i : i + 2] for i in range(len(word) - 1))
    return frozenset(found)
