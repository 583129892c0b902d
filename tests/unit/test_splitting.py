"""Two questions in one."""

from __future__ import annotations

import pytest

from taishi.queries.splitting import questions_in, sides_in


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("我姐姐几岁？另外，我的自行车是什么颜色？", ("我姐姐几岁？", "我的自行车是什么颜色？")),
        ("Where is the ladder? And also, who lent it?", ("Where is the ladder?", "who lent it?")),
    ],
)
def test_each_is_asked_by_itself(text, parts):
    assert questions_in(text) == parts


@pytest.mark.parametrize(
    "text", ["我姐姐几岁？", "Where is the ladder? I need it.", "Really? Why?" + "x" * 400 + "?", "a? b?", "? ? ? ? ?"]
)
def test_one_question_or_something_besides_is_left_whole(text):
    assert questions_in(text) == ()


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        (
            "how many days passed between when i sowed the beans and peas and when the first pods were picked?",
            ("i sowed the beans and peas", "the first pods were picked"),
        ),
        ("how long was it between the audit of the mill and her reply?", ("the audit of the mill", "her reply")),
        ("how many weeks are there from the rehearsal until opening night?", ("the rehearsal", "opening night")),
        ("从签合同到交房隔了多久？", ("签合同", "交房")),
    ],
)  # fmt: skip
def test_each_of_two_times_between_which_it_is_asked_is_looked_for(text, sides):
    assert sides_in(text) == sides


@pytest.mark.parametrize(
    "text", ["what is the difference between oak and ash?", "how many days are in may?", "我从南京到西安坐什么车？"]
)
def test_other_questions_have_no_sides(text):
    assert sides_in(text) == ()
