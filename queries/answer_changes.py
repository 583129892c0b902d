"""What two generations answer to the same questions.

Questions are not stored. They are given, or made from claims: what was shown most lately, and what changed, each asked
for by its own words without its value. Both sides answer without vectors, so that only the claims make a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from taishi.projections.analysis import Analyzer

from .differences import Change
from .reading import ReadModel, ReadModels
from .recall import Recall
from .request import RecallRequest

_SHOWN: Final = 5
"""Items of an answer that are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    namespace: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """`answerability` and the texts of the first items, best first."""

    answerability: str
    items: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerChange:
    question: Question
    before: Answered
    after: Answered

    @property
    def same(self) -> bool:
        return self.before == self.after


def ask(
    questions: Iterable[Question],
    before: ReadModels,
    after: ReadModels,
    *,
    analyzer: Callable[[], Analyzer],
    now: int,
) -> list[AnswerChange]:
    sides = [Recall(models, analyzer=analyzer, now=lambda: now) for models in (before, after)]
    return [AnswerChange(question=q, before=_answer(sides[0], q), after=_answer(sides[1], q)) for q in questions]


def _answer(side: Recall, question: Question) -> Answered:
    reply: dict[str, Any] = side.answer(RecallRequest(namespace=question.namespace, query=question.text))
    texts = [item["text"] or "" for item in reply["items"][:_SHOWN]]
    return Answered(answerability=reply["answerability"], items=texts)


def sample(models: ReadModels, changes: Iterable[Change], *, most: int) -> list[Question]:
    """Up to `most`: half of what was shown most, half of what changed."""
    shown = list(_of_shown(models, most // 2))
    changed = (
        _about(c.namespace, said.text, said.value)
        for c in changes
        if (said := c.before or c.after) is not None and said.text
    )
    return list(dict.fromkeys([*shown, *(q for q in changed if q is not None)]))[:most]


def _of_shown(models: ReadModels, most: int) -> Iterable[Question]:
    counted: Counter[tuple[int, int, str]] = Counter()
    for partition in range(models.partitions):
        model = models.at(partition)
        for ns, items in model.rows("SELECT ns, items FROM exposures"):
            counted.update((partition, ns, memory) for memory in orjson.loads(items))
    for (partition, ns, memory), _ in counted.most_common(most):
        question = _asking_for(models.at(partition), ns, memory)
        if question is not None:
            yield question


def _asking_for(model: ReadModel, ns: int, memory: str) -> Question | None:
    row = model.one(
        "SELECT n.name, c.text, c.value FROM claims c JOIN namespaces n ON n.ns = c.ns"
        " WHERE c.claim_id = ? AND c.ns = ? AND c.text IS NOT NULL", memory, ns,
    )  # fmt: skip
    return None if row is None else _about(*row)


def _about(namespace: str, text: str | None, value: str | None) -> Question | None:
    asked = " ".join((text or "").replace(value or "\0", " ").split()).rstrip(".,;:!?。，；：！？ ")
    return Question(namespace=namespace, text=f"{asked}?") if asked else None
