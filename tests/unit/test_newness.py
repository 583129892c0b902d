"""Later words that give a new value lead those that give the old one."""

from __future__ import annotations

from datetime import UTC

import pytest

from taishi.projections.schema import document_of_event
from taishi.queries.folding import Ranked
from taishi.queries.newness import asks_newest, newest_first
from taishi.queries.rows import EventRow
from taishi.queries.understand import understand


def said(seq: int, text: str, score: float, *, role: str = "user") -> Ranked:
    event = EventRow(
        seq, f"e{seq}", "message", None, None, role, role, "chat", seq, seq, "none", None, None, None, None, None,
        text, None,
    )  # fmt: skip
    return Ranked(
        doc=document_of_event(seq),
        score=score,
        parts={},
        status="current",
        met={},
        dense=0.0,
        event=event,
        sources=(seq,),
    )


def order(question: str, *texts: str, scores: tuple[float, ...] = (0.9, 0.6, 0.5)) -> list[int]:
    """`texts` in the order in which they were said; the first ranks first."""
    ranked = [said(n + 1, text, score) for n, (text, score) in enumerate(zip(texts, scores, strict=False))]
    return [one.event.seq for one in newest_first(ranked, question=question) if one.event is not None]


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        ("how many laps do i swim daily?", "I swim 20 laps daily", "my daily swim has grown to 32 laps"),
        ("what is the rent of my studio?", "the studio's rent is $900", "they raised my studio rent to $950, sadly"),
        ("when is the regatta rehearsal?", "the regatta rehearsal is on May 3", "regatta rehearsal moved to May 9"),
        ("船队每天训练多少公里?", "船队每天训练12公里", "船队每天的训练增加到18公里"),
        ("舞蹈课的学费是多少?", "舞蹈课学费是800元", "舞蹈课的学费调整成950元了"),
    ],
)
def test_the_later_value_leads(question, old, new):
    assert order(question, old, new) == [2, 1]


@pytest.mark.parametrize(
    ("question", "old", "other"),
    [
        ("how many laps do i swim daily?", "I swim 20 laps daily", "I swim laps daily, 32 laps once"),
        ("how many laps do i swim daily?", "I swim 20 laps daily", "my swim is now at 6:30 am daily"),
        ("how many laps do i swim daily?", "I swim 20 laps daily", "my new car has done 32 laps"),
        ("how many laps do i swim daily?", "I swim 20 laps daily", "my daily swim is still 20 laps now"),
    ],
)
def test_nothing_moves_without_a_change_to_another_value_of_what_is_asked(question, old, other):
    assert order(question, old, other) == [1, 2]


def test_the_earlier_one_says_what_took_its_place_and_all_else_stays():
    ranked = [
        said(1, "I swim 20 laps daily", 0.9),
        said(3, "swimming is fun", 0.7),
        said(2, "my daily swim has grown to 32 laps", 0.6),
    ]
    found = newest_first(ranked, question="how many laps do i swim daily?")
    assert [one.sources for one in found] == [(2,), (1,), (3,)]
    assert [one.superseded_by for one in found] == [None, "e2", None]
    assert found[0].score > found[1].score
    assert found[0].parts["newer_value"] == pytest.approx(found[0].score - 0.6)


def test_an_assistant_and_a_far_weaker_match_replace_nothing():
    old = said(1, "I swim 20 laps daily", 0.9)
    new = "your daily swim has grown to 32 laps"
    for other in (said(2, new, 0.6, role="assistant"), said(2, new, 0.2)):
        assert newest_first([old, other], question="how many laps do i swim daily?") == [old, other]


def test_what_was_said_before_does_not_lead():
    ranked = [said(2, "I swim 20 laps daily", 0.9), said(1, "my daily swim has grown to 32 laps", 0.6)]
    assert newest_first(ranked, question="how many laps do i swim daily?") == ranked


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("How many laps do I swim?", True),
        ("What is my rent?", True),
        ("Which boats do I own?", False),
        ("What was my rent before?", False),
        ("我一共有几条船？", True),
        ("我以前的学费是多少？", False),
    ],
)
def test_only_what_is_asked_of_the_present(text, asks):
    assert asks_newest(understand(text, now=1_900_000_000_000_000, zone=UTC)) is asks
