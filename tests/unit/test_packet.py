"""The context packet: budget, order, cuts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from taishi.ingest.instants import BEGINNING, FOREVER
from taishi.queries.packet import LONGEST, Line, estimated_tokens, excerpt, pack
from tests.support.read_side import at


def line(text: str, *, holds: bool = True, status: str = "current", start: int = BEGINNING, end: int = FOREVER, **more):
    return Line(text=text, status=status, holds=holds, valid_from=start, valid_to=end, **more)


def test_what_holds_stands_first_with_its_times_and_evidence():
    old = line("Lives in Oulu", holds=False, status="superseded", start=at("2020-02-03T00:00:00Z"),
               end=at("2024-05-06T00:00:00Z"), marks=("p0:3",))  # fmt: skip
    new = line("Lives in Espoo", start=at("2024-05-06T00:00:00Z"), marks=("p0:9", "p0:11"))
    assert pack([old, new], budget=500).text.split("\n") == [
        "- [since 2024-05-06] Lives in Espoo (p0:9, p0:11)",
        "- [superseded; 2020-02-03 → 2024-05-06] Lives in Oulu (p0:3)",
    ]


def test_a_budget_is_kept_and_told():
    packet = pack([line(f"第{i}条：今天把阳台的花都浇了一遍。") for i in range(50)], budget=100)
    assert packet.truncated
    assert 0 < packet.tokens <= 100
    assert estimated_tokens(packet.text) <= packet.tokens


def test_all_of_it_is_not_truncated():
    assert not pack([line("短句。")], budget=50).truncated


def test_a_later_short_line_may_fit_where_a_long_one_does_not():
    packet = pack([line("很长的一句话" * 60), line("茶")], budget=12)
    assert "茶" in packet.text


def test_a_long_memory_is_cut_at_sentences_around_the_match():
    filler = "这里说的是别的事情，和要找的东西没有关系。" * 40
    cut = excerpt(f"{filler}备用钥匙放在鞋柜第二层。{filler}", ("钥匙",), 120)
    assert "备用钥匙放在鞋柜第二层。" in cut
    assert cut.startswith("…")
    assert cut.endswith("…")
    assert len(cut) <= 120
    filler = "Nothing here. " * 60
    english = excerpt(f"{filler}The spare key is under the blue pot. {filler}", ("key",), 90)
    assert "The spare key is under the blue pot." in english


def test_one_endless_sentence_is_cut_around_the_word():
    cut = excerpt("啊" * 3000 + "钥匙在花盆下" + "哦" * 3000, ("钥匙",), 100)
    assert "钥匙在花盆下" in cut
    assert len(cut) <= 100


@given(st.text(max_size=400), st.integers(20, 200), st.lists(st.text(min_size=1, max_size=5), max_size=3))
def test_an_excerpt_is_never_longer_than_asked(text, size, words):
    assert len(excerpt(text, words, size)) <= size


@given(st.lists(st.text(min_size=1, max_size=300), max_size=8), st.integers(1, 200))
def test_a_packet_never_exceeds_its_budget_and_is_a_function_of_its_lines(texts, budget):
    lines = [line(t, marks=("p0:1",)) for t in texts]
    packet = pack(lines, budget=budget)
    assert packet.tokens <= budget
    assert packet == pack(lines, budget=budget)


def test_tokens_of_chinese_are_counted_by_character():
    assert estimated_tokens("今天很热") == 4
    assert estimated_tokens("warm") == 1
    assert estimated_tokens("internationalisation") == 5
    assert LONGEST > 0
