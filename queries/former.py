"""What was asked of as it was before: in one slot, the earlier truth leads the one that took its place.

"Where did I live before?" is answered by the home before the present one, which stands behind it: an earlier truth is
named with its status and its time. Where the question names one of the slot's values ("before Lyon") the one that
ended as that began comes first. And a question for the time of something ("when is my birthday") is not answered with
a value that another one took the place of, unless the question names it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from taishi.ingest.normal import normalise

from .folding import Ranked
from .understand import Question

NEAR: Final = 0.8
"""Of a denial's score, the least of what is so that stands before it: it speaks of the same thing as much."""
_DENIED_ASKED: Final = re.compile(
    r"[不没忌戒避]|讨厌|厌恶|反感|过敏"
    r"|\b(?:\w+n[’']t|cannot|not|never|no longer|hates?|dislikes?|avoid\w*|allerg\w+|quit|stop(?:ped)?)\b"
)
"""Words of a question that ask for what is not so."""
_OVER: Final = frozenset({"superseded", "ended"})


def former_first(ranked: Sequence[Ranked], question: Question) -> list[Ranked]:
    """The same memories: of those that answer for what is asked, what is over first, the latest of it first; all else
    stays where it is. Of events from whose words such a claim was drawn nothing is said: they are folded into it."""
    places = [n for n, one in enumerate(ranked) if _answers(one)]
    if not any(ranked[n].status in _OVER for n in places):
        return list(ranked)
    named = [ranked[n] for n in places if _is_named(ranked[n], question)]
    pivot = min((one.verdict.valid_from for one in named if one.verdict is not None), default=None)
    order = sorted(places, key=lambda n: (*_rank(ranked[n], pivot, ranked[n] in named), n))
    return _placed(ranked, places, order)


def holding_first(ranked: Sequence[Ranked], question: Question) -> list[Ranked]:
    """The same memories: of one slot, what holds before what it took the place of, unless that is named."""
    kept = list(ranked)
    for slot in {one.claim.slot for one in ranked if one.claim is not None and _answers(one)}:
        places = [n for n, one in enumerate(kept) if _answers(one) and one.claim is not None and one.claim.slot == slot]
        if len(places) > 1 and not any(_is_named(kept[n], question) for n in places):
            order = sorted(places, key=lambda n: (kept[n].status in _OVER, n))
            kept = _placed(kept, places, order)
    return kept


def denials_last(ranked: Sequence[Ranked], question: Question) -> list[Ranked]:
    """The same memories: where it is asked what holds, and not whether something does, what is denied stands behind
    what is so and bears on it about as much. What one no longer likes is no answer to what one likes."""
    if question.polar or _DENIED_ASKED.search(question.text) is not None:
        return list(ranked)
    places = [n for n, one in enumerate(ranked) if _answers(one)]
    order = [n for n in places if not _denies(ranked[n])]
    for n in places:
        if _denies(ranked[n]):
            ahead = (at for at, one in enumerate(order) if ranked[one].score < NEAR * ranked[n].score)
            order.insert(next(ahead, len(order)), n)
    return _placed(ranked, places, order)


def _denies(one: Ranked) -> bool:
    return one.claim is not None and bool(one.claim.negated)


def _placed(ranked: Sequence[Ranked], places: Sequence[int], order: Sequence[int]) -> list[Ranked]:
    kept = list(ranked)
    for place, source in zip(places, order, strict=True):
        kept[place] = ranked[source]
    return kept


def _answers(one: Ranked) -> bool:
    return one.slot and one.claim is not None and one.verdict is not None


def _is_named(one: Ranked, question: Question) -> bool:
    value = "" if one.claim is None else normalise(one.claim.value or "")
    return bool(value) and value in question.text


def _rank(one: Ranked, pivot: int | None, named: bool) -> tuple[int, int]:
    """What is over by the `pivot`, the latest first; then what the question names; then the rest."""
    assert one.verdict is not None
    over = one.status in _OVER
    if named:
        return 1, 0
    if pivot is None:
        return (0, -one.verdict.valid_to) if over else (2, 0)
    return (0, -one.verdict.valid_to) if over and one.verdict.valid_to <= pivot else (2, 0)
