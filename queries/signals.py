"""The signals of answerability, read off what was found for one question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .answerability import Signals, Vectors
from .channels import Found
from .fence import Fence
from .folding import Ranked
from .understand import Question


def signals_of(
    ranked: Sequence[Ranked], question: Question, found: Found, fence: Fence, *, heard: bool
) -> Signals:
    """`ranked` are the best memories, `heard` tells whether the vectors answered. What may support nothing may well be
    known, so that it does not matter here what is barred; and of another one's relatives (`her husband`, `the bank's
    manager`) it is told in other words than of one's own."""
    vectors: Vectors = "none" if not heard else "other" if found.nearest is None else "calibrated"
    if not question.first_person and question.asking.meant:
        question = replace(question, asking=replace(question.asking, meant=()))
    open_to_all = [replace(one, barred=False) if one.barred else one for one in ranked]
    said = [one.evidence(found.lexical, question, vectors=heard) for one in open_to_all]
    best = max(said, key=lambda e: e.strength, default=None)
    return Signals(
        vectors=vectors,
        covered=0.0 if best is None else best.covered,
        missing=min((e.missing for e in said), default=1.0),
        nearest=found.nearest or 0.0,
        lift=best.dense if best is not None and heard else 0.0,
        named=float(bool(fence.names)),
    )
