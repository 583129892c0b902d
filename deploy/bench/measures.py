"""What an answer is worth, by the labels alone. Pure: no clock, no file, no randomness.

An item of an answer stands for all the events it rests on. Measures that do not apply to a question (recall where no
event is gold) leave it out: None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Reduction = Literal["mean", "p50", "p95"]
SHOWN: Final = 20
"""Items that are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One question and what came. `ranked` holds the data set's event ids behind each item, best first; `top_score`
    and `strength` are None where there was none; `milliseconds` is as the caller saw it."""

    question: str
    type: str
    answerable: bool
    gold: frozenset[str]
    stale: frozenset[str]
    ranked: tuple[frozenset[str], ...]
    verdict: str
    top_score: float | None
    strength: float | None
    tokens: int
    milliseconds: float


def recall_at(outcome: Outcome, k: int) -> float | None:
    """The share of gold in the first `k` items."""
    if not outcome.gold:
        return None
    return len(outcome.gold & frozenset().union(*outcome.ranked[:k])) / len(outcome.gold)


def reciprocal_rank(outcome: Outcome) -> float | None:
    """One over the rank of the first item with gold; 0 where none has."""
    if not outcome.gold:
        return None
    rank = first_rank(outcome.ranked, outcome.gold)
    return 0.0 if rank is None else 1.0 / rank


def stale_first(outcome: Outcome) -> float | None:
    """1 where replaced evidence stands before all gold (or there is no gold in the answer), else 0."""
    if not outcome.gold or not outcome.stale:
        return None
    stale = first_rank(outcome.ranked, outcome.stale)
    gold = first_rank(outcome.ranked, outcome.gold)
    return float(stale is not None and (gold is None or stale < gold))


def first_rank(ranked: Sequence[frozenset[str]], wanted: frozenset[str]) -> int | None:
    return next((rank for rank, those in enumerate(ranked, 1) if those & wanted), None)


def hard_no(outcome: Outcome, *, answerable: bool) -> float | None:
    """1 for a `no_evidence`; of questions that are, or are not, answerable."""
    return float(outcome.verdict == "no_evidence") if outcome.answerable is answerable else None


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """How often a positive stands above a negative, equals counting half. None where there are none of either."""
    if not positives or not negatives:
        return None
    ordered = sorted([(value, 0) for value in negatives] + [(value, 1) for value in positives])
    above = below = 0.0
    at = 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end][0] == ordered[at][0]:
            end += 1
        equal_positives = sum(kind for _, kind in ordered[at:end])
        equal_negatives = end - at - equal_positives
        above += equal_positives * (below + equal_negatives / 2)
        below += equal_negatives
        at = end
    return above / (len(positives) * len(negatives))


@dataclass(frozen=True, slots=True)
class Measure:
    """A value a question, and how the values of a set become one."""

    of: Callable[[Outcome], float | None]
    reduction: Reduction = "mean"


MEASURES: Final[Mapping[str, Measure]] = {
    "r@5": Measure(lambda o: recall_at(o, 5)),
    "r@10": Measure(lambda o: recall_at(o, 10)),
    "r@20": Measure(lambda o: recall_at(o, 20)),
    "mrr": Measure(reciprocal_rank),
    "stale_first": Measure(stale_first),
    "no_on_unanswerable": Measure(lambda o: hard_no(o, answerable=False)),
    "no_on_answerable": Measure(lambda o: hard_no(o, answerable=True)),
    "tokens": Measure(lambda o: float(o.tokens)),
    "ms_p50": Measure(lambda o: o.milliseconds, "p50"),
    "ms_p95": Measure(lambda o: o.milliseconds, "p95"),
}

SEPARATIONS: Final[Mapping[str, Callable[[Outcome], float | None]]] = {
    "auroc": lambda o: o.top_score,
    "auroc_strength": lambda o: o.strength,
}
"""Values that should be higher on answerable questions. None stands below every value."""


def values_of(measure: Measure, outcomes: Sequence[Outcome]) -> dict[str, float]:
    """By question, where the measure applies."""
    found = {outcome.question: measure.of(outcome) for outcome in outcomes}
    return {question: value for question, value in found.items() if value is not None}


def separated(of: Callable[[Outcome], float | None], outcomes: Sequence[Outcome]) -> tuple[list[float], list[float]]:
    """Values of answerable and of unanswerable questions."""
    sides: tuple[list[float], list[float]] = ([], [])
    for outcome in outcomes:
        value = of(outcome)
        sides[0 if outcome.answerable else 1].append(float("-inf") if value is None else value)
    return sides
