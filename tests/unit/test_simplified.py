"""Traditional Chinese read through its simplified shadow: offsets, values in the speaker's own characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taishi.ingest.normal import normalise
from taishi.ingest.rules.shadow import shadow
from taishi.ingest.simplified import simplified
from tests.support.rules_cases import claims, extract, read, said, short


@given(st.text())
def test_length_is_kept_and_twice_is_once(text: str) -> None:
    assert len(shadow(text)) == len(simplified(text)) == len(text)
    assert simplified(simplified(text)) == simplified(text)


@given(st.text(alphabet="養貓隻說臺灣資料庫專案裡麼著軟體乾后發髮我在了的", max_size=12))
def test_any_mixture_keeps_its_offsets(text: str) -> None:
    assert len(shadow(text)) == len(text)


@pytest.mark.parametrize(
    ("traditional", "plain"),
    [
        ("我住在臺南。", "我住在台南。"),
        ("我對堅果過敏", "我对坚果过敏"),
        ("我不喜歡吃榴槤", "我不喜欢吃榴梿"),
        ("我養了一隻烏龜", "我养了一只乌龟"),
        ("我在貿易公司當會計", "我在贸易公司当会计"),
        ("我最喜歡的顏色是藍色", "我最喜欢的颜色是蓝色"),
        ("我會說閩南語和日語", "我会说闽南语和日语"),
        ("我姊姊叫林雅婷", "我姊姊叫林雅婷"),
        ("我不吃牛肉", "我不吃牛肉"),
        ("我每週三晚上打桌球", "我每周三晚上打桌球"),
        ("小陳調到銀杏專案了", "小陈调到银杏项目了"),
        ("我下週五要去日本出差", "我下周五要去日本出差"),
    ],
)
def test_traditional_and_simplified_say_the_same(traditional: str, plain: str) -> None:
    own, same = claims(traditional), claims(plain)
    assert [c.predicate for c in own] == [c.predicate for c in same]
    assert [(c.valid_from, c.negated) for c in own] == [(c.valid_from, c.negated) for c in same]
    for claim in own:
        assert claim.value in traditional or claim.value.isascii()
        assert claim.subject in (*traditional, "user") or claim.subject in traditional


def test_the_value_is_the_speakers_own_word() -> None:
    assert read("阿哲在北極星專案") == {("阿哲", "member_of", "北極星專案", "+")}
    assert read("我的貓叫麻糬") == {("user", "owns", "貓", "+")}
    [claim] = claims("我的貓叫麻糬")
    assert claim.qualifiers == {"name": "麻糬"}
    assert normalise(claim.value) == "猫"


def test_she_is_whom_the_traditional_words_before_spoke_of() -> None:
    first = said("小劉上週入職了華碩。")
    found = extract(said("她住在苗栗。"), context=[first]).claims
    assert [short(claim) for claim in found] == [("小劉", "lives_in", "苗栗", "+")]


def test_memory_in_traditional_that_is_fed_back_is_an_echo() -> None:
    before = said("我養了一隻刺蝟。")
    again = said("相關記憶：使用者養了一隻刺蝟。", origin="assistant", role="assistant")
    assert [d.reason for d in extract(again, context=[before]).decisions] == ["echo"]


@pytest.mark.parametrize(
    "text",
    [
        "你覺得我該養貓嗎？",
        "如果我搬到花蓮就好了",
        "他說他討厭下雨",
        "聽說小陳離職了",
        "謝謝你，辛苦了",
        "幫我寫一篇關於貓的文章",
        "我可能會換工作",
        "你喜歡吃什麼",
    ],
)
def test_what_is_not_stated_in_traditional_is_not_claimed(text: str) -> None:
    assert read(text) == set()
