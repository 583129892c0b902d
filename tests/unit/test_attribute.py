"""What is asked of something."""

from __future__ import annotations

from datetime import UTC

import pytest

from taishi.queries.attribute import Attribute, attribute
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
