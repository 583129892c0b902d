"""Questions in Chinese and English: intent, subject, predicates and time."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone

import pytest

from taishi.ingest.instants import DAY, render
from taishi.queries.understand import in_first_person, understand
from tests.support.read_side import NOW, at


def asked(text: str, **more):
    return understand(text, **{"now": NOW, "zone": UTC, **more})


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Which bank am I with?", "current"),
        ("我养的是什么猫", "current"),
        ("我目前的手机号是多少", "current"),
        ("What did I use before?", "history"),
        ("I used to drive which car?", "history"),
        ("我以前在哪家医院上班", "history"),
        ("他原来叫什么", "history"),
        ("这个接口改过几次超时？", "history"),
        ("when did Marta finish the course", "when"),
        ("我什么时候去的牙科", "when"),
        ("列出我的药物", "list"),
        ("list my medications", "list"),
        ("我打算学什么乐器", "plan"),
        ("What will Marta do next?", "plan"),
        ("Did the courier call?", "past"),
        ("我去过冰岛吗", "past"),
    ],
)
def test_intent(text, intent):
    assert asked(text).intent == intent


@pytest.mark.parametrize("text", ["饭前要做什么", "3天之前说的事", "two days"])
def test_words_that_only_look_like_history(text):
    assert asked(text).intent != "history"


def test_now_beats_history_unless_both_are_asked():
    assert asked("历史上不论，我现在住哪").intent == "current"
    assert asked("我以前和现在分别住哪").intent == "history"


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("我住在哪个城市", "lives_in"),
        ("where does Marta live", "lives_in"),
        ("她在哪上班", "works_at"),
        ("what is the release version", "version"),
        ("数据库端口", "config.port"),
        ("is Marta allergic to anything", "allergic_to"),
        ("偏好的主题", "prefers.*"),
    ],
)
def test_predicates(text, predicate):
    question = asked(text)
    assert predicate in question.asks
    assert question.asks_for(predicate.replace(".*", ".editor"))


def test_words_that_say_which_one_is_meant_must_be_met():
    question = asked("我表姐多大")
    assert question.asks["relative"] == ("表姐",)
    assert question.asks["age"] == ("多大",)
    assert question.telling == ("表姐",)
    named = asked("我表姐叫什么").asking
    assert set(named.explained_by(predicate="relative", qualifiers={"relation": "表姐"}, text="")) == {"表姐", "叫什么"}
    assert named.explained_by(predicate="relative", qualifiers={"relation": "表妹"}, text="") == ()
    assert "name" not in named.asks


def test_english_words_are_whole():
    assert "config.port" not in asked("what do I support").asks
    assert "lives_in" not in asked("who is a livestock farmer").asks


def test_whose_words_i_stands_for():
    assert asked("what is my tea?").subject == "user"
    assert asked("what is my tea?", asker="marta").subject == "marta"
    assert asked("what is the tea?", asker="marta").subject == "user"
    assert asked("what is the user's tea?", asker="marta").subject == "marta"
    assert asked("我喝什么茶").first_person
    assert not asked("Marta 喝什么茶").first_person
    assert asked("用户喝什么茶").first_person


def test_a_named_day_is_the_point_that_a_state_is_asked_at():
    question = asked("2026-03-05 那天网关的版本是什么？")
    assert (question.intent, render(question.valid_at + 1)) == ("current", "2026-03-06T00:00:00Z")
    east = asked("2026-03-05 那天网关的版本是什么？", zone=timezone(timedelta(hours=8)))
    assert render(east.valid_at + 1) == "2026-03-05T16:00:00Z"


def test_a_time_that_holds_now_is_now():
    question = asked("今天网关的版本是什么？")
    assert question.valid_at in (NOW, None)


def test_a_long_time_is_a_period_in_which_something_held():
    question = asked("2025年我住在哪里？")
    assert question.period is not None
    assert question.period[1] - question.period[0] == 365 * DAY


def test_the_callers_own_time_counts_more_than_the_words():
    question = asked("2026-03-05 那天网关的版本是什么？", valid_at_given=True)
    assert question.valid_at is None


def test_happenings_in_a_time_are_not_states_at_it():
    question = asked("我上周去了哪家餐厅")
    assert question.valid_at is None
    assert question.span is not None
    assert at("2026-11-23T00:00:00Z") == question.span[0]


@pytest.mark.parametrize(
    "question", ["the user's job", "user's job", "user location", "What does the user do?", "用户的职业"]
)
def test_the_user_is_who_is_asked_of_and_nothing_that_is_asked_for(question: str):
    found = asked(question)
    assert found.first_person
    assert {"the user", "user", "用户"} & set(found.frame)


@pytest.mark.parametrize("question", ["the user interface", "user service port", "用户数是多少"])
def test_users_in_general_are_not_the_user(question: str):
    assert not asked(question).first_person


@pytest.mark.parametrize(
    ("asked", "own"),
    [
        ("When does the user go sailing?", "When do I go sailing?"),
        ("Is the user a nurse?", "am I a nurse?"),
        ("Which town did the user leave?", "Which town did I leave?"),
        ("How does the user's brother travel?", "How does the user's brother travel?"),
        ("When do I go sailing?", "When do I go sailing?"),
    ],
)
def test_a_question_of_the_user_is_put_as_he_would_ask_it(asked, own):
    assert in_first_person(asked) == own
