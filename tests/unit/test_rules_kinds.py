"""Kinds of sentences, ten and more of each, and what holds of a kind as a whole: from when, in which slot, whose words."""

from __future__ import annotations

from collections import Counter

import pytest

from taishi.ingest.instants import render
from taishi.ingest.registry import default_registry
from taishi.ingest.rules.clauses import sentences
from taishi.ingest.slots import slot_parts
from tests.support.rules_cases import claims, extract, lines, read, said, score, short


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_kind_is_read_as_labelled(language: str) -> None:
    rows = lines(f"kinds_{language}", "kinds")
    few = {kind: n for kind, n in Counter(str(row["kind"]) for row in rows).items() if n < 10}
    _, odd = score(f"kinds_{language}", "kinds")
    assert odd == []
    assert few == {}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_lines_written_after_the_rules_are_read_well(language: str) -> None:
    """First scored as they stand: zh .85/.85, en 1/1; what was wrong of a kind was mended after."""
    found, odd = score(f"late_{language}", "late")
    assert found.precision >= 0.95, odd
    assert found.recall >= 0.80, odd


def test_lines_near_the_rows_that_state_nothing_give_no_claim() -> None:
    rows = lines("noise", "fresh")
    assert len(rows) >= 60
    assert {str(row["text"]): read(str(row["text"])) for row in rows if read(str(row["text"]))} == {}


@pytest.mark.parametrize(
    ("text", "value", "begins"),
    [
        ("2025年4月9日我收养了一只柯基", "柯基", "2025-04-08T16:00:00Z"),
        ("我们上个月领养了两只兔子", "兔子", "2026-06-30T16:00:00Z"),
        ("去年我買了一輛摩托車", "摩托車", "2024-12-31T16:00:00Z"),
        ("We adopted a beagle three weeks ago.", "beagle", "2026-07-10T16:00:00Z"),
        ("I got a tortoise in March.", "tortoise", "2026-02-28T16:00:00Z"),
        ("I bought a canoe last year.", "canoe", "2024-12-31T16:00:00Z"),
    ],
)
def test_what_was_acquired_is_held_from_then_on(text: str, value: str, begins: str) -> None:
    [claim] = claims(text)
    assert (claim.predicate, claim.value, claim.valid_to) == ("owns", value, None)
    assert render(claim.valid_from) == render(claim.occurs_from) == begins
    assert claim.to_inferred


def _slot(text: str) -> tuple[str, ...]:
    [claim] = claims(text)
    return slot_parts("n", claim, default_registry())


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("我每天早上跑步", "我不跑步了"),
        ("我天天喝可乐", "我把可乐戒了"),
        ("I go to the gym every day.", "I no longer go to the gym."),
        ("I run every morning.", "I stopped running."),
        ("I drink two cups of coffee every day.", "I quit coffee."),
        ("我一直用五笔输入法", "手疼，暂时改用语音输入法"),
        ("My address is 3 Quay Street.", "My new address is 40 Harbour Road."),
        ("投稿的截止日期是7月1号", "投稿的截止日期推迟到7月9号了"),
        ("The team lunch was moved to Friday.", "The team lunch was moved to Monday."),
        ("My longest run is 18 km.", "My longest run is now 21 km."),
        ("我喜欢喝豆汁", "豆汁我现在不爱喝了"),
        ("我的貓叫黑糖", "我家的貓走丟了"),
        ("From now on reply in Danish.", "From now on reply in Dutch."),
    ],
)
def test_the_later_words_meet_the_earlier_in_one_slot(earlier: str, later: str) -> None:
    if "黑糖" in earlier:
        assert read(later) == {("user", "owns", "貓", "-")}
    else:
        assert _slot(earlier) == _slot(later)


def test_for_the_time_being_is_temporary_and_this_year_has_an_end() -> None:
    [now] = claims("手腕疼，暂时改用语音输入法")
    assert now.temporary
    [year] = claims("今年我不买新鞋")
    assert (short(year), render(year.valid_to)) == (("user", "plans", "买新鞋", "-"), "2026-12-31T16:00:00Z")
    assert read("我不买新鞋") == set()


def test_an_object_that_is_left_out_is_the_one_before() -> None:
    before = said("我喜欢跳舞。")
    assert [short(c) for c in extract(said("现在不喜欢了"), context=[before]).claims] == [("user", "likes", "跳舞", "-")]
    assert extract(said("现在不喜欢了")).claims == []
    assert extract(said("现在不喜欢了"), context=[said("我喜欢跳舞。", speaker="阿珍")]).claims == []
    english = said("I love ceviche.")
    found = extract(said("I don't like it anymore."), context=[english]).claims
    assert [short(c) for c in found] == [("user", "likes", "ceviche", "-")]


def test_an_event_told_beside_makes_what_was_before_it_past() -> None:
    [was] = claims("搬家之前我一直住在通辽")
    assert (was.predicate, was.value) == ("lived_in", "通辽")
    assert was.valid_to is not None
    [since] = claims("退休以后我住在北海")
    assert (since.predicate, since.valid_to) == ("lives_in", None)


@pytest.mark.parametrize("origin", ["assistant", "external", "tool"])
@pytest.mark.parametrize("text", ["以后回答请简短一点", "Please always answer in Latin.", "Call me Zed from now on."])
def test_only_the_user_has_wishes(text: str, origin: str) -> None:
    assert read(text, origin=origin) == set()
    assert read(text) != set()


def test_two_things_in_a_row_are_two_clauses() -> None:
    [sentence] = sentences("我不吃鸭血也不吃猪肝")
    assert [clause.text for clause in sentence.clauses] == ["我不吃鸭血", "也不吃猪肝"]
    [sentence] = sentences("我也不吃猪肝")
    assert len(sentence.clauses) == 1


@pytest.mark.parametrize("language", ["zh", "en"])
def test_everyday_lines_that_were_put_aside_are_read_well(language: str) -> None:
    total, odd = score(f"aside_{language}", "aside")
    assert total.precision >= 0.95, odd
    assert total.recall >= 0.90, odd
