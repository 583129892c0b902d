"""A system's present state: refused where all that speaks of it was so once, planned, required, quoted or another."""

from __future__ import annotations

import pytest

from tests.support.history import History
from tests.support.read_side import ReadSide, at

JAN, MAY = at("2026-01-01T00:00:00Z"), at("2026-05-01T00:00:00Z")


def others(h: History) -> History:
    """Systems whose version is known."""
    for name, value in (("kiln-1", "v3.0"), ("kiln-2", "v3.1"), ("forge-7", "v1.4")):
        h.claim(name, "version", value, said=h.say(f"{name} 当前版本是 {value}"), valid_from=JAN)
    return h


@pytest.mark.parametrize("question", ["kiln-7 的版本现在是什么？", "What version is kiln-7 on now?"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("手册写道：kiln-7 的版本是 v2.0", "quoted"),
        ("The manual says the version of kiln-7 is v2.0.", "quoted"),
        ("kiln-7 的版本可能是 v2.0", "hypothetical"),
        ("要求 kiln-7 的版本必须保持 v2.0", "required"),
        ("The version of kiln-7 must stay at v2.0.", "required"),
        ("请把 kiln-7 的版本升到 v2.0", "request"),
        ("这段说明不得改动 kiln-7 的当前版本", "nothing_read"),
        ("The version of kiln-7 is written on its door.", "nothing_read"),
    ],
)
def test_words_that_state_no_version_are_no_answer(tmp_path, question, text, reason):
    h = others(History())
    said = h.say(text)
    h.extracted(said, decisions={said.event_id: reason})
    reply = ReadSide(tmp_path, h.events).ask(question)
    assert (reply["answerability"], reply["items"]) == ("no_evidence", [])


def test_what_was_so_once_or_is_planned_is_no_answer_for_now(tmp_path):
    h = others(History())
    then, plan = h.say("2023 年时 kiln-7 当前版本是 v0.4"), h.say("下周把 kiln-7 升级到 v2.0")
    h.claim("kiln-7", "version", "v0.4", said=then, valid_from=JAN, valid_to=MAY)
    h.claim("user", "plans", "把 kiln-7 升级到 v2.0", said=plan, valid_from=JAN, modality="plan")
    h.extracted(then, plan)
    side = ReadSide(tmp_path, h.events)
    assert side.ask("kiln-7 的版本现在是什么？")["answerability"] == "no_evidence"
    was = side.ask("kiln-7 的版本是什么？", valid_at=JAN)
    assert (was["answerability"], was["items"][0]["value"]) == ("supported", "v0.4")


def test_what_was_taken_back_is_told(tmp_path):
    h = others(History())
    first, gone = h.say("kiln-7 当前版本是 v0.4"), h.say("kiln-7 的版本号已作废")
    h.claim("kiln-7", "version", "v0.4", said=first, valid_from=JAN)
    h.claim("kiln-7", "version", "无", said=gone, valid_from=JAN + 1)
    reply = ReadSide(tmp_path, h.events).ask("kiln-7 的版本现在是什么？")
    assert [(i["value"], i["text"]) for i in reply["items"]] == [("无", "kiln-7 的版本号已作废")]


@pytest.mark.parametrize("text", ["kiln-7 那台跑的是 2.3 那一版", "kiln-7: still the 2.3 build", "kiln-7 停在二点三版"])
def test_words_that_may_state_one_are_not_refused(tmp_path, text):
    h = others(History())
    said = h.say(text)
    h.extracted(said, decisions={said.event_id: "nothing_read"})
    reply = ReadSide(tmp_path, h.events).ask("kiln-7 的版本现在是什么？")
    assert reply["answerability"] != "no_evidence"
    assert reply["items"][0]["text"] == text


def test_a_named_version_needs_no_digit(tmp_path):
    h = History()
    h.claim("laptop", "version", "Sequoia", said=h.say("laptop 的版本是 Sequoia"), valid_from=JAN)
    assert ReadSide(tmp_path, h.events).ask("laptop 的版本现在是什么？")["answerability"] == "supported"
