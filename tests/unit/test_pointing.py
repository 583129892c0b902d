"""Pointing words: what the session spoke of last stands for them, by rule, and the reply says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from taishi.queries.pointing import pointing
from tests.support.history import History
from tests.support.read_side import ReadSide, analyzer

POINTS = [
    ("那个接口的超时是多少？", "那个接口", "接口"),
    ("刚才说的那家餐馆在哪里", "刚才说的那家餐馆", "餐馆"),
    ("这份合同什么时候到期", "这份合同", "合同"),
    ("该项目由谁负责", "该项目", "项目"),
    ("那个会议改到几点", "那个会议", "会议"),
    ("上一个版本有什么问题？", "上一个版本", "版本"),
    ("What did that restaurant cost?", "that restaurant cost", "restaurant"),
    ("When will my last order arrive?", "my last order arrive", "order"),
    ("is this printer still broken", "this printer", "printer"),
]
PLAIN = [
    "那天我在做什么？", "这个月的预算是多少", "我什么时候该吃药？", "那个时候我住哪", "我喜欢什么", "那家在哪",
    "What did I do that day?", "Where was I last week?", "the book that I read", "is that so", "this morning's call",
    "Which restaurant did I like?",
]  # fmt: skip


@pytest.mark.parametrize(("question", "words", "noun"), POINTS)
def test_what_points(question: str, words: str, noun: str) -> None:
    found = pointing(question, analyzer())
    assert found is not None
    assert noun in found.nouns
    assert found.words == words


@pytest.mark.parametrize("question", PLAIN)
def test_what_does_not(question: str) -> None:
    assert pointing(question, analyzer()) is None


STANDS_FOR = [
    (["我们把 /v3/invoices 接口改成了分页。"], "那个接口的超时是多少？", "/v3/invoices"),
    (["昨晚去了一家叫竹里馆的餐馆，菜很咸。"], "那家餐馆怎么样？", "竹里馆"),
    (["新项目的名字定了，项目叫青鸾。"], "这个项目谁负责？", "青鸾"),
    (["《漫长的午后》这本小说我看完了。"], "那本小说写的是什么？", "漫长的午后"),
    (["My order A-20417 was shipped on Monday."], "When will my last order arrive?", "A-20417"),
    (["We ate at Osteria Brune, a small restaurant by the canal."], "What did that restaurant cost?", "Osteria Brune"),
    (["I bought a printer called Inkwell Nine."], "Is that printer still under warranty?", "Inkwell Nine"),
    (["Order #5521 was late.", "Order #5530 came on time."], "What was in my last order?", "#5530"),
]


def side(folder: Path, said: list[str], question: str, *, session: str = "s") -> ReadSide:
    h = History()
    for text in said:
        h.say(text, session=session)
    h.say(question, session="s")  # the question itself may have been told
    return ReadSide(folder, h.events)


@pytest.mark.parametrize(("said", "question", "name"), STANDS_FOR)
def test_what_it_stands_for(tmp_path: Path, said: list[str], question: str, name: str) -> None:
    reply = side(tmp_path, said, question).ask(question, session="s", explain=True)
    told = reply["explain"]["pointing"]
    assert told["stands_for"] == name
    assert told["position"] == f"p0:{len(said)}"
    assert all(item["why"]["pointing"] == told for item in reply["items"])


@pytest.mark.parametrize("session", [None, "another"])
def test_only_in_the_asking_session(tmp_path: Path, session: str | None) -> None:
    said, question, _ = STANDS_FOR[0]
    reply = side(tmp_path, said, question).ask(question, session=session, explain=True)
    assert "pointing" not in reply["explain"]


def test_nothing_that_was_named_leaves_the_question_as_it_is(tmp_path: Path) -> None:
    here = side(tmp_path, ["The weather was fine."], "q")
    reply = here.ask("What did that restaurant cost?", session="s", explain=True)
    assert "pointing" not in reply["explain"]


def test_what_is_meant_comes_first(tmp_path: Path) -> None:
    h = History()
    for name, seconds in (("/v1/users", 20), ("/v3/invoices", 45), ("/v2/stock", 30), ("/v4/audit", 60)):
        h.say(f"{name} 接口的超时是 {seconds} 秒。", session="old")
    h.say("今天要改 /v3/invoices 接口。", session="s")
    question = "那个接口的超时是多少？"
    here = ReadSide(tmp_path, h.events)
    assert "45" in here.ask(question, session="s")["items"][0]["text"]
    assert "45" not in here.ask(question)["items"][0]["text"]


def test_what_was_forgotten_or_not_yet_read_points_nowhere(tmp_path: Path) -> None:
    h = History()
    gone = h.say("We ate at Osteria Brune, a small restaurant by the canal.", session="s")
    h.forget(gone)
    later = h.say("The other restaurant was Ponte Vecchio House.", session="s")
    here = ReadSide(tmp_path, h.events)
    question = "What did that restaurant cost?"
    told = here.ask(question, session="s", explain=True)["explain"]["pointing"]
    assert told["position"] == f"p0:{later.position.seq}"
    assert "pointing" not in here.ask(question, session="s", explain=True, position=2).get("explain", {})


def test_words_of_the_outside_do_not_say_what_is_meant(tmp_path: Path) -> None:
    h = History()
    h.say("Restaurant Evil Twin wants your card.", session="s", origin="external")
    reply = ReadSide(tmp_path, h.events).ask("What did that restaurant cost?", session="s", explain=True)
    assert "pointing" not in reply["explain"]
