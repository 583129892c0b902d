"""What goes on with the statement before: a change told in one breath, what is excepted, what came to an end; slips."""

from __future__ import annotations

import pytest

from taishi.ingest.instants import from_datetime
from tests.support.rules_cases import SAID_AT, claims, extract, read, said, short


@pytest.mark.parametrize(
    ("text", "was", "now"),
    [
        ("I used to work at Wexford, but now I'm at Tallow.", ("worked_at", "Wexford"), ("works_at", "Tallow")),
        ("I used to work at Wexford. Now I'm at Tallow.", ("worked_at", "Wexford"), ("works_at", "Tallow")),
        ("We used to live in Trento but we're in Udine now.", ("lived_in", "Trento"), ("lives_in", "Udine")),
        ("I used to live in Trento, now it's Udine.", ("lived_in", "Trento"), ("lives_in", "Udine")),
        ("I used to be a florist, now I'm a nurse.", ("had_role", "florist"), ("role", "nurse")),
        ("I was a junior analyst before.", ("had_role", "junior analyst"), None),
        ("I used to be with Wexford.", ("worked_at", "Wexford"), None),
        ("Before Tallow I worked at Wexford.", ("worked_at", "Wexford"), None),
        ("My favourite fruit used to be mango, but now it's plum.", ("preferred.fruit", "mango"), ("prefers.fruit", "plum")),
        ("我以前住扬州,现在在泉州。", ("lived_in", "扬州"), ("lives_in", "泉州")),
        ("我以前在青禾科技上班,现在是远山科技。", ("worked_at", "青禾科技"), ("works_at", "远山科技")),
        ("我最喜欢的水果以前是芒果,现在是李子。", ("preferred.fruit", "芒果"), ("prefers.fruit", "李子")),
    ],
)
def test_a_change_told_in_one_breath(text: str, was: tuple[str, str], now: tuple[str, str] | None) -> None:
    found = {(c.predicate, c.value): c for c in claims(text)}
    assert found.keys() == ({was} if now is None else {was, now})
    assert found[was].valid_to == from_datetime(SAID_AT)
    assert now is None or found[now].valid_to is None


@pytest.mark.parametrize(
    ("text", "denied", "told"),
    [
        ("I used to like marzipan.", ("likes", "marzipan"), None),
        ("I used to have a Saab, now I own a Volvo.", ("owns", "Saab"), ("owns", "Volvo")),
        ("I used to use Emacs, now it's Helix.", ("uses", "Emacs"), ("uses", "Helix")),
        ("我以前喜欢集邮。", ("likes", "集邮"), None),
        ("我以前开大众,现在换成了比亚迪。", ("owns", "大众"), ("owns", "比亚迪")),
    ],
)
def test_what_used_to_be_is_no_more(text: str, denied: tuple[str, str], told: tuple[str, str] | None) -> None:
    found = {(c.predicate, c.value): c.negated for c in claims(text)}
    assert found == {denied: True, **({} if told is None else {told: False})}


@pytest.mark.parametrize(
    "text", ["I used to like marzipan, and I still do.", "我以前喜欢集邮,现在还喜欢。", "I used to hate marzipan."]
)
def test_what_goes_on_is_not_denied(text: str) -> None:
    assert not claims(text)


def test_the_quote_of_what_is_over_goes_on_to_what_came_of_it() -> None:
    [claim] = claims("I used to smoke but I quit in 2020.")
    assert claim.negated and claim.quote is not None and claim.quote.text == "I used to smoke but I quit in 2020"


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("I speak Danish but not Finnish.", "Danish", "Finnish"),
        ("I eat lamb but not pork.", "lamb", "pork"),
        ("I like cider, just not perry.", "cider", "perry"),
        ("My aunt likes finches, not parrots.", "finches", "parrots"),
        ("I have a rabbit but not a hamster.", "rabbit", "hamster"),
        ("我喜欢桃子,不是李子。", "桃子", "李子"),
        ("我会说法语,但不会说德语。", "法语", "德语"),
    ],
)
def test_what_is_excepted_is_denied(text: str, yes: str, no: str) -> None:
    assert {(c.value, c.negated) for c in claims(text)} == {(yes, False), (no, True)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I work at Tallow but not on Fridays.", "Tallow"),
        ("I like cider, just not in the morning.", "cider"),
        ("I used to work at Wexford but now I'm at the dentist.", "Wexford"),
        ("I used to work at Wexford but now I'm in love.", "Wexford"),
    ],
)
def test_other_words_go_on_with_nothing(text: str, value: str) -> None:
    assert [c.value for c in claims(text)] == [value]


@pytest.mark.parametrize(
    "text", ["I started learning Danish in 2021 but gave up.", "我从去年开始学丹麦语,后来放弃了。"]
)
def test_what_was_given_up_is_told_and_denied(text: str) -> None:
    assert [c.negated for c in claims(text)] == [False, True]
    assert len({c.value for c in claims(text)}) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I left Wexford for Tallow.", {("user", "works_at", "Tallow", "+"), ("user", "worked_at", "Wexford", "+")}),
        ("I work at Tallow and quit smoking.", {("user", "works_at", "Tallow", "+"), ("user", "habit", "smoking", "-")}),
        ("I sold my Saab and bought a Volvo.", {("user", "owns", "Saab", "-"), ("user", "owns", "Volvo", "+")}),
        ("I've been a florist since 2015.", {("user", "role", "florist", "+")}),
        ("Mum lives in Udine.", {("my mum", "lives_in", "Udine", "+")}),
        ("Dad's birthday is May 3.", {("my dad", "birthday", "May 3", "+")}),
        ("我跳槽去了远山。", {("user", "works_at", "远山", "+")}),
        ("外婆住在泉州。", {("我外婆", "lives_in", "泉州", "+")}),
        ("我外婆今年八十了。", {("我外婆", "age", "八十", "+")}),
        ("她在上海。", set()),
    ],
)
def test_everyday_ways_to_say_it(text: str, expected: set[tuple[str, str, str, str]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "subject", "value"),
    [
        ("My parents live in Trento. They moved to Udine in February.", "my parents", "Udine"),
        ("我爸妈住在扬州。他们今年二月搬到了泉州。", "我爸妈", "泉州"),
    ],
)
def test_they_are_several(text: str, subject: str, value: str) -> None:
    assert (subject, "lives_in", value, "+") in read(text)


def test_they_are_not_one() -> None:
    assert {c.value for c in claims("My brother lives in Trento. They moved to Udine.")} == {"Trento"}


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("我妹妹叫小满。", "不对,我妹妹叫小霜。", {("user", "relative", "小霜", "+"), ("user", "relative", "小满", "-")}),
        ("My sister's name is Bea.", "No, my sister's name is Fern.",
         {("user", "relative", "Fern", "+"), ("user", "relative", "Bea", "-")}),
        ("My sister's name is Bea.", "My sister's name is Fern.", {("user", "relative", "Fern", "+")}),
        ("Hello there.", "I live in Trento. Oops, I mean Udine.", {("user", "lives_in", "Udine", "+")}),
        ("你好", "我的生日是五月四号，说错了，是五月十四号。", {("user", "birthday", "五月十四号", "+")}),
    ],
)  # fmt: skip
def test_slips_are_set_right(before: str, text: str, expected: set[tuple[str, str, str, str]]) -> None:
    found = extract(said(text), context=[said(before)]).claims
    assert {short(claim) for claim in found} == expected
