"""Two questions in one."""

from __future__ import annotations

import pytest

from taishi.queries.splitting import questions_in


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
