"""Admission: what is kept and not read, with its reason."""

from __future__ import annotations

import pytest

from taishi.ingest import admission
from tests.support.rules_cases import extract, read, said


@pytest.mark.parametrize(
    ("reason", "texts"),
    [
        (
            admission.SMALL_TALK,
            [
                "早呀",
                "好的，谢谢",
                "嗯嗯嗯",
                "嘿嘿嘿嘿",
                "ok, great!",
                "haha",
                "Thanks a lot!",
                "🎉",
                "good evening",
                "辛苦了，晚安",
                "收到，没问题",
            ],
        ),
        (
            admission.STATUS_NOISE,
            [
                "任务已完成",
                "正在加载……",
                "构建失败",
                "progress: 70%",
                "[WARN] queue is long",
                "ERROR: disk full",
                "502 Bad Gateway",
                "Deployment finished successfully",
                "ValueError: bad input",
            ],
        ),
        (admission.BARE_NUMBER, ["7", "19.5", "1,000,000", "88%", "2026-01-02"]),
        (
            admission.ECHO,
            [
                "相关记忆：用户在学法语。",
                "Relevant memories: the user lives in Bonn.",
                "根据记忆，用户喜欢绿茶。",
                "I remember that you like tea.",
            ],
        ),
        (
            admission.PROMPT,
            [
                "You are a helpful assistant that answers briefly.",
                "你是一名专业的翻译，请逐句翻译。",
                "System: answer in French",
                "### Instruction\nsay hi",
            ],
        ),
        (admission.SECRET, ["[redacted:password]", "[redacted:token] [redacted:api_key]"]),
    ],
)
def test_reasons(reason: str, texts: list[str]) -> None:
    assert {text: admission.refusal(text) for text in texts} == dict.fromkeys(texts, reason)


@pytest.mark.parametrize(
    "text",
    [
        "我喜欢绿茶",
        "好的，我住在大理",
        "OK, I moved to Bonn",
        "任务系统的端口是 8181",
        "Thanks, my name is Ada",
        "登录服务已经完成了",
        "I remember my first bike",
    ],
)
def test_what_says_something_is_admitted(text: str) -> None:
    assert admission.refusal(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("如果我住在大理，我就种花。", admission.HYPOTHETICAL),
        ("我住在哪里？", admission.QUESTION),
        ("听说小周搬到大理了", admission.QUOTED),
        ("帮我写一封信", admission.REQUEST),
        ("窗外有两只麻雀", admission.NOTHING_READ),
        ("Do I like figs?", admission.QUESTION),
        ("Maybe I like figs.", admission.HYPOTHETICAL),
        ("Translate this into French", admission.REQUEST),
        ("我的网银密码是 [redacted:password]", admission.SECRET),
    ],
)
def test_every_text_without_a_claim_has_a_reason(text: str, reason: str) -> None:
    found = extract(said(text))
    assert found.claims == []
    assert [(d.event_id, d.reason) for d in found.decisions] == [("e1", reason)]
    assert reason in admission.REASONS


def test_a_text_with_a_claim_has_no_decision() -> None:
    assert extract(said("我喜欢绿茶")).decisions == []


def test_what_was_said_and_comes_back_from_the_assistant_is_an_echo() -> None:
    before = [said("我在准备十月的铁人三项。")]
    again = said("用户在准备十月的铁人三项。", origin="assistant", role="assistant")
    assert [d.reason for d in extract(again, context=before).decisions] == [admission.ECHO]
    assert extract(again).claims != []
    assert not admission.is_echo(said("我在准备十月的铁人三项"), before)
    assert admission.is_echo(said("The user likes figs.", origin="tool"), [], recalled=["user likes figs"])


def test_a_secret_leaves_the_rest_of_the_text_readable() -> None:
    assert read("我的密码是 [redacted:password]，另外我住在大理。") == {("user", "lives_in", "大理", "+")}
