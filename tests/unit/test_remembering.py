"""What is worked out of a text is kept without the text."""

from __future__ import annotations

import gc

from taishi.queries.remembering import by_digest


def test_each_text_is_worked_on_once_until_others_push_it_out():
    worked: list[str] = []

    @by_digest(2)
    def length(text: str) -> int:
        worked.append(text)
        return len(text)

    assert [length(text) for text in ("a", "bb", "a", "ccc", "a", "bb")] == [1, 2, 1, 3, 1, 2]
    assert worked == ["a", "bb", "ccc", "bb"]


def test_the_text_is_not_kept():
    @by_digest(8)
    def length(text: str) -> int:
        return len(text)

    text = "".join(["a secret ", "of ", "mine"])
    assert length(text) == len(text)
    assert not any(text is held for found in gc.get_referrers(text) if isinstance(found, dict) for held in found)
