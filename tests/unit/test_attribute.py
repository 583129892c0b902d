"""What is asked of something."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import pytest

from taishi.queries.attribute import SUMMAND, TELLS, Attribute, attribute, of_person, told_first, untold
from taishi.queries.folding import Ranked
from taishi.queries.rows import EventRow
from taishi.queries.understand import understand


def asked(text: str) -> Attribute | None:
    return attribute(understand(text, now=1_750_000_000_000_000, zone=UTC))


def test_the_thing_and_what_is_asked_of_it():
    assert asked("陶艺市集的地点是什么？") == Attribute("陶艺市集", "地点", person=False)
    assert asked("What is the capacity of the north silo?") == Attribute("north silo", "capacity", person=False)


@pytest.mark.parametrize(
    "text",
    [
        "kiln-7 的版本现在是什么？",
        "我用的牙刷是什么？",
        "我修的那个钟是哪个？",
        "我住在哪里？",
        "我姑姑的脾气是什么样？",
        "Who repaired the silo?",
    ],
)
def test_other_forms_are_not_judged(text):
    assert asked(text) is None


def test_a_longer_attribute_is_another():
    what = Attribute("陶艺市集", "时间", person=False)
    assert what.told_in("陶艺市集的时间是周六。")
    assert not what.told_in("陶艺市集的持续时间是三天。")
    assert what.named_in("陶艺市集的持续时间是三天。")


def heard(text: str, *explained: str) -> Ranked:
    event = EventRow(
        seq=1, event_id="e", type="message", session=None, actor_id=None, role="user", origin="user_direct",
        session_kind="chat", said_at=0, recorded_at=0, extraction="done", closing=None, extractor=None, decision=None,
        erased_at=None, speaker=None, text=text, metadata=None,
    )  # fmt: skip
    return Ranked(
        doc=2, score=1.0, parts={}, status="current", met={}, dense=0.5, explained=explained, event=event, sources=(1,)
    )


@pytest.mark.parametrize(
    ("text", "said", "none"),
    [
        ("我姑妈的电话是多少？", "我姑妈在银行上班。", True),
        ("我姑妈的电话是多少？", "我姑妈：13800000000，有事打给她。", False),
        ("我姑妈的电话是多少？", "我姐姐：13800000000，有事打给她。", True),
        ("我姑妈是做什么工作的？", "我姑妈养了三只鹅。", False),
        ("我姑妈是做什么工作的？", "我姑妈的老家在海边。", True),
        ("How old is my nephew?", "My nephew lives in Turku.", True),
        ("How old is my nephew?", "My nephew turned nine in May.", False),
    ],
)
def test_what_a_relatives_memory_is_about_tells_whether_it_answers(text: str, said: str, none: bool):
    question = understand(text, now=1_750_000_000_000_000, zone=UTC)
    assert of_person(question) is not None
    assert untold(question, [heard(said)]) is none


@pytest.mark.parametrize(
    "text", ["我姑妈叫什么名字？", "那个和我姑妈一起上班的人电话是多少？", "Who married the king's nephew?"]
)
def test_only_a_relatives_own_attribute_is_judged_so(text: str):
    assert of_person(understand(text, now=1_750_000_000_000_000, zone=UTC)) is None


def scored(text: str, score: float, *explained: str) -> Ranked:
    return replace(heard(text, *explained), score=score)


def test_what_tells_the_attribute_stands_before_what_is_merely_near():
    question = understand("陶艺市集的时间是什么？", now=1_750_000_000_000_000, zone=UTC)
    found = told_first([scored("陶艺市集的持续时间是三天。", 0.9), scored("陶艺市集的时间是周六。", 0.88)], question)
    assert [one.event.text for one in found if one.event] == ["陶艺市集的时间是周六。", "陶艺市集的持续时间是三天。"]
    assert found[0].parts[SUMMAND] == TELLS
    assert SUMMAND not in found[1].parts


def test_what_tells_something_else_of_a_person_stands_behind():
    question = understand("What is my aunt's phone number?", now=1_750_000_000_000_000, zone=UTC)
    found = told_first(
        [scored("My aunt works at the bank.", 0.6), scored("Reach my aunt at 555 0142.", 0.55), scored("Rain.", 0.1)],
        question,
    )
    assert found[0].event is not None
    assert found[0].event.text == "Reach my aunt at 555 0142."


def test_a_question_without_an_attribute_changes_nothing():
    question = understand("Who repaired the silo?", now=1_750_000_000_000_000, zone=UTC)
    said = [scored("Ada repaired it.", 0.5), scored("The silo leaks.", 0.4)]
    assert told_first(said, question) == said
