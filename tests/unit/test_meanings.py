"""Words that mean the same, in whatever language: one slot and one value, though claims keep their own words."""

from __future__ import annotations

import pytest

from taishi.ingest.claims import Claim
from taishi.ingest.errors import ConfigurationError
from taishi.ingest.registry import default_registry, parse_registry
from taishi.ingest.slots import Fingerprints, bind, slot_parts
from tests.support.rules_cases import claims

FINGERPRINTS = Fingerprints(b"k")


def facts(text: str) -> tuple[str, str]:
    """(slot, value) of the one claim of a sentence."""
    [claim] = claims(text)
    bound = bind(
        claim, namespace="n", evidence=[text], known_from=0, strength=40, registry=default_registry(),
        fingerprints=FINGERPRINTS,
    )  # fmt: skip
    return bound.slot, bound.value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I'm a vegetarian.", "我吃素"),
        ("I'm allergic to peanuts.", "我对花生过敏"),
        ("I speak French.", "我会说法语"),
        ("I like coffee.", "我喜欢咖啡"),
        ("I'm divorced.", "我离婚了"),
        ("I use dark mode.", "我用深色模式"),
        ("I love swimming.", "我热爱游泳"),
        ("I don't eat beef.", "我不吃牛肉"),
        ("geo-7 is unreachable.", "geo-7 现在不可达"),
        ("I can't stand cilantro.", "我讨厌香菜"),
    ],
)
def test_one_meaning_in_two_languages_is_one_value_of_one_slot(one, other):
    assert facts(one) == facts(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My manager is Sunniva.", "My boss is Ruben."),
        ("My supervisor is Sunniva.", "我领导是薛平"),
        ("我老板是薛平", "我上司是邵军"),
        ("我们主管是薛平", "我的新领导是邵军"),
        ("My husband is Ruben.", "我老公叫邵军"),
        ("My dentist is Dr. Abara.", "我的牙医叫白杨"),
        ("我女朋友叫童谣", "My girlfriend is Astrid."),
        ("My landlord is Paolo.", "我房东叫毛毅"),
        ("我老婆叫温岚", "我妻子叫秦岚"),
        ("My coach is Paolo.", "My trainer is Kwame."),
    ],
)
def test_whom_one_has_one_of_has_one_slot_under_all_words_for_it(one, other):
    assert facts(one)[0] == facts(other)[0]
    assert facts(one)[1] != facts(other)[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My husband is Ruben.", "My boss is Ruben."), ("I like coffee.", "I like tea."), ("我吃素", "我吃清真"),
        ("I'm a vegan.", "I'm a vegetarian."), ("I'm single.", "我结婚了"),
    ],
)
def test_what_means_something_else_stays_apart(one, other):
    assert facts(one) != facts(other)


def test_a_name_of_another_language_does_not_take_the_place_of_the_name():
    registry = default_registry()
    [own], [english] = claims("我叫邵军"), claims("我的英文名是 Felix")
    assert slot_parts("n", own, registry) != slot_parts("n", english, registry)


def test_tables_are_data_and_one_that_is_not_there_is_named():
    text = '[meanings]\npets = [["dog", "狗"]]\n[predicates.owns]\nsame = { value = ["pets"] }'
    registry = parse_registry(text)
    dog, too = (Claim(subject="user", predicate="owns", value=value) for value in ("Dog", "狗。"))
    assert slot_parts("n", dog, registry) == slot_parts("n", too, registry)
    with pytest.raises(ConfigurationError, match="owns"):
        parse_registry(text.replace('["pets"]', '["pet"]'))
