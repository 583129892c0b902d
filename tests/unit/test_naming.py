"""Which system a question names, and which words speak of it."""

from __future__ import annotations

import pytest

from taishi.ingest.normal import normalise
from taishi.queries.naming import named_system, speaks_of
from tests.support.history import History
from tests.support.read_side import ReadSide, at

JAN = at("2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What version is kiln-7 on now?", "kiln-7"),
        ("What is the current version of the glass oven?", "glass oven"),
        ("Which version was the glass oven on 2026-06-02?", "glass oven"),
        ("What is the status of the night relay service now?", "night relay service"),
        ("What is kiln-7's current version?", "kiln-7"),
        ("What version of Deno am I using?", "deno"),
        ("Which release is auth_v2 running?", "auth_v2"),
        ("kiln-7 的版本现在是什么？", "kiln-7"),
        ("2026-06-02 那天玻璃窑的版本是什么？", "玻璃窑"),
        ("玻璃窑现在是什么版本？", "玻璃窑"),
        ("玻璃窑的夜班中继现在的状态是什么？", "玻璃窑的夜班中继"),
        ("What version am I on?", None),
        ("What is the status now?", None),
        ("我的版本是什么？", None),
        ("现在的版本是什么", None),
        ("gateway port", None),
    ],
)
def test_the_system_that_a_question_names(question, name):
    assert named_system(normalise(question)) == name


@pytest.mark.parametrize(
    ("text", "name", "speaks"),
    [
        ("the glass oven is on v1", "glass oven", True),
        ("glass ovens are on v1", "glass oven", True),
        ("the steel oven is on v1", "glass oven", False),
        ("kiln-7's worker is idle", "kiln-7's worker", True),
        ("玻璃窑 当前版本是 v1", "玻璃窑", True),
        ("玻璃窑 实例 a-1 当前版本是 v1", "玻璃窑 的 a-1", True),
        ("玻璃炉当前版本是 v1", "玻璃窑", False),
        ("kiln-70 当前版本是 v1", "kiln-7", False),
    ],
)
def test_words_that_speak_of_it(text, name, speaks):
    assert speaks_of(text, name) is speaks


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("What version is the steel oven on now?", "We plan to upgrade the steel oven to v2."),
        ("钢窑的版本现在是什么？", "计划把钢窑升级到 v2"),
    ],
)
def test_another_systems_version_is_no_answer(tmp_path, question, unknown):
    h = History()
    for name, text in (("glass oven", "The glass oven is on v1.0."), ("玻璃窑", "玻璃窑当前版本是 v1.0")):
        h.claim(name, "version", "v1.0", said=h.say(text), valid_from=JAN)
    plan = h.say(unknown)
    h.claim("user", "plans", unknown, said=plan, valid_from=JAN, modality="plan")
    reply = ReadSide(tmp_path, h.events).ask(question)
    assert (reply["answerability"], reply["items"]) == ("no_evidence", [])
