"""Requests to recount how something went: their topic, and answers that are spread over the sessions."""

from __future__ import annotations

import pytest

from taishi.queries.folding import Ranked
from taishi.queries.recounting import MOST, SAME_SESSION, SUMMAND, recounted, spread
from tests.support.history import History
from tests.support.read_side import ReadSide


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Can you list the order in which I brought up aspects of my garden across our chats?", "my garden ?"),
        ("Please give me a short summary of how the barn has come along over time.", "how the barn has come along"),
        ("Could you summarise my rehearsals across our conversations? Mention only four items.", "my rehearsals ?"),
        ("How has my knee rehabilitation progressed over time?", "How has my knee rehabilitation progressed ?"),
        ("请总结一下我们所有对话里我提到的温室改造", "温室改造"),
    ],
)  # fmt: skip
def test_what_is_left_without_the_words_for_telling_is_the_topic(text: str, topic: str) -> None:
    assert recounted(text) == topic


@pytest.mark.parametrize(
    "text",
    [
        "Where is the summary that I wrote?",
        "What did I order over the phone?",
        "年终总结大会的地点是什么？",
        "Thanks for the recap. What is next?",
        "Summarize.",
        "Can you list my projects?",
    ],
)
def test_other_questions_recount_nothing(text: str) -> None:
    assert recounted(text) is None


def heard(seq: int, score: float) -> Ranked:
    return Ranked(doc=2 * seq, score=score, parts={}, status="current", met={}, dense=0.1, sources=(seq,))


def test_a_second_memory_of_a_session_stands_behind_the_first_of_another() -> None:
    ranked = [heard(1, 0.50), heard(2, 0.49), heard(3, 0.45), heard(4, 0.2)]
    told = spread(ranked, {1: "a", 2: "a", 3: "b"}, 10)
    assert [one.sources[0] for one in told] == [1, 3, 2, 4]
    assert told[2].parts == {SUMMAND: -SAME_SESSION}
    assert told[3] is ranked[3]


def test_what_is_lost_for_a_session_is_bounded() -> None:
    ranked = [heard(n, 1.0) for n in range(1, 10)]
    told = spread(ranked, dict.fromkeys(range(1, 10), "a"), 9)
    assert min(one.score for one in told) == pytest.approx(1.0 - MOST * SAME_SESSION)


def test_an_account_is_told_of_its_topic_and_of_what_is_over_too(tmp_path) -> None:
    h = History()
    h.extracted(
        h.say("The order of the tiles came late, and I brought up the delay in our talks.", session="a"),
        h.say("My greenhouse has its foundation.", session="a"),
        h.say("The greenhouse glass is in.", session="b"),
    )
    question = "Can you list the order in which I brought up aspects of my greenhouse throughout our talks?"
    reply = ReadSide(tmp_path, h.events).ask(question, explain=True)
    told = {item["text"] for item in reply["items"]}
    assert told == {"My greenhouse has its foundation.", "The greenhouse glass is in."}
    assert (reply["explain"]["intent"], reply["explain"]["why"]) == ("history", "recounts")
