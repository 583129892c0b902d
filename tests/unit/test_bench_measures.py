"""Measures of recall against values worked out by hand, and the intervals around them."""

from __future__ import annotations

import dataclasses

import pytest

from taishi.deploy.bench.bootstrap import auroc_interval, interval
from taishi.deploy.bench.measures import (
    MEASURES,
    Outcome,
    auroc,
    hard_no,
    recall_at,
    reciprocal_rank,
    separated,
    stale_first,
    values_of,
)
from taishi.deploy.bench.report import compared


def outcome(*ranked: str, gold: str = "", stale: str = "", question: str = "q", **fields: object) -> Outcome:
    """Each item is a string of one-letter event ids."""
    plain = Outcome(
        question=question,
        type="t",
        answerable=True,
        gold=frozenset(gold),
        stale=frozenset(stale),
        ranked=tuple(map(frozenset, ranked)),
        verdict="supported",
        top_score=1.0,
        strength=0.5,
        tokens=10,
        milliseconds=4.0,
    )
    return dataclasses.replace(plain, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("k", "share"),
    [(1, 0.0), (2, 0.5), (3, 0.5), (4, 1.0), (20, 1.0)],
)
def test_recall_is_the_share_of_gold_behind_the_first_items(k: int, share: float) -> None:
    assert recall_at(outcome("x", "a", "y", "zb", gold="ab"), k) == share


def test_an_item_stands_for_all_its_evidence() -> None:
    assert recall_at(outcome("abc", gold="ab"), 1) == 1.0


def test_gold_that_comes_twice_counts_once() -> None:
    assert recall_at(outcome("a", "a", gold="ab"), 5) == 0.5


def test_no_answer_recalls_nothing() -> None:
    empty = outcome(gold="a")
    assert (recall_at(empty, 5), reciprocal_rank(empty)) == (0.0, 0.0)


def test_the_reciprocal_rank_is_of_the_first_gold() -> None:
    assert reciprocal_rank(outcome("x", "y", "b", "a", gold="ab")) == pytest.approx(1 / 3)


def test_questions_without_gold_have_no_rank() -> None:
    assert recall_at(outcome("x"), 5) is None
    assert reciprocal_rank(outcome("x")) is None


@pytest.mark.parametrize(
    ("ranked", "first"),
    [
        (("s", "g"), 1.0),
        (("g", "s"), 0.0),
        (("sg",), 0.0),  # the same item: a memory that rests on both
        (("x", "s"), 1.0),  # stale is there, gold is not
        (("x", "g"), 0.0),
        (("x",), 0.0),
        ((), 0.0),
    ],
)
def test_stale_first(ranked: tuple[str, ...], first: float) -> None:
    assert stale_first(outcome(*ranked, gold="g", stale="s")) == first


def test_stale_first_asks_for_both_labels() -> None:
    assert stale_first(outcome("s", stale="s")) is None
    assert stale_first(outcome("g", gold="g")) is None


def test_a_hard_no_counts_on_the_side_it_is_asked_of() -> None:
    refused = outcome(verdict="no_evidence", answerable=False)
    unsure = outcome(verdict="low_confidence", answerable=False)
    assert hard_no(refused, answerable=False) == 1.0
    assert hard_no(unsure, answerable=False) == 0.0
    assert hard_no(refused, answerable=True) is None


def test_auroc_by_hand() -> None:
    # of 6 pairs the positive is above in 3, equal in 1
    assert auroc([0.9, 0.2, 0.3], [0.3, 0.25]) == pytest.approx((2 + 0 + 1.5) / 6)
    assert auroc([1.0], [2.0]) == 0.0
    assert auroc([1.0, 1.0], [1.0]) == 0.5
    assert auroc([], [1.0]) is None


def test_no_score_stands_below_every_score() -> None:
    outcomes = [outcome(top_score=-0.2), outcome(answerable=False, top_score=None)]
    assert auroc(*separated(lambda o: o.top_score, outcomes)) == 1.0


def test_values_are_by_question_and_only_where_they_apply() -> None:
    outcomes = [outcome("a", gold="a", question="q1"), outcome("a", question="q2")]
    assert values_of(MEASURES["mrr"], outcomes) == {"q1": 1.0}
    assert values_of(MEASURES["tokens"], outcomes) == {"q1": 10.0, "q2": 10.0}


def test_an_interval_holds_its_value_and_comes_out_the_same_again() -> None:
    values = [0.0] * 30 + [1.0] * 70
    found = interval(values)
    assert found is not None
    assert (found.value, found.n) == (0.7, 100)
    # the normal approximation: .7 ± 1.96 · √(.7 · .3 / 100)
    assert found.low == pytest.approx(0.61, abs=0.03)
    assert found.high == pytest.approx(0.79, abs=0.03)
    assert interval(values) == found


def test_equal_values_leave_no_doubt() -> None:
    found = interval([0.25] * 9)
    assert found is not None
    assert (found.low, found.value, found.high) == (0.25, 0.25, 0.25)
    assert interval([]) is None


def test_percentiles_are_of_the_questions() -> None:
    times = [float(n) for n in range(1, 102)]
    middle, tail = interval(times, "p50"), interval(times, "p95")
    assert middle is not None
    assert tail is not None
    assert (middle.value, tail.value) == (51.0, 96.0)
    assert middle.low < 51.0 < middle.high


def test_many_values_are_drawn_in_pieces() -> None:
    found = interval([1.0, 0.0] * 4_000)
    assert found is not None
    assert found.low == pytest.approx(0.489, abs=0.005)


def test_the_interval_of_a_separation() -> None:
    found = auroc_interval([0.9] * 20, [0.1] * 20)
    assert found is not None
    assert (found.low, found.value, found.high, found.n) == (1.0, 1.0, 1.0, 40)
    assert auroc_interval([0.9], []) is None


def test_runs_are_compared_question_by_question() -> None:
    before = [outcome("x", "a", gold="a", question="q1"), outcome("x", gold="a", question="gone")]
    after = [outcome("a", gold="a", question="q1"), outcome("x", gold="a", question="new")]
    changes = compared(before, after)
    assert changes["mrr"].value == 0.5
    assert changes["mrr"].n == 1
    assert changes["r@5"].value == 0.0
