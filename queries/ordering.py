"""The order of an answer, where the question says which of several memories is to come first, whatever they score."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from .asking import RELATIVE
from .attribute import SUMMAND as ATTRIBUTE
from .attribute import told_first
from .folding import Ranked
from .former import denials_last, former_first, holding_first
from .newness import asks_newest, newest_first
from .understand import Question


def in_order(
    entries: Sequence[Ranked], question: Question, *, advice: bool, ablated: Collection[str] = ()
) -> list[Ranked]:
    """`entries`: best first. `advice`: the question asks for it, and for no fact."""
    kept = list(entries) if ATTRIBUTE in ablated else told_first(entries, question)
    if question.asking.kin:
        kept = names_give_way(kept)
    if question.intent == "history":
        kept = former_first(kept, question)
    elif question.intent == "when":
        kept = holding_first(kept, question)
    elif question.intent in ("current", "list"):
        kept = denials_last(kept, question)
    if not advice and asks_newest(question):
        kept = newest_first(kept, question=question.text)
    return kept


def names_give_way(entries: Sequence[Ranked]) -> list[Ranked]:
    """Who a relative is stands behind what is asked of him, where that is known: the sentence that named him may tell
    what has long changed."""
    told = (n for n, e in enumerate(entries) if e.claim is not None and e.slot and e.holds and not _names(e))
    first = next(told, 0)
    ahead = entries[:first]
    names = [replace(e, score=min(e.score, entries[first].score)) for e in ahead if _names(e)]
    others = [e for e in ahead if not _names(e)]
    return [*others, *entries[first : first + 1], *names, *entries[first + 1 :]]


def _names(entry: Ranked) -> bool:
    """Whether it is a claim of who a relative is."""
    return entry.claim is not None and entry.claim.predicate == RELATIVE
